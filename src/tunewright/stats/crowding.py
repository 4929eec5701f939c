"""Do the best trials crowd at an end of a range? A permutation test, and a rule for lone winners.

"The best point lies in the outer 10 %" alone is true of a fifth of all hyperparameters that do not
matter, and misses a third of those whose optimum lies outside.

Where another axis rules, the best trials are those with a good value of that one, and their places
along a lesser axis are random. The caller may then pass losses with the ruling effect taken off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright.stats.noise import Floats

FEWEST = 8  # feasible trials for the permutation test
_FEWEST_LONE, FEWEST_LONE_WARNS = 6, 12
LIMIT = 0.85  # of the range: beyond it a trial is near the end
_OUTERMOST = 0.95
P = 0.025
_P_ADJUSTED = 0.01  # where effects of other axes were taken off: as many false alarms as P has
_DRAWS = 999
_EXACT_UP_TO = 200  # trials; beyond it the mean of the best is Gaussian for all purposes
_FEWEST_STUDIES = 3  # for a pooled look: two of ten trials each found 9 % of optima outside

Side = Literal["", "low", "high"]


@dataclass(frozen=True)
class Look:
    """Whether the best trials crowd at an end of one range."""

    side: Side  # the end they crowd at, if any
    rule: Literal["", "crowd", "adjusted", "lone", "pooled"]  # the rule that found it
    best: float  # position of the best trial, from 0 at the low end to 1 at the high end
    middle: float  # median position of the best few
    best_few: int
    feasible: int
    p: float | None = None  # of the permutation test, for the nearer end


def look(units: Floats, losses: Floats, adjusted: Floats | None = None) -> Look:
    """Look at the feasible trials of one study along one axis.

    `adjusted` are the losses with the effects of other axes taken off; the crowd is then that of
    the best by these.
    """
    count = len(units)
    if count < _FEWEST_LONE:
        middle = float(np.median(units)) if count else math.nan
        best = float(units[losses.argmin()]) if count else math.nan
        return Look("", "", best, middle, 0, count)
    k = max(3, math.ceil(0.15 * count))
    order = _best_first(losses)
    if count >= FEWEST and adjusted is not None:
        seen = _crowd(units, _best_first(adjusted)[:k], _P_ADJUSTED)
        rule: Literal["crowd", "adjusted"] = "adjusted"
    else:
        seen = _crowd(units, order[:k], P) if count >= FEWEST else Look("", "", 0.0, 0.0, k, count)
        rule = "crowd"
    if seen.side:
        return replace(seen, rule=rule)
    top = units[order[:k]]
    side = _lone(units, losses, order)
    middle = float(np.median(top))
    return Look(side, "lone" if side else "", float(top[0]), middle, k, count, seen.p)


def _crowd(units: Floats, best_few: npt.NDArray[np.int64], level: float) -> Look:
    """Whether these trials, the best first, crowd at an end."""
    top, count = units[best_few], len(units)
    best, middle, p = float(top[0]), float(np.median(top)), 1.0
    sides: tuple[Side, Side] = ("high", "low")
    for side, (chance, sign) in zip(sides, _chances(units, top), strict=True):
        p = min(p, chance)
        if chance < level and max(sign * (best - 0.5), sign * (middle - 0.5)) > LIMIT - 0.5:
            return Look(side, "crowd", best, middle, len(top), count, chance)
    return Look("", "", best, middle, len(top), count, p)


def pooled_look(
    units: Sequence[Floats],
    losses: Sequence[Floats],
    points: Sequence[Sequence[int | None]] | None = None,
) -> Look | None:
    """Look at several studies at once along the axis they share; None with too few of them.

    The best fifth of each study counts. `points` names the point of every trial where studies
    share them: then positions are permuted among points, the same way in every study. If each
    study were permuted on its own, the one point that is best in all of them for the sake of
    another hyperparameter would count as many times as there are studies.
    """
    kept = [number for number, axis in enumerate(units) if len(axis) >= 3]
    if len(kept) < _FEWEST_STUDIES:
        return None
    tops = []
    for number in kept:
        k = max(1, round(0.2 * len(units[number])))
        tops.append(_best_first(losses[number])[:k])
    own_units = [units[number] for number in kept]
    crowd = np.concatenate([axis[top] for axis, top in zip(own_units, tops, strict=True)])
    if points is None:
        drawn = sum(
            axis[_subsets(len(axis), len(top), stream)].sum(axis=1)
            for stream, (axis, top) in enumerate(zip(own_units, tops, strict=True))
        )
    else:
        drawn = _joint(own_units, tops, [points[number] for number in kept])
    best = float(np.median([axis[top[0]] for axis, top in zip(own_units, tops, strict=True)]))
    middle, seen = float(np.median(crowd)), float(crowd.sum())
    count = sum(len(axis) for axis in own_units)
    chances = []
    sides: tuple[tuple[Side, float], ...] = (("high", 1.0), ("low", -1.0))
    for side, sign in sides:
        p = float((1 + (sign * np.asarray(drawn) >= sign * seen - 1e-9).sum()) / (_DRAWS + 1))
        chances.append(p)
        if p < P and max(sign * (best - 0.5), sign * (middle - 0.5)) > LIMIT - 0.5:
            return Look(side, "pooled", best, middle, len(crowd), count, p)
    return Look("", "", best, middle, len(crowd), count, min(chances))


def _joint(
    units: Sequence[Floats],
    tops: Sequence[npt.NDArray[np.int64]],
    points: Sequence[Sequence[int | None]],
) -> Floats:
    """The sum over the best trials when positions are permuted among the points."""
    place: dict[int | None, float] = {}
    for positions, names in zip(units, points, strict=True):
        place.update(zip(names, positions.tolist(), strict=True))
    row = {name: number for number, name in enumerate(place)}
    times = np.zeros(len(row))  # how often each point is among the best
    for top, names in zip(tops, points, strict=True):
        for at in top:
            times[row[names[at]]] += 1
    return np.asarray(np.array(list(place.values()))[_subsets(len(row), len(row))] @ times)


def _chances(units: Floats, top: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """The chance that so many random trials lie as high, or as low, as the best do."""
    count, k = len(units), len(top)
    seen = float(top.mean())
    if count > _EXACT_UP_TO:
        from scipy.special import ndtr

        sd = float(units.std()) * math.sqrt((count - k) / (count - 1) / k)
        z = (seen - float(units.mean())) / sd if sd > 0 else 0.0
        return (float(ndtr(-z)), 1.0), (float(ndtr(z)), -1.0)
    drawn = units[_subsets(count, k)].mean(axis=1)
    high = (1 + (drawn >= seen - 1e-12).sum()) / (_DRAWS + 1)
    low = (1 + (drawn <= seen + 1e-12).sum()) / (_DRAWS + 1)
    return (float(high), 1.0), (float(low), -1.0)


def _best_first(losses: Floats) -> npt.NDArray[np.int64]:
    """Trials sorted best first; ties are in random order, so that their order carries no signal."""
    lots = np.random.default_rng([0x107, len(losses)]).random(len(losses))
    return np.lexsort((lots, losses))


@lru_cache(maxsize=256)
def _subsets(count: int, k: int, stream: int = 0) -> npt.NDArray[np.int64]:
    """Random ways to pick k of `count`, the same ones every time."""
    random = np.random.default_rng([0xED6E, count, k, stream])
    return np.argsort(random.random((_DRAWS, count)), axis=1)[:, :k]


def _lone(units: Floats, losses: Floats, order: npt.NDArray[np.int64]) -> Side:
    """The end at which the best trial stands alone and far ahead of all that lie inside.

    A basin narrower than the distance between trials has one winner and no crowd around it.
    """
    best, ordered = order[0], losses[order]
    half = ordered[: max(4, len(ordered) // 2)]
    sides: tuple[tuple[Side, Floats], ...] = (("high", units), ("low", 1 - units))
    for side, towards in sides:
        inside = np.sort(losses[towards <= LIMIT])
        if towards[best] <= _OUTERMOST or len(inside) < 4:
            continue
        ahead = inside[0] - losses[best]
        usual = np.diff(inside[: max(4, len(inside) // 2)]).max()
        if ahead > 0.5 * (half[-1] - half[0]) and ahead > 2 * usual:
            return side
    return ""
