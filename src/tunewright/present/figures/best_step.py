"""When was the best value reached? A histogram of the best step over all completed trials.

Early best steps show that training is longer than it needs to be or that trials overfit; best steps
at the very end show that it may be too short (playbook, "Deciding how long to train"). Judged by
the last value, a trial has no best step, and the figure is void.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tunewright.checks.best_step import best_steps
from tunewright.errors import NotFound
from tunewright.messages import Message
from tunewright.present.figures.figure import Figure, above, nothing, words_of
from tunewright.present.figures.palette import ACCENT, BEST, FAINT, GRID, PAPER
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
    """A histogram of the best step, with the best trials in a separate colour.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
    """
    data = best_step_data(results)
    goal = str(results.round.goal)
    return Figure("best_step", data, caption=_caption(data), goal=goal, drawing=draw_best_step)


def best_step_data(results: Results) -> BestStepData:
    """What the histogram shows; refuses an objective that is the last value."""
    if results.objective.at == "last":
        raise NotFound("plot.no_best_step", metric=results.objective.metric)
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


def _caption(data: BestStepData) -> tuple[Message, ...]:
    if not data.steps:
        return (Message("figure.best_step.nothing"),)
    counted = {"trials": len(data.steps), "metric": data.metric}
    said = [Message("figure.best_step", {**counted, "early": data.early, "late": data.late})]
    if data.proposed is not None:
        said.append(Message("figure.best_step.proposed", {"steps": data.proposed}))
    return tuple(said)


def draw_best_step(canvas: Canvas, data: BestStepData) -> None:
    """Draw the histogram over twentieths of training."""
    from matplotlib.ticker import MaxNLocator

    axes = canvas.subplots()
    if not data.steps:
        nothing(axes, words_of("best_step.nothing"))
        return
    edges = np.linspace(0, max(1, data.max_train_steps), BINS + 1)
    # the best ones in the same bins as all, and as wide
    every, best = (np.histogram(steps, edges)[0] for steps in (data.steps, data.top))
    how: dict[str, Any] = {"align": "edge", "width": np.diff(edges), "edgecolor": PAPER}
    axes.bar(edges[:-1], every, color=FAINT, label=words_of("label.all_completed"), **how)
    few = words_of("label.best_few", trials=len(data.top))
    axes.bar(edges[:-1], best, color=BEST, label=few, **how)
    if data.proposed is not None:
        axes.axvline(data.proposed, color=ACCENT, linestyle="--", linewidth=1.4)
        axes.annotate(
            words_of("best_step.enough", steps=data.proposed),
            (data.proposed, 1),
            (4, -2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            va="top",
            fontsize=8,
        )
    axes.set_xlabel(label_of(words_of("label.best_step", metric=data.metric), 60))
    axes.set_ylabel(words_of("label.trials"))
    axes.set_xlim(0, float(edges[-1]) * 1.01)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.xaxis.set_major_formatter(on_axis)
    axes.grid(True, axis="y", color=GRID, linewidth=0.6)
    above(canvas)
