"""How a model sees configurations: points of a Euclidean space, one length scale a hyperparameter.

Ranges become their position on the declared scale, whole numbers and ordered choices the middle of
their bin, so that the model cannot separate positions of one value. A choice without an order
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
from tunewright.design.ranges import Bins
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
        return tuple(h.range.count or 0 for h in self.space)

    def bins(self, column: int) -> tuple[float, ...]:
        """The position of every value of a column; none for a continuous one."""
        if column not in self._bins:
            self._bins[column] = tuple(_positions(self.space[column]))
        return self._bins[column]

    @cached_property
    def _bins(self) -> dict[int, tuple[float, ...]]:
        """Those listed so far: a long range costs time, and hardly anybody asks for it."""
        return {}

    @cached_property
    def smooth(self) -> npt.NDArray[np.bool_]:
        """Which columns can be moved by a little."""
        return np.array([not 0 < count <= MOST_STEPS for count in self.counts], dtype=bool)

    @cached_property
    def group(self) -> npt.NDArray[np.intp]:
        """For every feature the column it belongs to, whose length scale it has."""
        return np.repeat(
            np.arange(len(self.space)), [len(h.range.features(0.5)) for h in self.space]
        )

    @property
    def configurations(self) -> float:
        """How many different configurations the study has; infinite with a continuous range."""
        count = self.study.configurations
        return math.inf if count is None else float(count)

    def positions(self, units: Sequence[Mapping[str, float]]) -> Array:
        """One row per point (column -> position)."""
        rows = [[unit.get(h.column, math.nan) for h in self.space] for unit in units]
        return self.snap(np.array(rows, dtype=np.float64).reshape(len(rows), len(self.space)))

    def unit(self, row: Array) -> dict[str, float]:
        """The point (column -> position) of one row."""
        return {
            h.column: float(u) for h, u in zip(self.space, row, strict=True) if not math.isnan(u)
        }

    def of_branch(self, branch: Branch, points: Array) -> Array:
        """Rows for points of a branch's own cube, with the branch's settings as its parents."""
        index = {h.column: i for i, h in enumerate(self.space)}
        rows = np.full((len(points), len(self.space)), np.nan)
        for column, value in branch.settings.items():
            rows[:, index[column]] = self.space[index[column]].range.unit(value)
        for place, h in enumerate(branch.dimensions):
            rows[:, index[h.column]] = points[:, place]
        return self.snap(rows)

    def snap(self, rows: Array) -> Array:
        """The rows with whole numbers and choices at the middle of their bins."""
        rows = rows.copy()
        for column, h in enumerate(self.space):
            if h.range.bins is not None:
                rows[:, column] = _middles(h.range.bins, rows[:, column])
        return rows

    def features(self, rows: Array) -> Array:
        """What the kernel measures distances between."""
        blocks = []
        for column, h in enumerate(self.space):
            inactive = np.isnan(rows[:, column])
            block = np.stack(h.range.features(np.where(inactive, 0.5, rows[:, column])), axis=1)
            if not h.range.ordered:
                block[inactive] = 0.0  # at none of the corners
            blocks.append(block)
        return np.hstack(blocks) if blocks else np.empty((len(rows), 0))

    @cached_property
    def unordered(self) -> npt.NDArray[np.bool_]:
        """Which columns are choices whose order means nothing."""
        return np.array([not h.range.ordered for h in self.space], dtype=bool)

    @cached_property
    def parents(self) -> npt.NDArray[np.bool_]:
        """Which columns decide what other columns are active."""
        columns = {column for branch in self.study.branches for column in branch.settings}
        return np.array([h.column in columns for h in self.space], dtype=bool)

    def keys(self, rows: Array) -> list[tuple[float, ...]]:
        """One per row, equal where rows mean the same configuration to a training program."""
        return [tuple(row) for row in np.round(np.nan_to_num(rows, nan=-9.0), 9).tolist()]


def _positions(h: Hyperparameter) -> list[float]:
    """The position of every value of a discrete range."""
    range_ = h.range
    if range_.choices is not None:
        return [range_.unit(value) for value in range_.choices]
    if range_.bins is None or range_.bins.count > MOST_LISTED:
        return []
    return [range_.unit(range_.value(middle)) for middle in range_.bins.middles()]


def _middles(bins_: Bins, positions: Array) -> Array:
    """The middle of the bin each position lies in, beyond the range too."""
    # a hair more, since the position of a bin's lower edge may be rounded down
    hair = 1 + 1e-12
    if bins_.log:
        low, high = math.log(bins_.first), math.log(bins_.last + 1)
        values = np.maximum(np.floor(np.exp(low + positions * (high - low)) * hair), 1)
        values = np.where(positions <= 1.0, np.minimum(values, bins_.last), values)
        return np.asarray(((np.log(values) + np.log(values + 1)) / 2 - low) / (high - low))
    bins = np.floor(positions * bins_.count * hair)
    bins = np.where(positions <= 1.0, np.minimum(bins, bins_.count - 1), bins)
    return np.asarray((bins + 0.5) / bins_.count)
