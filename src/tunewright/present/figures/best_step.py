"""When was the best value reached? A histogram of the best step over all completed trials.

Early best steps say that training is longer than it needs to be or that trials overfit; best steps
at the very end say that it may be too short (playbook, "Deciding how long to train").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tunewright.checks.best_step import best_steps
from tunewright.present.figures.figure import Figure, nothing
from tunewright.present.figures.palette import FAINT, GRID, colour
from tunewright.present.figures.ticks import label_of, on_axis
from tunewright.store.results import Results
from tunewright.store.trial import Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

BINS = 20


@dataclass(frozen=True)
class BestStepData:
    """The best step of every completed trial, and of the best of them."""

    metric: str
    max_train_steps: int  # the longest training, in steps as logged
    steps: tuple[int, ...]  # best trial first
    top: tuple[int, ...]  # of the best five, or the best tenth
    proposed: int | None  # a shorter max_train_steps, where half of the best were done early

    @property
    def late(self) -> float:
        """The share of trials whose best step lies in the last tenth of training."""
        return _share(step > 0.9 * self.max_train_steps for step in self.steps)

    @property
    def early(self) -> float:
        """The share of trials whose best step lies in the first half of training."""
        return _share(step <= 0.5 * self.max_train_steps for step in self.steps)


def best_step(results: Results) -> Figure[BestStepData]:
    """A histogram of the best step, with the best trials in a colour of their own."""
    data = best_step_data(results)
    return Figure(
        "best_step", data, _says(data), (6.0, 2.9 if data.steps else 0.8), drawing=draw_best_step
    )


def best_step_data(results: Results) -> BestStepData:
    """What the histogram shows."""
    ranked = results.top(len(results.trials))
    best = best_steps(results, ranked)
    found = [_best_and_last(results, trial) for trial in ranked]
    read = [pair for pair in found if pair is not None]
    return BestStepData(
        results.objective.metric,
        max((last for _, last in read), default=0),
        tuple(step for step, _ in read),
        best.steps,
        best.proposed,
    )


def _best_and_last(results: Results, trial: Trial) -> tuple[int, int] | None:
    """The best step, from the curve, so that it is known under an objective `at="last"` too."""
    curve = trial.curves.only(results.objective.metric)
    if curve is None or not np.isfinite(curve.values).any():
        return None
    losses = np.where(np.isfinite(curve.values), -results.objective.sign * curve.values, np.inf)
    return int(curve.steps[losses.argmin()]), int(curve.steps[-1])


def _share(found: Iterable[bool]) -> float:
    counted = list(found)
    return sum(counted) / len(counted) if counted else 0.0


def _says(data: BestStepData) -> str:
    if not data.steps:
        return "No trial has completed, so there is no best step yet."
    said = (
        f"Best step of {len(data.steps)} completed trials by {data.metric}: "
        f"{data.early:.0%} in the first half of training, {data.late:.0%} in its last tenth."
    )
    if data.proposed is not None:
        said += f" {data.proposed} steps would have been enough for the best trials."
    return said


def draw_best_step(canvas: Canvas, data: BestStepData) -> None:
    """Draw the histogram over twentieths of training."""
    from matplotlib.ticker import MaxNLocator

    axes = canvas.subplots()
    if not data.steps:
        nothing(axes, "no completed trial")
        return
    edges = np.linspace(0, max(1, data.max_train_steps), BINS + 1).tolist()
    axes.hist(data.steps, edges, color=FAINT, edgecolor="white", label="all completed trials")
    axes.hist(
        data.top,
        edges,
        color=colour(0),
        edgecolor="white",
        rwidth=0.6,
        label=f"the best {len(data.top)}",
    )
    if data.proposed is not None:
        axes.axvline(data.proposed, color=colour(1), linestyle="--", linewidth=1.4)
        axes.annotate(
            f"{data.proposed} would do",
            (data.proposed, 1),
            (4, -2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            va="top",
            fontsize=8,
        )
    axes.set_xlabel(label_of(f"step of the best {data.metric}", 60))
    axes.set_ylabel("trials")
    axes.set_xlim(0, edges[-1] * 1.01)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.xaxis.set_major_formatter(on_axis)
    axes.grid(True, axis="y", color=GRID, linewidth=0.6)
    canvas.legend(loc="outside upper left", ncols=2)
