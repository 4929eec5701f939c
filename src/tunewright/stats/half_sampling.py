"""Which of two settings is better when each was tuned? Exactly, over every half of the trials.

Two arms share their points: trial i of one has the nuisance values of trial i of the other. For
every half of the points the best of either arm is compared; the share of halves in which one wins
measures how much of its lead is tuning noise. It is computed without drawing: the pair (i, j) are
the two bests of a half that holds them and nothing better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright.stats.best_of_k import best_weights
from tunewright.stats.noise import Floats

SIDE = 0.025  # per side; 0.05 called 12 to 16 % of equal settings different on real grids
SIDE_APART = 0.10  # for arms with separate points, whose noise differs anyway
FEWEST = 6  # feasible trials in each arm
_MASS = 0.9  # of all halves must have a feasible trial in both arms
LARGEST = 200  # shared points: beyond, the first so many
_HUGE = 1e150  # finite values beyond count as this one, so that squares stay finite

Comparison = Literal["a is better", "b is better", "not distinguishable"]


@dataclass(frozen=True)
class Halves:
    """The best of b minus the best of a, over every half of the trials; lower is better."""

    trials: int  # each arm
    shared: bool  # whether the arms share their points
    a_wins: float  # share of halves in which the best of a is the better one
    b_wins: float
    difference: float  # best of b minus best of a, over all trials
    interval: tuple[float, float]  # 5 to 95 % over halves, widened to hold the difference
    half_gap: float  # mean difference at half of the trials
    quarter_gap: float  # and at a quarter

    def verdict(self, side: float | None = None) -> Comparison:
        """The verdict; `side` is the error allowed per side."""
        allowed = (SIDE if self.shared else SIDE_APART) if side is None else side
        if self.a_wins >= 1 - allowed:
            return "a is better"
        return "b is better" if self.b_wins >= 1 - allowed else "not distinguishable"

    @property
    def may_close(self) -> bool:
        """Whether the gap shrinks with more tuning: a hint that catches a third of such cases."""
        return abs(self.half_gap) < 0.6 * abs(self.quarter_gap)


def _clip(values: Floats) -> Floats:
    return np.where(np.isfinite(values), np.clip(values, -_HUGE, _HUGE), values)


def shared_halves(a: Floats, b: Floats) -> Halves | None:
    """Compare arms whose trial i share a point; infeasible trials are infinite.

    None when too few halves have a feasible trial in both arms.
    """
    a, b = _clip(a[:LARGEST]), _clip(b[:LARGEST])
    count = len(a)
    pairs = _bests_of_halves(a, b, -(-count // 2))
    if pairs is None:
        return None
    differences, weights = pairs
    quarter = _bests_of_halves(a, b, max(1, -(-count // 4)), mass=0.0)
    assert quarter is not None
    full = float(b.min() - a.min())
    return Halves(
        trials=count,
        shared=True,
        a_wins=float(weights[differences > 0].sum()),
        b_wins=float(weights[differences < 0].sum()),
        difference=full,
        interval=_interval(differences, weights, full),
        half_gap=float(weights @ differences),
        quarter_gap=float(quarter[1] @ quarter[0]),
    )


def separate_halves(a: Floats, b: Floats) -> Halves | None:
    """Compare arms that have separate points: only large gaps can be distinguished from noise."""
    count = min(len(a), len(b), LARGEST)
    a, b = np.sort(_clip(a[:count])), np.sort(_clip(b[:count]))
    gaps = []
    spread: tuple[Floats, Floats] | None = None
    for k in (-(-count // 2), max(1, -(-count // 4))):
        weights = best_weights(count, k)
        joint = np.outer(weights, weights)
        use = np.isfinite(a)[:, None] & np.isfinite(b)[None]
        mass = float(joint[use].sum())
        if mass < _MASS and spread is None:
            return None
        with np.errstate(invalid="ignore"):  # infinite less infinite is left out right after
            differences = (b[None] - a[:, None])[use]
        shares = joint[use] / mass
        gaps.append(float(shares @ differences))
        spread = spread or (differences, shares)
    assert spread is not None
    differences, shares = spread
    full = float(b[0] - a[0])
    a_wins, b_wins = float(shares[differences > 0].sum()), float(shares[differences < 0].sum())
    within = _interval(differences, shares, full)
    return Halves(count, False, a_wins, b_wins, full, within, *gaps)


@dataclass(frozen=True)
class SharedRegion:
    """The mean difference over the points where both arms do well: the better guess of its size."""

    difference: float  # b minus a
    interval: tuple[float, float]  # 90 %, by Student's t
    points: int


def shared_region(a: Floats, b: Floats) -> SharedRegion | None:
    """The difference over the best third (at least 4) of the points feasible in both arms.

    Points are ranked by the sum of both, which is independent of their difference.
    """
    from scipy.special import stdtrit

    both = np.isfinite(a) & np.isfinite(b)
    a, b = _clip(a[both]), _clip(b[both])
    if len(a) < 4:
        return None
    few = np.argsort(a + b, kind="stable")[: max(4, -(-len(a) // 3))]
    gaps = b[few] - a[few]
    half = float(stdtrit(len(few) - 1, 0.95) * gaps.std(ddof=1) / np.sqrt(len(few)))
    mean = float(gaps.mean())
    return SharedRegion(mean, (mean - half, mean + half), len(few))


def same_place(a: Floats, b: Floats) -> bool:
    """Whether each arm's best point is among the best 3/8 of the other."""
    few = max(1, round(3 / 8 * len(a)))
    return bool(
        a.argmin() in np.argsort(b, kind="stable")[:few]
        and b.argmin() in np.argsort(a, kind="stable")[:few]
    )


