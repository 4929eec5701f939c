"""Where do trials diverge? One threshold that separates the infeasible from the feasible.

Every log-scaled hyperparameter is a candidate, in decades; so is learning_rate / (1 - momentum),
the effective rate, and then products and ratios of pairs. The statistic is the largest rank
separation (AUC) over all candidates, its chance found by permuting who is infeasible.
16 trials show that the learning rate matters, 30 to 50 that it is the ratio, 10 nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tunewright.checks.positions import StudyTrials
from tunewright.design.conditions import Hyperparameter
from tunewright.design.names import Meaning
from tunewright.design.ranges import Value, as_number
from tunewright.stats.noise import Floats
from tunewright.store.trial import Trial

_FEWEST = 3  # of each kind
_DRAWS = 999  # with 299 four of sixteen, fully separated, did not differ from chance
P = 0.01
_PURITY, _RECALL = 0.85, 0.7
_SAVED = 2  # errors a pair must save to be named in place of a single hyperparameter
LARGEST = 400  # trials: the first so many of a sequence cover the space well enough

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Feature:
    """A quantity that may decide whether a trial diverges."""

    name: str
    values: Floats  # one for each trial; decades on a log scale
    logarithmic: bool
    of_one_minus: bool = False  # the values are decades of 1 - x

    def natural(self, value: float) -> float:
        """A value on its natural scale."""
        natural = 10.0**value if self.logarithmic else value
        return 1 - natural if self.of_one_minus else natural


@dataclass(frozen=True, eq=False)
class Region:
    """The threshold that separates best, and how well it does."""

    feature: Feature
    above: bool  # whether trials above the threshold are the infeasible ones
    threshold: float  # in the feature's own units
    between: tuple[float, float]  # on the natural scale: the two trials it lies between
    purity: float  # share of infeasible trials beyond it
    recall: float  # share of the infeasible trials that lie beyond it
    p: float

    @property
    def clear(self) -> bool:
        """Whether it is a region rather than a tendency."""
        return self.purity >= _PURITY and self.recall >= _RECALL

    @property
    def rises(self) -> bool:
        """Whether larger values of the named quantity are the infeasible ones."""
        return self.above != self.feature.of_one_minus


def region(features: Sequence[Feature], infeasible: Bools, singles: int) -> Region | None:
    """The region of infeasible trials, or None if chance explains where they lie.

    The first `singles` features are taken unless a later one saves two errors.
    """
    count, bad = len(infeasible), int(infeasible.sum())
    if bad < _FEWEST or count - bad < _FEWEST or not features:
        return None
    values = np.stack([f.values for f in features], axis=1)
    ranks = values.argsort(axis=0, kind="stable").argsort(axis=0).astype(np.float64) + 1
    seen = _separation(infeasible[None].astype(float), ranks)[0]
    by_chance = _separation(_labellings(count, bad), ranks)
    splits = [_split(values[:, column], infeasible) for column in range(len(features))]

    def fewest(columns: range) -> int:
        return min(columns, key=lambda column: (splits[column].errors, -seen[column]))

    chosen, within = fewest(range(singles)), singles
    if len(features) > singles:
        any_of_all = fewest(range(len(features)))
        if any_of_all >= singles and splits[any_of_all].errors <= splits[chosen].errors - _SAVED:
            chosen, within = any_of_all, len(features)
    highest = by_chance[:, :within].max(axis=1)
    p = float((1 + (highest >= seen[:within].max() - 1e-12).sum()) / (_DRAWS + 1))
    if p >= P:
        return None
    best = _region(features[chosen], splits[chosen], infeasible, p)
    if best.clear:
        return best
    # no region: the quantity that separates best, though no threshold of it does
    likeliest = int(seen[:singles].argmax())
    feature, split = features[likeliest], splits[likeliest]
    middle = np.median(feature.values[~infeasible])
    above = bool(np.median(feature.values[infeasible]) > middle)
    return _region(feature, replace(split, above=above), infeasible, p)


def _region(feature: Feature, split: _Split, infeasible: Bools, p: float) -> Region:
    beyond = (feature.values > split.threshold) == split.above
    low, high = sorted(feature.natural(x) for x in split.between)
    purity = float(infeasible[beyond].mean()) if beyond.any() else 0.0
    recall = float(beyond[infeasible].mean())
    return Region(
        feature=feature,
        above=split.above,
        threshold=split.threshold,
        between=(low, high),
        purity=purity,
        recall=recall,
        p=p,
    )


@lru_cache(maxsize=64)
def _labellings(count: int, bad: int) -> Floats:
    """Random ways for so many of the trials to be infeasible, the same ones every time."""
    random = np.random.default_rng([0x1FEA, count, bad])
    drawn = np.zeros((_DRAWS, count))
    picked = np.argsort(random.random((_DRAWS, count)), axis=1)[:, :bad]
    drawn[np.arange(_DRAWS)[:, None], picked] = 1.0
    return drawn


def features_of(
    study: StudyTrials, rows: Sequence[int], meaning: Meaning
) -> tuple[list[Feature], int]:
    """The candidates of these trials of a study, and how many of them are single quantities."""
    trials = [study.trials[row] for row in rows]
    singles = []
    for h in study.study.space:
        if all(h.column in study.units[row] for row in rows):
            feature = _single(h, trials)
            if feature is not None:
                singles.append(feature)
    pairs = []
    for first, other in itertools.combinations([f for f in singles if f.logarithmic], 2):
        for sign, word in ((1.0, "*"), (-1.0, "/")):
            # decades of 1 - x represent 1 - x itself
            name = f"{_plain(first)} {word} {_plain(other)}"
            pairs.append(Feature(name, first.values + sign * other.values, True))
    effective = _effective_rate([t.configuration for t in trials], meaning)
    if effective is not None:
        singles.append(effective)
    return singles + pairs, len(singles)


def _plain(feature: Feature) -> str:
    return f"(1 - {feature.name})" if feature.of_one_minus else feature.name


def _single(h: Hyperparameter, trials: Sequence[Trial]) -> Feature | None:
    read = [as_number(trial.configuration.get(h.name)) for trial in trials]
    known = [x for x in read if x is not None]
    if len(known) < len(read) or len(set(known)) < 2:
        return None
    values = np.array(known)
    if h.range.scale == "log_from_one":
        return Feature(h.name, np.log10(1 - values), True, True)
    is_log = h.range.scale == "log"
    return Feature(h.name, np.log10(values) if is_log else values, is_log)


def _effective_rate(
    configurations: Sequence[Mapping[str, Value]], meaning: Meaning
) -> Feature | None:
    """learning_rate / (1 - momentum) in decades, where both vary."""
    rate_name = meaning.name("learning_rate")
    for momentum in ("momentum", "beta1"):
        name = meaning.name(momentum)
        rates = [as_number(c.get(rate_name)) for c in configurations]
        momenta = [as_number(c.get(name)) for c in configurations]
        pairs = [
            (r, m)
            for r, m in zip(rates, momenta, strict=True)
            if r is not None and m is not None and r > 0 and m < 1
        ]
        if len(pairs) == len(configurations) and len({m for _, m in pairs}) > 1:
            values = np.array([math.log10(r / (1 - m)) for r, m in pairs])
            return Feature(f"{rate_name} / (1 - {name})", values, True)
    return None


def _separation(labels: Floats, ranks: Floats) -> Floats:
    """How well each column separates the labelled, |AUC - 1/2| + 1/2; one row a labelling."""
    bad = labels.sum(axis=1, keepdims=True)
    pairs = bad * (labels.shape[1] - bad)
    return np.asarray(np.abs((labels @ ranks - bad * (bad + 1) / 2) / pairs - 0.5) + 0.5)


@dataclass(frozen=True)
class _Split:
    errors: int
    above: bool
    threshold: float
    between: tuple[float, float]


def _split(values: Floats, infeasible: Bools) -> _Split:
    """The threshold with the fewest trials on the wrong side."""
    order = np.argsort(values, kind="stable")
    ordered, bad = values[order], infeasible[order]
    below = np.concatenate([[0], np.cumsum(bad)])  # infeasible ones among the first i
    places = np.arange(len(values) + 1)
    total = int(below[-1])
    wrong_if_above = below + (len(values) - places - (total - below))
    wrong_if_below = (places - below) + (total - below)
    above = wrong_if_above.min() <= wrong_if_below.min()
    place = int((wrong_if_above if above else wrong_if_below).argmin())
    low = ordered[max(place - 1, 0)]
    high = ordered[min(place, len(values) - 1)]
    middle = (low + high) / 2
    if place in (0, len(values)):
        middle += -1e-9 if place == 0 else 1e-9
    errors = int(min(wrong_if_above.min(), wrong_if_below.min()))
    return _Split(errors, bool(above), float(middle), (float(low), float(high)))
