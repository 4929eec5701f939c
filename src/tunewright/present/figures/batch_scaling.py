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
from tunewright.present.figures.figure import Figure, nothing
from tunewright.present.figures.palette import EDGE, GRID, colour
from tunewright.present.figures.ticks import label_of, number, ticks

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
    """One batch size with its steps, and what tuning luck makes of them."""

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
    """Steps to the goal by batch size, as `probes.critical_batch` found them."""
    data = batch_scaling_data(answer)
    return Figure("batch_scaling", data, _says(data), (5.6, 3.6), drawing=draw_batch_scaling)


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


def _says(data: BatchScalingData) -> str:
    if data.goal is None or not data.points:
        return "No batch size reached the goal."
    shown = ", ".join(f"{p.batch_size}: {number(float(f'{p.steps:.3g}'))}" for p in data.points)
    text = f"Steps to {data.metric} {number(data.goal)} by batch size ({shown})"
    if data.critical is not None:
        text += f"; critical batch size about {number(float(f'{data.critical:.2g}'))}"
    return text + "."


def draw_batch_scaling(canvas: Canvas, data: BatchScalingData) -> None:
    """Draw both axes logarithmic, so that perfect scaling is a straight line."""
    axes = canvas.subplots()
    if not data.points:
        nothing(axes, "no batch size reached the goal")
        return
    sizes = np.array([p.batch_size for p in data.points], dtype=float)
    if data.critical is not None:
        axes.axvspan(
            data.low or sizes[0] / 2, data.high or sizes[-1] * 2, color=colour(1), alpha=0.15
        )
        axes.axvline(data.critical, color=colour(1), linewidth=1.2, label="critical batch size")
        if data.smallest_steps is not None:
            across = np.geomspace(sizes[0], sizes[-1], 60)
            fitted = data.smallest_steps * (1 + data.critical / across)
            axes.plot(across, fitted, color=colour(0), linewidth=1.0, label="fit")
    first = data.points[0]
    axes.plot(
        sizes,
        first.steps * first.batch_size / sizes,
        color=EDGE,
        linestyle="--",
        linewidth=0.9,
        label="perfect scaling",
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
    axes.set_xlabel("batch size")
    goal = "" if data.goal is None else f" {number(data.goal)}"
    axes.set_ylabel(label_of(f"steps to {data.metric}{goal}", 40))
    axes.legend(loc="lower left")


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
        color=colour(0),
        markerfacecolor=colour(0) if valid else "white",
        markersize=6,
        capsize=3,
        linewidth=1.0,
        label="best of the study" if valid else "does not count",
    )
