"""Throughput and time per step by batch size: where the knee is, and what a step waits for.

Takes the answer of `probes.batch_size`, or anything with its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tunewright.messages import Message
from tunewright.present.figures.figure import Figure, above, words_of
from tunewright.present.figures.palette import ACCENT, BEST, EDGE, FAINT, GRID
from tunewright.present.figures.ticks import on_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


class ThroughputAnswer(Protocol):
    """What the figure needs of a batch-size probe's answer."""

    @property
    def rows(self) -> Sequence[Any]:
        """The sizes measured: `.rate`, `.cached_rate`, `.timing`."""
        ...

    @property
    def knee(self) -> int:
        """The size beyond which a larger one gains little."""
        ...

    @property
    def largest(self) -> Any:
        """The largest size that fits: `.batch_size`."""
        ...


@dataclass(frozen=True)
class ThroughputPoint:
    """One batch size."""

    batch_size: int
    examples_per_s: float
    low: float  # 95 % interval
    high: float
    time_per_step_s: float
    cached_examples_per_s: float | None  # on one batch again and again


@dataclass(frozen=True)
class ThroughputData:
    """What the figure shows."""

    points: tuple[ThroughputPoint, ...]  # smallest first
    knee: int
    largest: int  # that fits


def throughput(answer: ThroughputAnswer) -> Figure[ThroughputData]:
    """Throughput and time per step of every batch size that was measured.

    Args:
        answer: of `tw.probes.batch_size`.
    """
    data = throughput_data(answer)
    return Figure("throughput", data, caption=_caption(data), drawing=draw_throughput)


def throughput_data(answer: ThroughputAnswer) -> ThroughputData:
    """What the figure shows, as data."""
    points = tuple(
        ThroughputPoint(
            row.rate.batch_size,
            row.rate.examples_per_s,
            row.rate.low,
            row.rate.high,
            row.timing.time_per_step_s,
            None if row.cached_rate is None else row.cached_rate.examples_per_s,
        )
        for row in answer.rows
    )
    return ThroughputData(points, answer.knee, answer.largest.batch_size)


def _caption(data: ThroughputData) -> tuple[Message, ...]:
    first, best = data.points[0], next(p for p in data.points if p.batch_size == data.knee)
    facts = {
        "sizes": len(data.points),
        "first": first.batch_size,
        "first_rate": first.examples_per_s,
        "knee": data.knee,
        "knee_rate": best.examples_per_s,
        "largest": data.largest,
    }
    return (Message("figure.throughput", facts),)


def draw_throughput(canvas: Canvas, data: ThroughputData) -> None:
    """Draw throughput on the left and time per step on the right, both on log scales."""
    left, right = canvas.subplots(1, 2)
    sizes = [point.batch_size for point in data.points]
    rates = [point.examples_per_s for point in data.points]
    first = data.points[0]
    left.plot(
        sizes,
        [first.examples_per_s * size / first.batch_size for size in sizes],
        color=FAINT,
        linestyle=":",
        label=words_of("label.proportional"),
    )
    errors = [
        [point.examples_per_s - point.low for point in data.points],
        [point.high - point.examples_per_s for point in data.points],
    ]
    measured = words_of("label.measured")
    left.errorbar(sizes, rates, errors, color=BEST, marker="o", capsize=3, label=measured)
    cached = [p for p in data.points if p.cached_examples_per_s is not None]
    if cached:
        left.plot(
            [point.batch_size for point in cached],
            [point.cached_examples_per_s or 0.0 for point in cached],
            color=ACCENT,
            marker="s",
            linestyle="--",
            label=words_of("label.cached"),
        )
    left.set_ylabel(words_of("label.examples_per_s"))
    left.set_ylim(min(rates) * 0.7, max(rates + [p.cached_examples_per_s or 0 for p in cached]) * 2)
    times = [point.time_per_step_s * 1e3 for point in data.points]
    right.plot(sizes, times, color=BEST, marker="o")
    right.set_ylabel(words_of("label.ms_per_step"))
    for axes in (left, right):
        _batch_axis(axes, data)
    above(canvas, most=3)


def _narrow(data: ThroughputData) -> bool:
    """Whether no round power of ten may lie among the values, so that other ticks need labels."""
    rates = [point.examples_per_s for point in data.points]
    return max(rates) < 10 * min(rates)


def _batch_axis(axes: Axes, data: ThroughputData) -> None:
    from matplotlib.ticker import NullFormatter

    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel(words_of("label.batch_size"))
    axes.axvline(data.knee, color=EDGE, linestyle="--", linewidth=1)
    axes.annotate(
        words_of("label.knee"),
        (data.knee, 1),
        (3, -2),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        va="top",
        fontsize=8,
    )
    axes.set_xticks([point.batch_size for point in data.points])
    axes.xaxis.set_major_formatter(on_axis)
    axes.yaxis.set_major_formatter(on_axis)
    axes.yaxis.set_minor_formatter(on_axis if _narrow(data) else NullFormatter())
    axes.grid(True, color=GRID, linewidth=0.6)
