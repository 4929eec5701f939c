"""Which hyperparameters matter, which act together, and which can be fixed?

*Importance*: how differently the best quarter of the trials is spread along an axis from all of
them (the Pearson divergence of PED-ANOVA, Watanabe et al. 2023), with the chance of as much by
permutation and an interval by bootstrap. It asks what decides about being good, not what moves the
objective somewhere in the bad part of the space, and needs no model. *Interactions*: the
product of two positions beyond an additive quadratic fit of the objective's normal scores.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from tunewright.checks.finding import Finding, said_once
from tunewright.checks.noise import Floats
from tunewright.checks.positions import Axis, Settled, axes, settled
from tunewright.design.space import Choice
from tunewright.record.results import Results

SECTION = "Extracting insight from experimental results"
FEWEST = 12  # feasible trials
FEWEST_PER_TERM = 2  # feasible trials for each term of the fit, to look for interactions
LARGEST = 2000  # trials: more change nothing but the work
GRID, DRAWS, RESAMPLES = 40, 999, 200
LEVEL = 0.05  # of false discoveries among those said to matter
UNSEEN = 0.2  # a p above it: no sign of an effect
MOST_AXES = 60  # hyperparameters looked at for interactions


@dataclass(frozen=True)
class Importance:
    """How much one hyperparameter decides about being among the best quarter."""

    name: str
    divergence: float
    share: float  # of the sum over all hyperparameters
    interval: tuple[float, float]  # 90 % of the share
    p: float
    matters: bool
    best_quarter: tuple[float, float] | None  # 10 to 90 % of their positions; None without order


@dataclass(frozen=True)
class Interaction:
    """Two hyperparameters whose product says more than each alone."""

    names: tuple[str, str]
    t: float
    p: float


def importances(lines: list[Axis]) -> list[Importance]:
    """The importance of each axis, from feasible trials in which all of them are active."""
    losses = lines[0].losses
    feasible = np.flatnonzero(np.isfinite(losses))[:LARGEST]
    y = losses[feasible]
    count, k = len(y), max(4, len(y) // 4)
    top = np.argsort(y, kind="stable")[:k]
    kernels = [_kernel(axis, axis.units[feasible]) for axis in lines]
    random = np.random.default_rng([0x5E45, count])
    picked = np.argsort(random.random((DRAWS, count)), axis=1)[:, :k]
    again = random.integers(0, count, (RESAMPLES, count))
    seen = np.array([_divergences(kernel, top[None])[0] for kernel in kernels])
    p = np.array(
        [
            (1 + (_divergences(kernel, picked) >= own - 1e-12).sum()) / (DRAWS + 1)
            for kernel, own in zip(kernels, seen, strict=True)
        ]
    )
    resampled = np.stack([_resampled(kernel, y, again, k) for kernel in kernels], axis=1)
    total = np.maximum(resampled.sum(axis=1, keepdims=True), 1e-12)
    low, high = np.quantile(resampled / total, [0.05, 0.95], axis=0)
    shares = seen / max(float(seen.sum()), 1e-12)
    real = discoveries(p)
    return [
        Importance(
            axis.name,
            float(seen[row]),
            float(shares[row]),
            (float(min(low[row], shares[row])), float(max(high[row], shares[row]))),
            float(p[row]),
            bool(real[row]),
            _where(axis, axis.units[feasible][top]),
        )
        for row, axis in enumerate(lines)
    ]


def interactions(lines: list[Axis]) -> list[Interaction] | None:
    """The pairs that act together; None when there are too few trials to look."""
    from scipy.special import ndtri, stdtr

    ordered = [a for a in lines if not _unordered(a)][:MOST_AXES]
    feasible = np.flatnonzero(np.isfinite(lines[0].losses))[:LARGEST]
    terms = 1 + 2 * len(ordered)
    if len(ordered) < 2 or len(feasible) < FEWEST_PER_TERM * terms + 2:
        return None
    ranks = lines[0].losses[feasible].argsort(kind="stable").argsort()
    scores = np.asarray(ndtri((ranks + 0.625) / (len(ranks) + 0.25)))
    centred = [a.units[feasible] - a.units[feasible].mean() for a in ordered]
    columns = [np.ones(len(feasible)), *centred, *(u * u for u in centred)]
    basis, _ = np.linalg.qr(np.stack(columns, axis=1))
    rest = scores - basis @ (basis.T @ scores)
    freedom = len(feasible) - terms - 1
    found = []
    for one, other in itertools.combinations(range(len(ordered)), 2):
        product = centred[one] * centred[other]
        product = product - basis @ (basis.T @ product)
        size = float(product @ product)
        if size < 1e-12:
            continue
        slope = float(product @ rest) / size
        left = float(((rest - slope * product) ** 2).sum()) / freedom
        t = slope / np.sqrt(left / size) if left > 0 else 0.0
        p = 2 * float(stdtr(freedom, -abs(t)))
        found.append(Interaction((ordered[one].name, ordered[other].name), float(t), p))
    real = discoveries(np.array([one.p for one in found]))
    kept = [one for one, is_real in zip(found, real, strict=True) if is_real]
    return sorted(kept, key=lambda one: one.p)


def discoveries(p: Floats) -> np.ndarray:
    """Which of several tests speak, at a false discovery rate of 5 % (Benjamini-Hochberg).

    >>> discoveries(np.array([0.001, 0.2, 0.02])).tolist()
    [True, False, True]
    """
    order = np.argsort(p)
    below = p[order] <= LEVEL * np.arange(1, len(p) + 1) / max(len(p), 1)
    last = int(np.flatnonzero(below).max(initial=-1))
    real = np.zeros(len(p), dtype=bool)
    real[order[: last + 1]] = True
    return real


def sensitivity(results: Results) -> list[Finding]:
    """Ask each study which of its hyperparameters decide about a good result."""
    findings = [_ask(results, own) for own in settled(results)]
    return said_once(findings, results.round.name)


def _ask(results: Results, study: Settled) -> Finding:
    about, name = study.study.label, results.round.name
    # conditional ones are active in some trials only, and cannot be weighed against the others
    lines = [a for a in axes(results, study) if len(a.trials) == len(study.trials) and _varies(a)]
    feasible = int(lines[0].feasible.sum()) if lines else 0
    if not lines:
        says = "no hyperparameter was searched in all of its trials"
        return Finding("sensitivity", about, "cannot_judge", says, {}, (), SECTION)
    if feasible < FEWEST:
        says = f"{feasible} feasible trials; this question needs {FEWEST}"
        wanted = max(16, 2 * results.round.trials_per_study)
        more = (f"tunewright run {name} --trials {wanted}",)
        return Finding("sensitivity", about, "cannot_judge", says, {}, more, SECTION)
    found = sorted(importances(lines), key=lambda one: -one.share)
    pairs = interactions(lines)
    evidence: dict[str, Any] = {
        "feasible": feasible,
        "importances": [vars(one) for one in found],
        "interactions": None if pairs is None else [vars(pair) for pair in pairs],
    }
    matter = [one for one in found if one.matters]
    unseen = [one.name for one in found if one.p > UNSEEN]
    if not matter:
        says = f"none of {len(found)} hyperparameters is seen to matter in {feasible} trials"
    else:
        shown = ", ".join(
            f"{one.name} ({one.share:.0%}; {one.interval[0]:.0%} to {one.interval[1]:.0%})"
            for one in matter[:4]
        )
        says = f"what decides: {shown}"
    if pairs:
        says += f"; {pairs[0].names[0]} and {pairs[0].names[1]} act together"
    advice: tuple[str, ...] = ()
    if unseen and matter:
        says += f"; no sign of {', '.join(unseen[:4])}"
        advice = (f"candidates to fix in the next round: {', '.join(unseen[:4])}",)
    return Finding("sensitivity", about, "ok", says, evidence, advice, SECTION)


def _varies(axis: Axis) -> bool:
    return len(axis.units) > 0 and float(np.ptp(axis.units)) > 0


def _unordered(axis: Axis) -> bool:
    searched = axis.hyperparameter.range
    return isinstance(searched, Choice) and not searched.ordered


def _kernel(axis: Axis, units: Floats) -> Floats:
    """How much each trial counts at each place of the axis, relative to all trials there."""
    if isinstance(axis.hyperparameter.range, Choice):
        values = np.unique(units)
        weights = (units[:, None] == values[None]).astype(float)
    else:
        grid = (np.arange(GRID) + 0.5) / GRID
        width = 0.9 * max(float(units.std()), 0.05) * max(len(units), 8) ** -0.2
        distance = (units[:, None] - grid[None]) / width
        weights = np.exp(-0.5 * distance**2)
        weights /= weights.sum(axis=1, keepdims=True)
    everywhere = weights.mean(axis=0)
    return np.asarray(weights / np.sqrt(np.maximum(everywhere, 1e-9)))


def _divergences(kernel: Floats, picked: np.ndarray) -> Floats:
    """The Pearson divergence of each set of picked trials from all of them."""
    chosen = np.zeros((len(picked), len(kernel)))
    np.put_along_axis(chosen, picked, 1.0 / picked.shape[1], axis=1)
    difference = (chosen - 1.0 / len(kernel)) @ kernel
    return np.asarray((difference**2).sum(axis=1))


def _resampled(kernel: Floats, y: Floats, again: np.ndarray, k: int) -> Floats:
    """The divergence in each resample of the trials."""
    found = np.empty(len(again))
    for row, rows in enumerate(again):
        best = rows[np.argsort(y[rows], kind="stable")[:k]]
        difference = kernel[best].mean(axis=0) - kernel[rows].mean(axis=0)
        found[row] = (difference**2).sum()
    return found


def _where(axis: Axis, units: Floats) -> tuple[float, float] | None:
    if _unordered(axis):
        return None
    low, high = np.quantile(units, [0.1, 0.9])
    return float(low), float(high)
