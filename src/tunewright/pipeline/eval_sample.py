"""A sample for periodic evaluation: is it fair, is it large enough, has it been used too often?

Evaluating on everything is slow, so periodic evaluations take a fixed sample (playbook, "Choosing a
sample for periodic evaluation"). It must show what the full set shows (`skew`), be large enough to
see the improvements one cares for (`resolution`), and outlive the choices made on it (`reuse`).

    sample = stratified(labels, size=2_000, seed=seeds.split)
    valid = examples.take(data, sample.ids)                      # the same ids at every evaluation
    full = evaluate(model, data, metrics, keep_values=True)      # such as at three checkpoints
    print(skew(sample, full.values["valid_loss"], labels))
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tunewright.errors import PipelineError

_MEAN_Z = 2.58  # |z| beyond it: 1 % of fair samples
_OTHER_P = 0.001  # class mix and score distribution: rarer, because they are looked at beside it


@dataclass(frozen=True, eq=False)
class EvalSample:
    """A fixed sample of the evaluation data."""

    ids: Tensor  # ascending, without repetition
    population: int  # examples in the full set
    stratified: bool  # whether each class has its share

    @property
    def size(self) -> int:
        """The number of examples in the sample."""
        return len(self.ids)

    def __post_init__(self) -> None:
        inside = len(self.ids) and 0 <= int(self.ids.min()) <= int(self.ids.max()) < self.population
        if not inside or len(torch.unique(self.ids)) != len(self.ids):
            raise PipelineError(
                "evaluation.bad_sample_ids", population=self.population, last=self.population - 1
            )


def stratified(labels: Tensor, size: int, seed: int) -> EvalSample:
    """A random sample in which every class has its share, to within one example.

    >>> labels = torch.tensor([0] * 90 + [1] * 10)
    >>> sample = stratified(labels, size=20, seed=0)
    >>> torch.bincount(labels[sample.ids]).tolist()
    [18, 2]
    """
    if not 1 <= size <= len(labels):
        raise PipelineError("evaluation.bad_sample_size", size=size, population=len(labels))
    generator = torch.Generator().manual_seed(seed)
    labels = labels.cpu()
    classes, totals = torch.unique(labels, return_counts=True)
    shares = totals.double() * size / len(labels)
    taken = shares.floor().long()
    # Largest remainders; equal ones in random order, or the first classes would always gain.
    draw = torch.rand(len(classes), generator=generator, dtype=torch.float64)
    by_remainder = torch.argsort((shares - taken).round(decimals=9) + 1e-9 * draw, descending=True)
    taken[by_remainder[: size - int(taken.sum())]] += 1
    parts = []
    for label, wanted in zip(classes, taken.tolist(), strict=True):
        members = (labels == label).nonzero().flatten()
        parts.append(members[torch.randperm(len(members), generator=generator)[:wanted]])
    return EvalSample(torch.cat(parts).sort().values, len(labels), stratified=True)


@dataclass(frozen=True)
class Skew:
    """Whether a sample shows what the full set shows, at one checkpoint."""

    sample_mean: float
    full_mean: float
    z: float  # their difference in standard errors of a fair sample
    class_mix_p: float | None  # chi-square of the sample's classes; None without labels
    score_p: float  # Kolmogorov-Smirnov, sample against the rest

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the sample is not to be trusted; empty when it is."""
        reasons = []
        if abs(self.z) > _MEAN_Z:
            reasons.append(
                f"its mean is {self.sample_mean:.4g}, the full set's {self.full_mean:.4g} "
                f"(z = {self.z:.1f})"
            )
        if self.class_mix_p is not None and self.class_mix_p < _OTHER_P:
            reasons.append(f"its classes are mixed otherwise (p = {self.class_mix_p:.1g})")
        if self.score_p < _OTHER_P:
            reasons.append(f"its values are distributed otherwise (p = {self.score_p:.1g})")
        return tuple(reasons)

    @property
    def skewed(self) -> bool:
        """Whether any of the three comparisons speaks."""
        return bool(self.reasons)

    def __str__(self) -> str:
        if not self.skewed:
            return f"the sample shows the full set: mean {self.sample_mean:.4g}, z = {self.z:.1f}"
        return f"the sample is skewed: {'; '.join(self.reasons)}. Draw it with stratified()."


