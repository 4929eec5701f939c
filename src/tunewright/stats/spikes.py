"""Does a training loss jump and come back? A spike: higher than its past, and not by noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from tunewright.stats.noise import ROBUST, Floats

FEWEST = 60  # log points
LONGEST = 1000  # log points: more become means of neighbours, which is what should be tested
_JUMP = 0.1  # in the logarithm: a spike is at least 10 %
_SURE = 5.0  # robust standard deviations
_ASYMMETRY = 1.3  # upward excess over the largest downward one: heavy tails go both ways
_SMALLEST_SCALE = 0.003
_ROWS_AT_ONCE = 256  # keeps the windows in memory small


@dataclass(frozen=True)
class Spike:
    """One episode of a curve."""

    row: int
    first: int  # log point it begins at
    last: int
    height: float  # above the past, as a share: 1.0 is a doubling
    z: float


def spikes(losses: Floats) -> list[Spike]:
    """The spikes of training losses, one curve to a row, at least 60 log points each.

    Each point is compared with the median of those just before it, in units of the usual distance
    around there; two of three neighbouring points must stand out, so a lone outlier is none.
    """
    if losses.shape[1] < FEWEST:
        raise ValueError(f"{losses.shape[1]} log points: spikes need at least {FEWEST}")
    episodes: list[Spike] = []
    for start in range(0, len(losses), _ROWS_AT_ONCE):
        episodes += _spikes(losses[start : start + _ROWS_AT_ONCE], start)
    return episodes


def _spikes(losses: Floats, first_row: int) -> Iterator[Spike]:
    heights = _logarithm(losses)
    points = heights.shape[1]
    past = max(5, round(0.01 * points))
    above = _above_past(heights, past)
    scale = _local_scale(above)
    z = _two_of_three(above / scale)
    candidate = (z > _SURE) & (_two_of_three(above) > _JUMP)
    # what follows a spike falls: judge downward moves elsewhere, and after the steep beginning
    judged = ~_spread_forward(candidate, 3 * past + 3)
    judged[:, : int(0.15 * points)] = False
    usual = np.minimum(0.0, np.median(above, axis=1, keepdims=True))
    downward = np.where(judged, _two_of_three((usual - above) / scale), 0.0).max(axis=1)
    spiked = candidate & (z > _ASYMMETRY * np.maximum(downward, 0.0)[:, None])
    for row in np.flatnonzero(spiked.any(axis=1)):
        rise = np.expm1(above[row]) if (losses[row] > 0).all() else above[row]
        yield from _episodes(int(row) + first_row, spiked[row], z[row], rise, past)


def _logarithm(losses: Floats) -> Floats:
    """The logarithm of positive losses; others relative to their median size."""
    positive = (losses > 0).all(axis=1, keepdims=True)
    size = np.abs(np.median(losses, axis=1, keepdims=True)) + 1e-12
    return np.where(positive, np.log(np.maximum(losses, 1e-12)), losses / size)


def _above_past(heights: Floats, past: int) -> Floats:
    """How far each point is above the median of those before it; the first four do not count."""
    above = np.zeros_like(heights)
    above[:, past:] = heights[:, past:] - np.median(
        sliding_window_view(heights, past, axis=1)[:, :-1], axis=-1
    )
    for point in range(4, past):
        above[:, point] = heights[:, point] - np.median(heights[:, :point], axis=1)
    return above


def _local_scale(above: Floats) -> Floats:
    """The robust spread around each point, from up to 40 windows of a fifth of the curve."""
    points = above.shape[1]
    window = min(points, max(41, int(0.2 * points)))
    starts = np.unique(np.linspace(0, points - window, min(40, points - window + 1)).astype(int))
    inside = sliding_window_view(above, window, axis=1)[:, starts]
    centred = np.abs(inside - np.median(inside, axis=-1, keepdims=True))
    spread = ROBUST * np.median(centred, axis=-1)
    centres = starts + window / 2
    at = np.arange(points)
    scale = np.stack([np.interp(at, centres, row) for row in spread])
    return np.asarray(np.maximum(scale, _SMALLEST_SCALE))


def _two_of_three(values: Floats) -> Floats:
    """The second largest of each value and the two after it."""
    padded = np.pad(values, ((0, 0), (0, 2)), constant_values=-99.0)
    return np.asarray(np.sort(sliding_window_view(padded, 3, axis=1), axis=-1)[..., 1])


def _spread_forward(marks: npt.NDArray[np.bool_], by: int) -> npt.NDArray[np.bool_]:
    """Marks, each extended over the points that follow it, `by` in all."""
    counted = np.cumsum(np.pad(marks, ((0, 0), (by, 0))), axis=1)
    return np.asarray(counted[:, by:] > counted[:, :-by])


def _episodes(
    row: int, spiked: npt.NDArray[np.bool_], z: Floats, rise: Floats, past: int
) -> Iterator[Spike]:
    points = np.flatnonzero(spiked)
    for group in np.split(points, np.flatnonzero(np.diff(points) > past) + 1):
        yield Spike(
            row,
            int(group[0]),
            int(group[-1]),
            float(rise[group[0] : group[-1] + 3].max()),
            float(z[group].max()),
        )
