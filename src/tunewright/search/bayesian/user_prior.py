"""How beliefs about the best values (`Range.around`) steer a Bayesian search, and when they end.

A belief is a density over a range, mixed with an even one, so that no value is ever ruled out.
Every other quasi-random trial at the start is drawn from it; afterwards its logarithm, times a
weight that falls with the square of the number of outcomes, is added to that of the expected
improvement (as in piBO, but faster). Each belief is dropped once fewer of the best trials lie in
its region than chance would put there, or once trials in its region are worse than the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tunewright.design.range import Belief, is_measured
from tunewright.design.ranges import Range
from tunewright.search.bayesian.encoding import Encoding
from tunewright.search.bayesian.history import History

Array = npt.NDArray[np.float64]
_EVEN = 0.1  # share of the density that is spread over the whole range
_REACH = 2.0  # standard deviations: the region in which a belief expects the best trials
_BEST = 4  # one of so many outcomes counts among the best
_LEAST_BEST = 3
_MOST_LOOKS = 100  # outcomes: a belief that held so long hardly weighs any more
_FEWEST_SIDES = 3  # outcomes inside a region, and outside, before the two are compared
_FULL = 10  # outcomes: here a belief weighs strength / 10, and less with their square
_NARROWEST = 1e-3  # standard deviation, in ranges
_LEVEL = 0.1  # probability by chance below which the trials contradict a belief
_GRID = np.linspace(0.0, 1.0, 1025)


@dataclass(frozen=True)
class Column:
    """The belief about one column of the encoding, as a density over its positions."""

    number: int
    centre: float  # position
    sd: float  # in positions; 0 for a value of a list
    odds: float = 1.0  # of that value against every other one
    count: int = 0  # values of the list

    def log_density(self, positions: Array) -> Array:
        """Relative to an even density; 0 where the column is inactive."""
        if not self.sd:
            even = self.count / (self.odds + self.count - 1)
            density = np.log(np.where(self.inside(positions), self.odds * even, even))
        else:
            density = np.log(_EVEN + self._bell(positions))
        return np.where(np.isnan(positions), 0.0, density)

    def slope(self, position: float) -> float:
        """Of the logarithm of the density; 0 in a list."""
        if not self.sd:
            return 0.0
        bell = float(self._bell(np.array(position)))
        return bell / (_EVEN + bell) * (self.centre - position) / self.sd**2

    def inside(self, positions: Array) -> npt.NDArray[np.bool_]:
        """Which positions lie in the region of the belief."""
        reach = _REACH * self.sd if self.sd else 0.5 / self.count
        return np.asarray(np.abs(positions - self.centre) <= reach)

    def sample(self, even: Array) -> Array:
        """Positions from this density, for evenly spread numbers between 0 and 1."""
        if not self.sd:
            share = self.odds / (self.odds + self.count - 1)
            rest = np.clip((even - share) / max(1.0 - share, 1e-12), 0.0, 1.0 - 1e-9)
            others = (np.floor(rest * (self.count - 1)) + 0.5) / self.count
            others += (others >= self.centre - 1e-9) / self.count  # passes over the believed one
            return np.where(even < share, self.centre, others)
        density = _EVEN + self._bell(_GRID)
        below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
        return np.asarray(np.interp(even, below / below[-1], _GRID))

    def _bell(self, positions: Array) -> Array:
        """A normal density cut off at the ends of the range, less the even share."""
        from scipy.special import ndtr

        within = float(ndtr((1 - self.centre) / self.sd) - ndtr(-self.centre / self.sd))
        away = (positions - self.centre) / self.sd
        height = (1 - _EVEN) / (self.sd * math.sqrt(2 * math.pi) * within)
        return np.asarray(height * np.exp(-0.5 * away * away))


@dataclass(frozen=True)
class UserPrior:
    """The beliefs that the trials leave standing, and what they weigh now."""

    columns: tuple[Column, ...]
    weight: float = 0.0

    def at(self, rows: Array) -> Array:
        """What the beliefs add to the acquisition at every row."""
        total = np.zeros(len(rows))
        for column in self.columns:
            total += column.log_density(rows[:, column.number])
        return self.weight * total

    def slope(self, row: Array) -> Array:
        """The slope of that along every column."""
        slope = np.zeros(len(row))
        for column in self.columns:
            if not math.isnan(row[column.number]):
                slope[column.number] = self.weight * column.slope(float(row[column.number]))
        return slope

    def first(self, rows: Array, index: int) -> Array:
        """Quasi-random rows from this position on, every other one drawn from the beliefs.

        Position 0 is at the believed values themselves.
        """
        sampled = self.sample(rows)
        for column in self.columns if index == 0 and len(rows) else ():
            if not math.isnan(rows[0, column.number]):
                sampled[0, column.number] = column.centre
        turn = (index + np.arange(len(rows))) % 2 == 0
        return np.where(turn[:, None], sampled, rows)

    def sample(self, rows: Array) -> Array:
        """Even rows with the columns that have a belief drawn from it."""
        rows = rows.copy()
        for column in self.columns:
            positions = rows[:, column.number]
            sampled = column.sample(np.nan_to_num(positions))
            rows[:, column.number] = np.where(np.isnan(positions), positions, sampled)
        return rows


def beliefs_of(encoding: Encoding) -> UserPrior:
    """The beliefs that the study's ranges declare."""
    beliefs = (_column(n, h.range) for n, h in enumerate(encoding.space))
    return UserPrior(tuple(belief for belief in beliefs if belief is not None))


