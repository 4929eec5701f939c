"""How do the steps to a goal fall with the batch size? The studies of probes.critical_batch.

A dashed line shows perfect scaling, the curve the fit, the shaded band where the critical batch
size lies. Sizes that do not count are hollow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tunewright.design.ranges import Log
from tunewright.messages import Message
from tunewright.present.figures.figure import Figure, above, nothing, words_of
from tunewright.present.figures.palette import ACCENT, BEST, EDGE, GRID, NOISE, PAPER
from tunewright.present.figures.ticks import label_of, ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


class Size(Protocol):
    """One batch size."""

    @property
    def batch_size(self) -> int:
        """The batch size."""
        ...

    @property
    def steps(self) -> float | None:
        """The fewest steps to the goal."""
        ...

    @property
    def low(self) -> float | None:
        """The best of half the trials, 5 %."""
        ...

    @property
    def high(self) -> float | None:
        """The best of half the trials, 95 %."""
        ...

    @property
    def valid(self) -> bool:
        """Whether it counts."""
        ...


class Scaling(Protocol):
    """What the probe answers, as far as it is drawn."""

    @property
    def sizes(self) -> Sequence[Size]:
        """Every batch size."""
        ...

    @property
    def metric(self) -> str:
        """Of the goal."""
        ...

    @property
    def goal(self) -> float | None:
        """The goal."""
        ...

    @property
    def critical_batch_size(self) -> float | None:
        """The fitted one."""
        ...

    @property
    def low(self) -> float | None:
        """The lower end of its interval."""
        ...

    @property
    def high(self) -> float | None:
        """The upper end of its interval."""
        ...

    @property
    def smallest_steps(self) -> float | None:
        """What no size goes below."""
        ...


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


def batch_scaling(answer: Scaling) -> Figure[BatchScalingData]:
    """Steps to the goal by batch size, as `probes.critical_batch` found them.

    Args:
        answer: of `tw.probes.critical_batch`.
    """
    data = batch_scaling_data(answer)
    return Figure("batch_scaling", data, caption=_caption(data), drawing=draw_batch_scaling)


def batch_scaling_data(answer: Scaling) -> BatchScalingData:
    """What the figure shows."""
    points = tuple(
        ScalingPoint(s.batch_size, s.steps, s.low or s.steps, s.high, s.valid)
        for s in answer.sizes
        if s.steps is not None
    )
    return BatchScalingData(
        answer.metric,
        answer.goal,
        points,
        answer.critical_batch_size,
        answer.low,
        answer.high,
        answer.smallest_steps,
    )


def _caption(data: BatchScalingData) -> tuple[Message, ...]:
    if data.goal is None or not data.points:
        return (Message("figure.batch_scaling.nothing"),)
    steps = {point.batch_size: point.steps for point in data.points}
    facts = {"metric": data.metric, "goal": data.goal, "steps": steps, "critical": data.critical}
    return (Message("figure.batch_scaling", facts),)


def draw_batch_scaling(canvas: Canvas, data: BatchScalingData) -> None:
    """Draw both axes logarithmic, so that perfect scaling is a straight line."""
    axes = canvas.subplots()
    if not data.points:
        nothing(axes, words_of("batch_scaling.nothing"))
        return
    sizes = np.array([p.batch_size for p in data.points], dtype=float)
    if data.critical is not None:
        axes.axvspan(data.low or sizes[0] / 2, data.high or sizes[-1] * 2, color=NOISE, alpha=0.3)
        label = words_of("label.critical")
        axes.axvline(data.critical, color=ACCENT, linewidth=1.2, label=label)
        if data.smallest_steps is not None:
            across = np.geomspace(sizes[0], sizes[-1], 60)
            fitted = data.smallest_steps * (1 + data.critical / across)
            axes.plot(across, fitted, color=BEST, linewidth=1.0, label=words_of("label.fit"))
    first = data.points[0]
    axes.plot(
        sizes,
        first.steps * first.batch_size / sizes,
        color=EDGE,
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
    shown = Log(min(p.low for p in data.points) / 2, max(p.high or p.steps for p in data.points))
    axes.set_ylim(shown.low, 1.2 * shown.high)
    marks = ticks(shown)
    axes.set_yticks([shown.value(mark.position) for mark in marks], [m.label for m in marks])
    axes.set_yticks([], minor=True)
    axes.grid(True, color=GRID, linewidth=0.6)
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
        color=BEST,
        markerfacecolor=BEST if valid else PAPER,
        markersize=6,
        capsize=3,
        linewidth=1.0,
        label=words_of("label.best_of_study" if valid else "label.not_counted"),
    )