def skew(sample: EvalSample, values: Tensor, labels: Tensor | None = None) -> Skew:
    """Compare a sample with the full set, from one value per example of the full set.

    Do it at three checkpoints: a fair sample is called skewed in about 1 % of them. The standard
    error is that of drawing without replacement, so a sample of everything has none. A stratified
    sample is compared within its classes: its error is smaller, and with the plain formula a skew
    of the same size would go unseen.
    """
    values = values.detach().double().flatten().cpu()
    if len(values) != sample.population or (labels is not None and len(labels) != len(values)):
        raise PipelineError(
            "evaluation.value_count",
            values=len(values),
            labels="" if labels is None else f" and {len(labels)} labels",
            population=sample.population,
        )
    if not bool(values.isfinite().all()):
        raise PipelineError("evaluation.values_not_finite")
    inside = torch.zeros(len(values), dtype=torch.bool)
    inside[sample.ids] = True
    strata = torch.zeros(len(values), dtype=torch.long)
    if sample.stratified:
        if labels is None:
            raise PipelineError("evaluation.no_labels")
        strata = torch.unique(labels.cpu(), return_inverse=True)[1]
    difference, error = _difference(values, inside, strata)
    z = difference / error if error > 0 else 0.0 if abs(difference) < 1e-12 else math.inf
    return Skew(
        sample_mean=float(values[inside].mean()),
        full_mean=float(values.mean()),
        z=z,
        class_mix_p=None if labels is None else _class_mix_p(labels.cpu(), inside),
        score_p=_score_p(values[inside].numpy(), values[~inside].numpy()),
    )


def _difference(values: Tensor, inside: Tensor, strata: Tensor) -> tuple[float, float]:
    """Sample mean minus full mean, class by class, and the standard error of a fair draw."""
    difference = variance = 0.0
    for stratum in range(int(strata.max()) + 1):
        here = values[strata == stratum]
        drawn = values[(strata == stratum) & inside]
        if not len(drawn):  # a class too small for the sample does not measure its mean
            continue
        share = len(here) / len(values)
        difference += share * float(drawn.mean() - here.mean())
        spread = float(here.var(correction=1)) if len(here) > 1 else 0.0
        variance += share**2 * spread / len(drawn) * (1 - len(drawn) / len(here))
    return difference, math.sqrt(variance)


def _class_mix_p(labels: Tensor, inside: Tensor) -> float:
    from scipy import stats

    drawn_share = float(inside.double().mean())
    classes = torch.unique(labels, return_inverse=True)[1]
    totals = torch.bincount(classes).double()
    counts = torch.bincount(classes[inside], minlength=len(totals)).double()
    # Classes with fewer than 5 expected examples go together: alone they break the approximation.
    small = totals * drawn_share < 5
    totals = torch.cat([totals[~small], totals[small].sum()[None]])
    counts = torch.cat([counts[~small], counts[small].sum()[None]])
    counts, expected = counts[totals > 0], totals[totals > 0] * drawn_share
    if len(expected) < 2 or drawn_share == 1:
        return 1.0
    # Drawing without replacement varies less than the multinomial by this factor.
    statistic = float(((counts - expected).square() / expected).sum()) / (1 - drawn_share)
    return float(stats.chi2.sf(statistic, len(expected) - 1))


def _score_p(inside: np.ndarray[Any, Any], outside: np.ndarray[Any, Any]) -> float:
    from scipy import stats

    if not len(outside):
        return 1.0
    return float(stats.ks_2samp(inside, outside, method="asymp").pvalue)


@dataclass(frozen=True)
class Resolution:
    """The smallest difference between two models that a sample can show."""

    size: int
    discordance: float  # mean squared difference per example; for 0/1 values the share that changed
    smallest_difference: float

    def enough_for(self, effect: float) -> bool:
        """Whether a difference of this size (an effect of interest, the trial sd) can be seen."""
        return self.smallest_difference <= abs(effect)

    def size_for(self, effect: float) -> int:
        """The sample size at which a difference of this size would be seen.

        >>> resolution(torch.zeros(100), (torch.arange(100) < 10).float()).size_for(0.01)
        3842
        """
        return math.ceil(1.96**2 * self.discordance / effect**2)


def resolution(before: Tensor, after: Tensor) -> Resolution:
    """What a sample can resolve, from one value per example at two consecutive checkpoints.

    Both checkpoints saw the same examples, so only the examples that changed make noise: the
    smallest difference at the 5 % level is 1.96 sqrt(discordance / size). A true difference of just
    this size is seen half of the time.

    >>> was, now = torch.zeros(400), (torch.arange(400) < 40).float()
    >>> f"{resolution(was, now).smallest_difference:.4f}"
    '0.0310'
    """
    if before.shape != after.shape or not before.numel():
        raise PipelineError(
            "evaluation.values_not_paired", shape=tuple(before.shape), shape_2=tuple(after.shape)
        )
    discordance = float((after.double() - before.double()).square().mean())
    size = before.numel()
    return Resolution(size, discordance, 1.96 * math.sqrt(discordance / size))
