"""A scientific range in equal-count buckets: the best of each, next to what chance would do.

Three values as a list show far more than a range does; this shows what can be shown of one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tunewright.checks.positions import axes as searched_axes, settled
from tunewright.design.ranges import Range
from tunewright.messages import Message
from tunewright.present.figures.figure import words_of
from tunewright.present.figures.palette import BEST, EDGE, FAINT, NOISE
from tunewright.present.figures.scale import LARGEST, drawable, extent
from tunewright.present.figures.ticks import label_of, ticks
from tunewright.stats.buckets import Bucket, contrast
from tunewright.store.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Buckets:
    """A scientific range: every completed trial, and the best of equal-count buckets of them."""

    name: str
    range: Range
    minimize: bool
    positions: npt.NDArray[np.float64]  # on the declared scale, in the unit interval
    values: npt.NDArray[np.float64]
    buckets: tuple[Bucket, ...]  # in the objective's own direction; none with too few trials
    p: float | None  # of a trend of the bests; None: too few buckets to call one


def buckets(results: Results, name: str, searched: Range) -> Buckets:
    """The trials of all studies along a scientific range, in buckets where there are enough."""
    sign = -results.objective.sign
    found = [
        axis
        for own in settled(results)
        for axis in searched_axes(results, own)
        if axis.name == name
    ]
    positions = np.concatenate([axis.units[axis.feasible] for axis in found])
    losses = np.concatenate([axis.losses[axis.feasible] for axis in found])
    sane = np.abs(losses) <= LARGEST  # averages of larger ones overflow
    positions, losses = positions[sane], losses[sane]
    cut = contrast(positions, losses)
    made = tuple(
        replace(b, best=sign * b.best, band=ordered(sign * b.band[0], sign * b.band[1]))
        for b in (cut.buckets if cut else ())
    )
    p = cut.p if cut else None
    down = results.objective.minimize
    return Buckets(name, searched, down, positions, sign * losses, made, p)


def ordered(a: float, b: float) -> tuple[float, float]:
    """The two ends of an interval, the lower first."""
    return (a, b) if a <= b else (b, a)


def trend(found: Buckets) -> Message:
    """The caption of the buckets."""
    counted = {"trials": len(found.values), "buckets": len(found.buckets), "p": found.p}
    return Message("figure.isolation.trend", counted)


def draw_buckets(axes: Axes, found: Buckets) -> None:
    """Draw the trials, the best of each bucket, and the band of what chance would do."""
    for end in (0.0, 1.0):
        axes.axvline(end, color=EDGE, linewidth=1.0, linestyle=(0, (4, 3)))
    look: dict[str, Any] = {"color": FAINT, "markersize": 3, "label": words_of("label.trials")}
    axes.plot(found.positions, drawable(found.values), "o", **look)
    for place, bucket in enumerate(found.buckets):
        _draw_bucket(axes, bucket, first=place == 0)
    marks = ticks(found.range)
    axes.set_xticks([tick.position for tick in marks], [tick.label for tick in marks])
    axes.set_xlim(-0.04, 1.04)
    axes.set_xlabel(label_of(found.name, 60))
    near = [v for b in found.buckets for v in (b.best, *b.band)]
    if near:
        low, high = extent(near)
        room = high - low
        worse, better = 1.2 * room, 0.25 * room
        up, down = (worse, better) if found.minimize else (better, worse)
        axes.set_ylim(low - down, high + up)


def _draw_bucket(axes: Axes, bucket: Bucket, first: bool) -> None:
    axes.fill_between(
        [bucket.low, bucket.high],
        *bucket.band,
        color=NOISE,
        alpha=0.4,
        linewidth=0,
        label=words_of("label.no_effect") if first else None,
    )
    axes.plot(
        [bucket.low, bucket.high],
        [bucket.best] * 2,
        color=BEST,
        linewidth=2,
        label=words_of("label.best_of_bucket") if first else None,
    )
    axes.annotate(
        f"{bucket.trials}",
        ((bucket.low + bucket.high) / 2, bucket.best),
        (0, -10),
        textcoords="offset points",
        ha="center",
        fontsize=7,
    )
