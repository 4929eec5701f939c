"""How a model sees configurations: points of a Euclidean space, one length scale a hyperparameter.

Ranges become their position on the declared scale, whole numbers and ordered choices the middle of
their bin, so that the model cannot tell positions of one value apart. A choice without an order
becomes corners that all lie equally far from each other. A hyperparameter that is not active stands
at the middle of its range: inactive in both is the same, and what differs is its parent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tunewright.design.conditions import Hyperparameter
from tunewright.design.ranges import (
    Choice,
    Integers,
    Linear,
    Log,
    LogFromOne,
    Value,
    is_number,
    same_value,
)
from tunewright.design.study import Branch, Study

Array = npt.NDArray[np.float64]
MOST_LISTED = 100_000  # values of a range that are ever listed
MOST_STEPS = 24  # whole numbers in a range: beyond, neighbours are so alike that it is continuous


@dataclass(frozen=True)
class Encoding:
    """Positions of a study's columns (NaN where inactive), and the features made of them."""

    study: Study

    @property
    def space(self) -> tuple[Hyperparameter, ...]:
        """The columns of a matrix of positions, in order."""
        return self.study.space

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many values each column has; 0 for a continuous one."""
        return tuple(_count(h) for h in self.space)

    @cached_property
    def bins(self) -> tuple[tuple[float, ...], ...]:
        """The position of every value of each column; none for a continuous one."""
        return tuple(tuple(_bins(h)) for h in self.space)

    @cached_property
    def smooth(self) -> npt.NDArray[np.bool_]:
        """Which columns can be moved by a little."""
        return np.array([not 0 < count <= MOST_STEPS for count in self.counts], dtype=bool)

    @cached_property
    def group(self) -> npt.NDArray[np.intp]:
        """For every feature the column it belongs to, whose length scale it has."""
        return np.repeat(np.arange(len(self.space)), [_width(h) for h in self.space])

    @property
    def configurations(self) -> float:
        """How many different configurations the study has; infinite with a continuous range."""
        index = {h.column: i for i, h in enumerate(self.space)}
        return float(
            sum(
                math.prod((self.counts[index[h.column]] or math.inf) for h in branch.dimensions)
                for branch in self.study.branches
            )
        )

    def positions(self, units: Sequence[Mapping[str, float]]) -> Array:
        """One row per point (column -> position)."""
        rows = [[unit.get(h.column, math.nan) for h in self.space] for unit in units]
        return self.settled(np.array(rows, dtype=np.float64).reshape(len(rows), len(self.space)))

    def unit(self, row: Array) -> dict[str, float]:
        """The point (column -> position) of one row."""
        return {
            h.column: float(u) for h, u in zip(self.space, row, strict=True) if not math.isnan(u)
        }

    def of_branch(self, branch: Branch, points: Array) -> Array:
        """Rows for points of a branch's own cube, its parents set as it says."""
        index = {h.column: i for i, h in enumerate(self.space)}
        rows = np.full((len(points), len(self.space)), np.nan)
        for column, value in branch.settings.items():
            rows[:, index[column]] = self.space[index[column]].range.unit(value)
        for place, h in enumerate(branch.dimensions):
            rows[:, index[h.column]] = points[:, place]
        return self.settled(rows)

    def settled(self, rows: Array) -> Array:
        """The rows with whole numbers and choices at the middle of their bins."""
        rows = rows.copy()
        for column, h in enumerate(self.space):
            if self.counts[column]:
                rows[:, column] = _middles(h, rows[:, column])
        return rows

    def features(self, rows: Array) -> Array:
        """What the kernel measures distances between."""
        made = []
        for column, h in enumerate(self.space):
            own = rows[:, column]
            if _is_unordered(h):
                bins = np.arange(self.counts[column])
                place = np.floor(own * len(bins))
                # corners of a simplex of side 1; an inactive one (NaN) stands at none of them
                made.append((place[:, None] == bins) / math.sqrt(2))
            else:
                made.append(np.where(np.isnan(own), 0.5, own)[:, None])
        return np.hstack(made) if made else np.empty((len(rows), 0))

    @cached_property
    def unordered(self) -> npt.NDArray[np.bool_]:
        """Which columns are choices whose order means nothing."""
        return np.array([_is_unordered(h) for h in self.space], dtype=bool)

    @cached_property
    def parents(self) -> npt.NDArray[np.bool_]:
        """Which columns decide what other columns are active."""
        columns = {column for branch in self.study.branches for column in branch.settings}
        return np.array([h.column in columns for h in self.space], dtype=bool)

    def keys(self, rows: Array) -> list[tuple[float, ...]]:
        """One per row, equal where rows mean the same configuration to a training program."""
        return [tuple(row) for row in np.round(np.nan_to_num(rows, nan=-9.0), 9).tolist()]


def place(h: Hyperparameter, value: Value) -> float | None:
    """Where a value lies on the scale of a range, beyond 0 and 1 too; None where it has no place.

    >>> from tunewright.design.ranges import log
    >>> round(place(Hyperparameter("rate", "rate", log(1e-3, 1e-1)), 1.0), 6)
    1.5
    """
    own = h.range
    if isinstance(own, Choice):
        return next(
            ((i + 0.5) / len(own.values) for i, v in enumerate(own.values) if same_value(v, value)),
            None,
        )
    if not is_number(value):
        return None
    assert isinstance(value, int | float)
    if isinstance(own, Linear):
        return (value - own.low) / (own.high - own.low)
    if isinstance(own, LogFromOne):
        if value >= 1:
            return None
        far, near = math.log1p(-own.low), math.log1p(-own.high)
        return (math.log1p(-value) - far) / (near - far)
    if isinstance(own, Log):
        if value <= 0:
            return None
        low, high = math.log(own.low), math.log(own.high)
        return (math.log(value) - low) / (high - low)
    if not own.log:
        return (value - own.low + 0.5) / (own.high - own.low + 1)
    if value <= 0:
        return None
    low, high = math.log(own.low), math.log(own.high + 1)
    return ((math.log(value) + math.log(value + 1)) / 2 - low) / (high - low)


def _count(h: Hyperparameter) -> int:
    if isinstance(h.range, Choice):
        return len(h.range.values)
    return h.range.high - h.range.low + 1 if isinstance(h.range, Integers) else 0


def _bins(h: Hyperparameter) -> list[float]:
    if isinstance(h.range, Choice):
        return [h.range.unit(value) for value in h.range.values]
    if isinstance(h.range, Integers) and _count(h) <= MOST_LISTED:
        return [h.range.unit(value) for value in range(h.range.low, h.range.high + 1)]
    return []


def _is_unordered(h: Hyperparameter) -> bool:
    return isinstance(h.range, Choice) and not h.range.ordered


def _width(h: Hyperparameter) -> int:
    return _count(h) if _is_unordered(h) else 1


def _middles(h: Hyperparameter, positions: Array) -> Array:
    """The middle of the bin each position lies in, beyond the range too."""
    own = h.range
    # a hair more, since the position of a bin's lower edge may be rounded down
    hair = 1 + 1e-12
    if isinstance(own, Integers) and own.log:
        low, high = math.log(own.low), math.log(own.high + 1)
        values = np.maximum(np.floor(np.exp(low + positions * (high - low)) * hair), 1)
        values = np.where(positions <= 1.0, np.minimum(values, own.high), values)
        return np.asarray(((np.log(values) + np.log(values + 1)) / 2 - low) / (high - low))
    count = _count(h)
    bins = np.floor(positions * count * hair)
    bins = np.where(positions <= 1.0, np.minimum(bins, count - 1), bins)
    return np.asarray((bins + 0.5) / count)