def _bests_of_halves(
    a: Floats, b: Floats, k: int, mass: float = _MASS
) -> tuple[Floats, Floats] | None:
    """Every difference of two bests and the share of all k-subsets it belongs to."""
    count = len(a)
    rank_a, rank_b = _places(a), _places(b)
    # better[i, j]: points that would beat i in arm a or j in arm b
    beats_a, beats_b = rank_a[None] < rank_a[:, None], rank_b[None] < rank_b[:, None]
    both = beats_a.astype(float) @ beats_b.T.astype(float)
    better = beats_a.sum(axis=1)[:, None] + beats_b.sum(axis=1)[None] - both
    allowed = ~beats_b.T & ~beats_a & (np.isfinite(a)[:, None] & np.isfinite(b)[None])
    held = np.where(np.eye(count, dtype=bool), 1, 2)
    weights = np.where(allowed, _choose_share(count, k, better + held, k - held), 0.0)
    total = float(weights.sum())
    if total < mass or total <= 0:
        return None
    chosen = weights > 0
    with np.errstate(invalid="ignore"):
        differences = (b[None] - a[:, None])[chosen]
    return differences, weights[chosen] / total


def _places(losses: Floats) -> npt.NDArray[np.int64]:
    """Ranks; of equal ones the earlier trial comes first, so that every half has one best."""
    return np.asarray(np.argsort(np.argsort(losses, kind="stable"), kind="stable"))


def _choose_share(count: int, k: int, taken: Floats, picks: npt.NDArray[np.int64]) -> Floats:
    """C(count - taken, picks) / C(count, k), and 0 where that is impossible."""
    from scipy.special import gammaln

    left = count - taken
    possible = (left >= picks) & (picks >= 0)
    n, m = np.where(possible, left, 1.0), np.where(possible, picks, 0)
    logs = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    logs -= gammaln(count + 1) - gammaln(k + 1) - gammaln(count - k + 1)
    return np.asarray(np.where(possible, np.exp(logs), 0.0))


def _interval(differences: Floats, weights: Floats, full: float) -> tuple[float, float]:
    order = np.argsort(differences)
    along = np.cumsum(weights[order])
    places = np.minimum(np.searchsorted(along, np.array([0.05, 0.95])), len(order) - 1)
    low, high = differences[order][places].tolist()
    return min(low, full), max(high, full)