def remaining(prior: UserPrior, known: History, strength: float) -> UserPrior:
    """Those that the trials do not contradict, weighted by how many trials there are."""
    kept = tuple(column for column in prior.columns if not contradicted(column, known))
    return replace(prior, columns=kept, weight=strength * _FULL / max(len(known.rows), 1) ** 2)


def contradicted(column: Column, known: History) -> bool:
    """Whether at some time the trials spoke against the region of a belief.

    Too few of the best lay in it: of the best quarter, as few or fewer inside would be less
    probable than 10 % if the region did not matter. Or those inside were worse: by a rank-sum test
    of all inside against all outside, at 10 % too. Once dropped, a belief stays so: trials are
    looked at in the order of their index.
    """
    positions = known.rows[: known.study_count, column.number]
    active = ~np.isnan(positions)
    inside = column.inside(positions[active])
    values = np.where(np.isfinite(known.values), known.values, np.inf)[: known.study_count][active]
    for count in range(2 * _LEAST_BEST, min(len(values), _MOST_LOOKS) + 1):
        best = max(_LEAST_BEST, count // _BEST)
        order = np.argsort(values[:count], kind="stable")[:best]
        seen = int(inside[order].sum())
        if _at_most(seen, best, int(inside[:count].sum()), count) < _LEVEL:
            return True
        if _as_bad(values[:count], inside[:count]) < _LEVEL:
            return True
    return False


def _as_bad(values: Array, inside: npt.NDArray[np.bool_]) -> float:
    """The probability by chance that those inside are so much worse than the others, by ranks.

    The normal approximation without a correction for ties, which makes it larger; 1 where either
    side has too few.
    """
    from scipy.special import ndtr

    here, others = values[inside], values[~inside]
    if min(len(here), len(others)) < _FEWEST_SIDES:
        return 1.0
    worse = float((here[:, None] > others).sum() + (here[:, None] == others).sum() / 2)
    pairs = len(here) * len(others)
    spread = math.sqrt(pairs * (len(values) + 1) / 12)
    return float(ndtr(-(worse - pairs / 2 - 0.5) / spread))


def _at_most(seen: int, sample: int, inside: int, of: int) -> float:
    """The probability of so few or fewer, drawn without replacement."""
    ways = sum(math.comb(inside, k) * math.comb(of - inside, sample - k) for k in range(seen + 1))
    return ways / math.comb(of, sample)


def _column(number: int, range_: Range) -> Column | None:
    belief = range_.belief
    if belief is None:
        return None
    centre = range_.unit(belief.value)
    if is_measured(range_):
        return Column(number, centre, _deviation(range_, belief, centre))
    return Column(number, centre, 0.0, float(belief.factor or 1.0), range_.count or 1)


def _deviation(range_: Range, belief: Belief, centre: float) -> float:
    """One standard deviation of a belief, in positions."""
    value = float(belief.value)  # type: ignore[arg-type]
    factor, width = belief.factor or 1.0, belief.width or 0.0
    if range_.scale == "log":
        ends = value * factor, value / factor
    elif range_.scale == "log_from_one":
        ends = 1 - (1 - value) / factor, 1 - (1 - value) * factor
    else:
        ends = value + width, value - width
    places = [place for place in map(range_.place, ends) if place is not None]
    # neither end has a place: wider than the range
    return max(abs(places[0] - centre), _NARROWEST) if places else 1.0
