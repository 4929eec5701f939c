"""Gradient norms: along training for the best trials, and as a histogram with its 90th percentile.

The percentile is where the playbook would begin to clip ("How to choose gradient clipping").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tunewright.errors import NotFound
from tunewright.messages import Message
from tunewright.present.figures.curves import thinned
from tunewright.present.figures.figure import Figure, above, words_of
from tunewright.present.figures.palette import FAINT, GRID, INFEASIBLE, MUTED, PAPER, shade
from tunewright.present.figures.scale import LARGEST, drawable, extent, is_wide, set_scale
from tunewright.present.figures.ticks import label_of, number, on_axis
from tunewright.store.curves import Curve
from tunewright.store.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FEW = 5
BINS = 24
PERCENTILE = 90  # playbook, "How to choose gradient clipping"


@dataclass(frozen=True)
class TrialNorms:
    """The gradient norm of one trial along its training."""

    trial: int | str | None
    curve: Curve  # as logged, up to the first value that is not finite
    ended_at: int | None  # the step of that value
    percentile: float  # the 90th of all its values


@dataclass(frozen=True)
class GradientNormData:
    """The gradient norms of the best trials, best first."""

    metric: str  # how the workload spells it
    trials: tuple[TrialNorms, ...]

    @property
    def clip_norm(self) -> float:
        """Where clipping might begin: the best trial's 90th percentile."""
        return self.trials[0].percentile


def gradient_norm(results: Results, best: int = FEW) -> Figure[GradientNormData]:
    """The gradient norm of the `best` trials by step, and the best one's histogram.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        best: how many trials.
    """
    data = gradient_norm_data(results, best)
    trials = [one.trial for one in data.trials]
    facts = {"metric": data.metric, "trials": trials, "clip_norm": data.clip_norm}
    said = (Message("figure.gradient_norm", facts),)
    goal = str(results.round.goal)
    return Figure("gradient_norm", data, caption=said, goal=goal, drawing=draw_gradient_norm)


def gradient_norm_data(results: Results, best: int = FEW) -> GradientNormData:
    """What the figure shows; refuses results without a gradient norm."""
    metric = results.meaning.name("gradient_norm")
    found = []
    for trial in results.top(best):
        curve = trial.curves.only(metric)
        finite = np.abs(curve.values) <= LARGEST if curve is not None else np.zeros(0, bool)
        if curve is not None and len(curve) and finite[0]:
            end = len(curve) if finite.all() else int(np.argmin(finite))
            kept = Curve(curve.steps[:end], curve.values[:end])
            ended = None if end == len(curve) else int(curve.steps[end])
            share = float(np.percentile(kept.values, PERCENTILE))
            found.append(TrialNorms(trial.shown_number, kept, ended, share))
    if not found:
        raise NotFound("plot.no_gradient_norm", round=results.round.name, metric=metric)
    return GradientNormData(metric, tuple(found))


def draw_gradient_norm(canvas: Canvas, data: GradientNormData) -> None:
    """Draw the norms by step on the left, the histogram on the right."""
    left, right = canvas.subplots(1, 2, width_ratios=(3, 2))
    for rank, trial in enumerate(data.trials):
        drawn = thinned(trial.curve)
        first = rank == 0
        width, order = (1.6, 3) if first else (0.9, 2)
        left.plot(
            drawn.steps,
            drawable(drawn.values),
            color=shade(rank),
            linewidth=width,
            label=words_of("label.trial", trial=trial.trial),
            zorder=order,
        )
        if trial.ended_at is not None:
            left.plot(trial.ended_at, drawn.values[-1], "x", color=INFEASIBLE, markersize=9)
    set_scale(left, "y", np.concatenate([t.curve.values for t in data.trials]))
    left.axhline(data.clip_norm, color=MUTED, linestyle="--", linewidth=1)
    left.set_xlabel(words_of("label.step"))
    left.set_ylabel(label_of(data.metric, 30))
    left.xaxis.set_major_formatter(on_axis)
    left.locator_params(axis="x", nbins=5)
    left.grid(True, color=GRID, linewidth=0.6)
    _draw_histogram(right, data)
    above(canvas, most=5)


def _draw_histogram(axes: Axes, data: GradientNormData) -> None:
    values = drawable(data.trials[0].curve.values)
    low, high = extent(values)
    spaced = np.geomspace if is_wide(values) else np.linspace
    axes.hist(values, spaced(low, high, BINS + 1).tolist(), color=FAINT, edgecolor=PAPER)
    set_scale(axes, "x", values)
    axes.axvline(data.clip_norm, color=MUTED, linestyle="--", linewidth=1)
    axes.annotate(
        words_of("gradient_norm.percentile", clip_norm=number(data.clip_norm)),
        (data.clip_norm, 1),
        (4, 2),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="right",
        fontsize=8,
    )
    facts = {"metric": data.metric, "trial": data.trials[0].trial}
    axes.set_xlabel(label_of(words_of("label.of_trial", **facts), 34))
    axes.set_ylabel(words_of("label.evaluations"))
