"""A scientific range in equal-count buckets: the best of each, beside what chance would do.

Three values as a list tell far more than a range does; this shows what can be shown of one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tunewright.checks.positions import axes as searched_axes, settled
from tunewright.design.ranges import Range
from tunewright.present.figures.palette import BEST, EDGE, FAINT, colour
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


def trend(found: Buckets) -> str:
    """What the buckets tell, in words."""
    counted = len(found.values)
    if not found.buckets:
        return f"{counted} completed trials are too few for buckets; a list of values tells more."
    cut = f"{counted} completed trials in {len(found.buckets)} buckets."
    if found.p is None:
        return f"{cut} Too few to call a trend; a list of values tells far more."
    words = "Their bests follow it" if found.p <= 0.05 else "No trend beyond tuning luck"
    return f"{cut} {words} (p {found.p:.2g})."


def draw_buckets(axes: Axes, found: Buckets) -> None:
    """Draw the trials, the best of each bucket, and the band of tuning luck."""
    for end in (0.0, 1.0):
        axes.axvline(end, color=EDGE, linewidth=1.0, linestyle=(0, (4, 3)))
    axes.plot(found.positions, found.values, "o", color=FAINT, markersize=3, label="trials")
    for place, bucket in enumerate(found.buckets):
        _draw_bucket(axes, bucket, first=place == 0)
    marks = ticks(found.range)
    axes.set_xticks([tick.position for tick in marks], [tick.label for tick in marks])
    axes.set_xlim(-0.04, 1.04)
    axes.set_xlabel(label_of(found.name, 60))
    near = [v for b in found.buckets for v in (b.best, *b.band)]
    if near:
        low, high = min(near), max(near)
        room = (high - low) or 0.1 * abs(high) or 1.0
        worse, better = 1.2 * room, 0.25 * room
        up, down = (worse, better) if found.minimize else (better, worse)
        axes.set_ylim(low - down, high + up)


def _draw_bucket(axes: Axes, bucket: Bucket, first: bool) -> None:
    axes.fill_between(
        [bucket.low, bucket.high],
        *bucket.band,
        color=colour(4),
        alpha=0.4,
        linewidth=0,
        label="tuning luck (no effect at all)" if first else None,
    )
    axes.plot(
        [bucket.low, bucket.high],
        [bucket.best] * 2,
        color=BEST,
        linewidth=2,
        label="best of the bucket" if first else None,
    )
    axes.annotate(
        f"{bucket.trials}",
        ((bucket.low + bucket.high) / 2, bucket.best),
        (0, -10),
        textcoords="offset points",
        ha="center",
        fontsize=7,
    )
