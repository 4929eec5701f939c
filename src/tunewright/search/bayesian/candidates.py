"""Where an acquisition is largest: candidates all over the space and around the best, then a climb.

Candidates are a fresh quasi-random cover of every branch and steps of several sizes away from the
best points known; a space of few configurations is looked through whole. The best candidates climb
by the slope along what is continuous, in turn with every neighbour of what is not.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright.design.study import Branch
from tunewright.search.bayesian.encoding import MOST_LISTED, MOST_STEPS, Encoding
from tunewright.search.bayesian.feasibility import log_probability
from tunewright.search.bayesian.gaussian_process import GaussianProcess
from tunewright.search.bayesian.user_prior import UserPrior

Array = npt.NDArray[np.float64]
_COVER = 768  # quasi-random candidates in all, and at least LEAST_COVER in every branch
_LEAST_COVER = 48
_WHOLE = 2000  # configurations: a finite space of no more is looked through whole
STEPS = (0.15, 0.05, 0.015)  # sizes of steps away from the best points, in ranges
_STEPS_EACH = 96
_BELIEVED = 192  # candidates more where the user believes the best values to be
_MOST_HALTON = 20  # dimensions
_CLIMBS = 6
_APART = 0.02  # in ranges, at least, between the places where climbs start
_TOO_NEAR = 1e-3  # in ranges: another trial there would be a repeat


@dataclass(frozen=True)
class Tried:
    """The configurations there are already; none is suggested again."""

    encoding: Encoding
    rows: Array

    @cached_property
    def _keys(self) -> frozenset[tuple[float, ...]]:
        return frozenset(self.encoding.keys(self.rows))

    def among(self, rows: Array) -> npt.NDArray[np.bool_]:
        """Which of these rows mean a configuration that has been tried."""
        return np.array([key in self._keys for key in self.encoding.keys(rows)], dtype=bool)

    def near(self, row: Array) -> bool:
        """Whether one was tried so near that it would be a repeat."""
        away = np.abs(self.rows - row)
        both = np.isnan(self.rows) & np.isnan(row)
        return bool(np.any(np.all(both | (away < _TOO_NEAR), axis=1)))

    def and_also(self, row: Array) -> Tried:
        """These and one more."""
        return Tried(self.encoding, np.vstack([self.rows, row]))


@dataclass(frozen=True)
class _Worth:
    """What a trial at a row is worth: the acquisition, and what the user believes."""

    acquisition: Acquisition
    encoding: Encoding
    prior: UserPrior

    def at(self, rows: Array) -> Array:
        """The worth at every row; more is better."""
        worth = self.acquisition.at(self.encoding.features(rows))
        return worth + self.prior.at(rows) if self.prior.columns else worth

    def slope(self, row: Array, free: npt.NDArray[np.intp]) -> tuple[float, Array]:
        """The worth at one row, and its slope along the free columns."""
        worth, slope = self.acquisition.slope(self.encoding.features(row[None, :])[0])
        slope = slope[np.searchsorted(self.encoding.group, free)]
        if not self.prior.columns:
            return worth, slope
        return worth + float(self.prior.at(row[None, :])[0]), slope + self.prior.slope(row)[free]


def highest(
    acquisition: Acquisition,
    tried: Tried,
    best: Array,
    random: np.random.Generator,
    prior: UserPrior | None = None,
) -> Array | None:
    """The row of the highest acquisition that was not tried; None when nothing is left."""
    encoding = tried.encoding
    worth_of = _Worth(acquisition, encoding, prior or UserPrior(()))
    rows = candidates(encoding, best, random)
    if worth_of.prior.columns and encoding.configurations > _WHOLE:
        near = candidates(encoding, best, random)[:_BELIEVED]
        rows = np.vstack([rows, encoding.snap(worth_of.prior.sample(near))])
    rows = rows[~tried.among(rows)]
    if not len(rows):
        rows = every_configuration(encoding)
        rows = rows[~tried.among(rows)]
        if not len(rows):
            return None
    worth = worth_of.at(rows)
    order = np.argsort(-worth, kind="stable")
    climbed = [_climb(worth_of, rows[start], float(worth[start])) for start in _starts(rows, order)]
    climbed.sort(key=lambda climb: -climb[0])
    for _, row in climbed:
        if not tried.near(row) and not tried.among(row[None, :])[0]:
            return row
    for place in order:
        if not tried.near(rows[place]):
            return np.asarray(rows[place])
    return np.asarray(rows[order[0]])


def candidates(encoding: Encoding, best: Array, random: np.random.Generator) -> Array:
    """Rows all over the space, and around the best ones given."""
    if encoding.configurations <= _WHOLE:
        return every_configuration(encoding)
    branches = encoding.study.branches
    share = max(_LEAST_COVER, _COVER // len(branches))
    blocks = [_cover(encoding, branch, share, random) for branch in branches]
    blocks += [_steps(encoding, best, size, random) for size in STEPS]
    return np.vstack(blocks)


def every_configuration(encoding: Encoding) -> Array:
    """Every row of a space that can be listed; of any other, none."""
    if encoding.configurations > MOST_LISTED:
        return np.empty((0, len(encoding.space)))
    index = {h.column: i for i, h in enumerate(encoding.space)}
    blocks = []
    for branch in encoding.study.branches:
        axes = [encoding.bins(index[h.column]) for h in branch.dimensions]
        points = np.array(list(itertools.product(*axes)), dtype=np.float64)
        blocks.append(encoding.of_branch(branch, points.reshape(-1, len(axes))))
    return np.vstack(blocks)


def _cover(encoding: Encoding, branch: Branch, count: int, random: np.random.Generator) -> Array:
    from scipy.stats import qmc

    dimensions = len(branch.dimensions)
    if dimensions == 0:
        points = np.empty((1, 0))
    elif dimensions > _MOST_HALTON:
        points = random.random((count, dimensions))
    else:
        points = qmc.Halton(dimensions, scramble=True, rng=random).random(count)
    return encoding.of_branch(branch, points)


def _steps(encoding: Encoding, best: Array, size: float, random: np.random.Generator) -> Array:
    """Steps from the best rows, in every column or in a few; parents stay as they are."""
    start = best[random.integers(len(best), size=_STEPS_EACH)]
    columns = start.shape[1]
    few = random.random(start.shape) < max(0.3, 1.5 / max(columns, 1))
    few[::2] = True
    moved = np.clip(start + size * random.normal(size=start.shape) * few, 0.0, 1.0)
    for column, count in enumerate(encoding.counts):
        jumps = random.random(_STEPS_EACH) < 0.3
        anywhere = (random.integers(max(count, 1), size=_STEPS_EACH) + 0.5) / max(count, 1)
        if 0 < count <= MOST_STEPS:
            moved[:, column] = np.where(jumps, anywhere, start[:, column])
    moved[:, encoding.parents] = start[:, encoding.parents]
    return encoding.snap(np.where(np.isnan(start), np.nan, moved))


def _starts(rows: Array, order: npt.NDArray[np.intp]) -> list[int]:
    """The best rows that lie apart from each other."""
    starts: list[int] = []
    for place in order[:200].tolist():
        away = [np.abs(rows[place] - rows[other]) for other in starts]
        if all(np.max(np.nan_to_num(a, nan=0.0), initial=0.0) > _APART for a in away):
            starts.append(place)
        if len(starts) == _CLIMBS:
            break
    return starts


def _climb(worth_of: _Worth, row: Array, worth: float) -> tuple[float, Array]:
    """The top that can be reached from a row, and what it is worth."""
    encoding = worth_of.encoding
    for _ in range(3):
        before = worth
        for rows in (_along_slope(worth_of, row), _neighbours(encoding, row)):
            if len(rows):
                neighbours_worth = worth_of.at(rows)
                place = int(np.argmax(neighbours_worth))
                if neighbours_worth[place] > worth:
                    row, worth = rows[place], float(neighbours_worth[place])
        if worth <= before + 1e-9 or not np.any(~encoding.smooth):
            break
    return worth, row


def _along_slope(worth_of: _Worth, row: Array) -> Array:
    """One row: where the slope leads, along the columns that can be moved by a little."""
    from scipy.optimize import minimize

    encoding = worth_of.encoding
    free = np.flatnonzero(encoding.smooth & ~np.isnan(row))
    if not len(free):
        return np.empty((0, len(row)))

    def loss(place: Array) -> tuple[float, Array]:
        moved = row.copy()
        moved[free] = place
        worth, slope = worth_of.slope(moved, free)
        return -worth, -slope

    climb = minimize(
        loss,
        row[free],
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(free),
        options={"maxiter": 20},
    )
    moved = row.copy()
    moved[free] = np.clip(climb.x, 0.0, 1.0)
    return encoding.snap(moved[None, :])


def _neighbours(encoding: Encoding, row: Array) -> Array:
    """Rows that differ in one whole number or choice; parents stay as they are."""
    neighbours = []
    for column, count in enumerate(encoding.counts):
        if encoding.smooth[column] or encoding.parents[column] or math.isnan(row[column]):
            continue
        values = encoding.bins(column)
        place = int(np.argmin(np.abs(np.array(values) - row[column])))
        reach = count if encoding.unordered[column] or count <= 6 else 2
        for other in range(max(0, place - reach), min(count, place + reach + 1)):
            if other != place:
                moved = row.copy()
                moved[column] = values[other]
                neighbours.append(moved)
    return np.array(neighbours) if neighbours else np.empty((0, len(row)))


# ---- How much is to be gained by a trial at a point? Expected improvement, in logarithms.
#
# Logarithms, since far from the best points the improvement itself is zero to any float, and a
# climb would have no slope to follow.


_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
_BOUND = 1.8  # standard deviations below the mean, as Vizier has it


@dataclass(frozen=True)
class Acquisition:
    """What a trial is worth by a process of the objective, and by one of feasibility if given."""

    process: GaussianProcess
    best: float  # to be improved on
    feasible: GaussianProcess | None = None
    kind: Literal["improvement", "bound"] = "improvement"

    def at(self, features: Array) -> Array:
        """The worth at every row; more is better."""
        mean, sd = self.process.predict(features)
        worth = _BOUND * sd - mean if self.kind == "bound" else improvement(self.best, mean, sd)
        if self.feasible is not None:
            worth = worth + log_probability(*self.feasible.predict(features))
        return worth

    def slope(self, point: Array) -> tuple[float, Array]:
        """The worth at one point, and its slope along every feature."""
        from scipy.special import log_ndtr

        mean, sd, mean_slope, sd_slope = self.process.predict_slopes(point)
        if self.kind == "bound":
            worth, slope = _BOUND * sd - mean, _BOUND * sd_slope - mean_slope
        else:
            z = (self.best - mean) / sd
            relative = float(_log_standard(np.array([z]))[0])  # log EI without its log sd
            worth = relative + math.log(sd)
            below = math.exp(min(float(log_ndtr(z)) - worth, 600.0))
            density = math.exp(min(-0.5 * z * z - _LOG_SQRT_2PI - worth, 600.0))
            slope = density * sd_slope - below * mean_slope
        if self.feasible is None:
            return worth, slope
        mean, sd, mean_slope, sd_slope = self.feasible.predict_slopes(point)
        root = math.sqrt(1.0 + sd * sd)
        z = mean / root
        log_probable = float(log_ndtr(z))
        ratio = math.exp(min(-0.5 * z * z - _LOG_SQRT_2PI - log_probable, 600.0))
        z_slope = mean_slope / root - mean * sd * sd_slope / root**3
        return worth + log_probable, slope + ratio * z_slope


def improvement(best: float, mean: Array, sd: Array) -> Array:
    """The logarithm of the expected improvement below `best`.

    >>> improvement(0.0, np.array([0.0, 40.0]), np.array([1.0, 1.0])).round(3).tolist()
    [-0.919, -808.299]
    """
    return np.asarray(np.log(sd) + _log_standard((best - mean) / sd))


def _log_standard(z: Array) -> Array:
    """log(phi(z) + z Phi(z)), exact far into the tail."""
    from scipy.special import erfcx, ndtr

    density = -0.5 * z * z - _LOG_SQRT_2PI
    high, low = np.maximum(z, -1.0), np.clip(z, -1e4, -1.0)
    near = np.log(np.exp(-0.5 * high * high - _LOG_SQRT_2PI) + high * ndtr(high))
    # phi + z Phi = phi (1 + z Phi / phi), and Phi / phi = sqrt(pi / 2) erfcx(-z / sqrt 2)
    tail = density + np.log1p(low * math.sqrt(math.pi / 2) * erfcx(-low / math.sqrt(2)))
    # where even 1 - z Phi/phi is rounded away: it is 1 / z^2 to first order
    far = density - 2.0 * np.log(np.maximum(-z, 1.0))
    return np.asarray(np.where(z > -1.0, near, np.where(z > -1e4, tail, far)))
