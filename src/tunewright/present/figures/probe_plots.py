"""Figures of probes: steps by batch size, steps to fit by learning rate, throughput by size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tunewright.design.ranges import Log
from tunewright.messages import Message
from tunewright.present.figures import style
from tunewright.present.figures.figure import Figure, above, nothing, words_of
from tunewright.present.figures.ticks import label_of, on_axis, set_scale, ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from tunewright.probes.critical_batch import CriticalBatch
    from tunewright.probes.throughput.size_answer import BatchSizes
    from tunewright.probes.train_steps import TrainSteps


# ---- how do the steps to a goal fall with the batch size? The studies of probes.critical_batch.
#
# A dashed line shows perfect scaling, the curve the fit, the shaded band where the critical batch
# size lies. Sizes that do not count are hollow.


@dataclass(frozen=True)
class ScalingPoint:
    """One batch size with its steps, and their tuning noise."""

    batch_size: int
    steps: float
    low: float
    high: float | None  # None: open
    valid: bool


@dataclass(frozen=True)
class BatchScalingData:
    """The sizes that reached the goal, and the fit where there is one."""

    metric: str
    goal: float | None
    points: tuple[ScalingPoint, ...]
    critical: float | None
    low: float | None
    high: float | None
    smallest_steps: float | None


def batch_scaling(answer: CriticalBatch) -> Figure[BatchScalingData]:
    """Steps to the goal by batch size, as `probes.critical_batch` found them.

    Args:
        answer: of `tw.probes.critical_batch`.
    """
    data = _batch_scaling_data(answer)
    return Figure("batch_scaling", data, caption=_caption(data), drawing=_draw_batch_scaling)


def _batch_scaling_data(answer: CriticalBatch) -> BatchScalingData:
    """What the figure shows."""
    points = tuple(
        ScalingPoint(s.batch_size, s.steps, s.low or s.steps, s.high, s.valid)
        for s in answer.sizes
        if s.steps is not None
    )
    return BatchScalingData(
        metric=answer.metric,
        goal=answer.goal,
        points=points,
        critical=answer.critical_batch_size,
        low=answer.low,
        high=answer.high,
        smallest_steps=answer.smallest_steps,
    )


def _caption(data: BatchScalingData) -> tuple[Message, ...]:
    if data.goal is None or not data.points:
        return (Message("figure.batch_scaling.nothing"),)
    steps = {point.batch_size: point.steps for point in data.points}
    facts = {"metric": data.metric, "goal": data.goal, "steps": steps, "critical": data.critical}
    return (Message("figure.batch_scaling", facts),)


def _draw_batch_scaling(canvas: Canvas, data: BatchScalingData) -> None:
    """Draw both axes logarithmic, so that perfect scaling is a straight line."""
    axes = canvas.subplots()
    if not data.points:
        nothing(axes, words_of("batch_scaling.nothing"))
        return
    sizes = np.array([p.batch_size for p in data.points], dtype=float)
    if data.critical is not None:
        axes.axvspan(
            data.low or sizes[0] / 2, data.high or sizes[-1] * 2, color=style.NOISE, alpha=0.3
        )
        label = words_of("label.critical")
        axes.axvline(data.critical, color=style.ACCENT, linewidth=1.2, label=label)
        if data.smallest_steps is not None:
            across = np.geomspace(sizes[0], sizes[-1], 60)
            fitted = data.smallest_steps * (1 + data.critical / across)
            axes.plot(across, fitted, color=style.BEST, linewidth=1.0, label=words_of("label.fit"))
    first = data.points[0]
    axes.plot(
        sizes,
        first.steps * first.batch_size / sizes,
        color=style.EDGE,
        linestyle="--",
        linewidth=0.9,
        label=words_of("label.perfect_scaling"),
    )
    for valid in (True, False):
        _draw_points(axes, [p for p in data.points if p.valid is valid], valid)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes, [str(p.batch_size) for p in data.points])
    axes.set_xticks([], minor=True)
    axes.set_xlim(sizes[0] / 1.4, sizes[-1] * 1.4)
    steps_range = Log(
        min(p.low for p in data.points) / 2, max(p.high or p.steps for p in data.points)
    )
    axes.set_ylim(steps_range.low, 1.2 * steps_range.high)
    marks = ticks(steps_range)
    axes.set_yticks([steps_range.value(mark.position) for mark in marks], [m.label for m in marks])
    axes.set_yticks([], minor=True)
    axes.grid(True, color=style.GRID, linewidth=0.6)
    axes.set_xlabel(words_of("label.batch_size"))
    goal = words_of("label.steps_to_goal", metric=data.metric, goal=data.goal)
    axes.set_ylabel(label_of(goal, 40))
    above(canvas, most=3)


def _draw_points(axes: Axes, points: Sequence[ScalingPoint], valid: bool) -> None:
    if not points:
        return
    x = [p.batch_size for p in points]
    down = [p.steps - min(p.low, p.steps) for p in points]
    up = [max(p.high or 3 * p.steps, p.steps) - p.steps for p in points]
    axes.errorbar(
        x,
        [p.steps for p in points],
        yerr=[down, up],
        fmt="o",
        color=style.BEST,
        markerfacecolor=style.BEST if valid else style.PAPER,
        markersize=6,
        capsize=3,
        linewidth=1.0,
        label=words_of("label.best_of_study" if valid else "label.not_counted"),
    )


# ---- how soon does each constant learning rate fit the training data? The sweep of
# probes.train_steps.
#
# Learning rates that did not fit stand on a rail above, infeasible ones as an X above that.


@dataclass(frozen=True)
class StepsToFitData:
    """Each learning rate with its steps, those that do not fit, and those that diverge."""

    criterion: str
    fits: tuple[tuple[float, float], ...]  # learning rate, steps
    too_slow: tuple[float, ...]  # learning rates
    infeasible: tuple[float, ...]
    fastest: float | None
    proposed: int | None  # max_train_steps


def steps_to_fit(answer: TrainSteps) -> Figure[StepsToFitData]:
    """Steps to a perfect fit by learning rate, as `probes.train_steps` found them.

    Args:
        answer: of `tw.probes.train_steps`.
    """
    data = _steps_to_fit_data(answer)
    return Figure(
        "steps_to_fit", data, caption=_steps_to_fit_caption(data), drawing=_draw_steps_to_fit
    )


def _steps_to_fit_data(answer: TrainSteps) -> StepsToFitData:
    """What the figure shows."""
    return StepsToFitData(
        str(answer.criterion),
        tuple((r.learning_rate, r.steps) for r in answer.rates if r.steps is not None),
        tuple(r.learning_rate for r in answer.rates if r.outcome == "does not fit"),
        tuple(r.learning_rate for r in answer.rates if r.outcome == "infeasible"),
        answer.learning_rate,
        answer.max_train_steps,
    )


def _steps_to_fit_caption(data: StepsToFitData) -> tuple[Message, ...]:
    facts = {
        "criterion": data.criterion,
        "tried": len(data.fits) + len(data.too_slow) + len(data.infeasible),
        "fit": len(data.fits),
        "infeasible": len(data.infeasible),
        "fastest": data.fastest,
        "steps": min((steps for _, steps in data.fits), default=None),
    }
    return (Message("figure.steps_to_fit", facts),)


def _draw_steps_to_fit(canvas: Canvas, data: StepsToFitData) -> None:
    """Draw the learning rates along a logarithmic axis, with two rails above."""
    axes = canvas.subplots()
    rates = [r for r, _ in data.fits] + [*data.too_slow, *data.infeasible]
    if not rates:
        nothing(axes, words_of("steps_to_fit.empty"))
        return
    if data.fits:
        x, y = zip(*data.fits, strict=True)
        axes.plot(x, y, color=style.FAINT, linewidth=1.0, zorder=1)
        axes.scatter(x, y, color=style.EDGE, s=34, zorder=3, label=words_of("label.fits"))
        best = [point for point in data.fits if point[0] == data.fastest]
        for rate, steps in best:
            axes.scatter(rate, steps, s=120, facecolor="none", edgecolor=style.BEST, linewidth=1.3)
    rail = axes.get_xaxis_transform()
    kinds = (
        (data.too_slow, "^", style.EDGE, 0.88, "too_slow"),
        (data.infeasible, "x", style.INFEASIBLE, 0.96, "infeasible"),
    )
    for rates_on_rail, marker, tint, height, code in kinds:
        if rates_on_rail:
            where, label = [height] * len(rates_on_rail), words_of(f"label.{code}")
            axes.scatter(
                rates_on_rail, where, marker=marker, color=tint, s=34, transform=rail, label=label
            )
    if data.proposed is not None:
        axes.axhline(data.proposed, color=style.ACCENT, linewidth=1.0, linestyle="--", zorder=2)
        axes.annotate(
            f"max_train_steps = {data.proposed}",
            (0.01, data.proposed),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            color=style.ACCENT,
            fontsize=8,
        )
    set_scale(axes, "x", rates)
    heights = [steps for _, steps in data.fits]
    if not heights:
        axes.set_yticks([])
    elif set_scale(axes, "y", heights):
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * (high / low) ** 0.2)  # room for the rails
    else:
        axes.set_ylim(0, 1.3 * max(*heights, data.proposed or 0))
    axes.grid(True, color=style.GRID, linewidth=0.6)
    axes.set_xlabel(words_of("label.constant_rate"))
    axes.set_ylabel(words_of("label.steps_to_fit"))
    axes.set_title(label_of(data.criterion, 60), loc="left")
    above(canvas)


# ---- throughput and time per step by batch size: where the knee is, and what a step waits for.
#
# Takes the answer of `probes.batch_size`.


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


def throughput(answer: BatchSizes) -> Figure[ThroughputData]:
    """Throughput and time per step of every batch size that was measured.

    Args:
        answer: of `tw.probes.batch_size`.
    """
    data = throughput_data(answer)
    return Figure("throughput", data, caption=_throughput_caption(data), drawing=_draw_throughput)


def throughput_data(answer: BatchSizes) -> ThroughputData:
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


def _throughput_caption(data: ThroughputData) -> tuple[Message, ...]:
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


def _draw_throughput(canvas: Canvas, data: ThroughputData) -> None:
    """Draw throughput on the left and time per step on the right, both on log scales."""
    left, right = canvas.subplots(1, 2)
    sizes = [point.batch_size for point in data.points]
    rates = [point.examples_per_s for point in data.points]
    first = data.points[0]
    left.plot(
        sizes,
        [first.examples_per_s * size / first.batch_size for size in sizes],
        color=style.FAINT,
        linestyle=":",
        label=words_of("label.proportional"),
    )
    errors = [
        [point.examples_per_s - point.low for point in data.points],
        [point.high - point.examples_per_s for point in data.points],
    ]
    measured = words_of("label.measured")
    left.errorbar(sizes, rates, errors, color=style.BEST, marker="o", capsize=3, label=measured)
    cached = [p for p in data.points if p.cached_examples_per_s is not None]
    if cached:
        left.plot(
            [point.batch_size for point in cached],
            [point.cached_examples_per_s or 0.0 for point in cached],
            color=style.ACCENT,
            marker="s",
            linestyle="--",
            label=words_of("label.cached"),
        )
    left.set_ylabel(words_of("label.examples_per_s"))
    left.set_ylim(min(rates) * 0.7, max(rates + [p.cached_examples_per_s or 0 for p in cached]) * 2)
    times = [point.time_per_step_s * 1e3 for point in data.points]
    right.plot(sizes, times, color=style.BEST, marker="o")
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
    axes.axvline(data.knee, color=style.EDGE, linestyle="--", linewidth=1)
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
    axes.grid(True, color=style.GRID, linewidth=0.6)
