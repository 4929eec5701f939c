"""Have we sampled enough? The best of k trials, for every k up to the trials there are.

The playbook's figure 3 for the user's own studies: how the best would have come out with a smaller
budget, exactly, over every way to pick k of the completed trials.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tunewright.checks.positions import losses_of, settled
from tunewright.messages import Message
from tunewright.present.figures.figure import (
    DOUBLE,
    HEIGHT,
    SINGLE,
    Figure,
    above,
    nothing,
    words_of,
)
from tunewright.present.figures.palette import BEST, FAINT, GRID, MUTED, NOISE
from tunewright.present.figures.scale import LARGEST, drawable, extent, set_scale
from tunewright.present.figures.ticks import label_of, on_axis
from tunewright.stats.best_of_k import BestOf, best_of, best_of_each
from tunewright.store.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

STUDIES = 4  # drawn side by side


@dataclass(frozen=True)
class StudyBudgets:
    """One study: the best of 1, 2, 3, 5, 8 ... of its completed trials."""

    study: str
    completed: int
    infeasible: int
    budgets: tuple[BestOf, ...]  # quantiles in the objective's own direction
    half: float | None  # what half as many trials would have cost on average


@dataclass(frozen=True)
class BestOfKData:
    """Every study with a completed trial, and the difference the round wants to see."""

    metric: str
    minimize: bool
    studies: tuple[StudyBudgets, ...]
    detect: float | None
    adaptive: int = 0  # trials that do not count: later ones of such a search are better by design

    @property
    def shown(self) -> tuple[StudyBudgets, ...]:
        """The studies there is room for: the best ones, in their order."""
        turned = 1.0 if self.minimize else -1.0
        ranked = sorted(self.studies, key=lambda study: turned * study.budgets[-1].mean)
        return tuple(study for study in self.studies if study in ranked[:STUDIES])


def best_of_k(results: Results) -> Figure[BestOfKData]:
    """Box plots of the best of k trials for each study.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
    """
    data = best_of_k_data(results)
    size = (SINGLE if len(data.studies) <= 2 else DOUBLE, HEIGHT)
    goal = str(results.round.goal)
    return Figure(
        "best_of_k", data, caption=_caption(data), size=size, goal=goal, drawing=draw_best_of_k
    )


def best_of_k_data(results: Results) -> BestOfKData:
    """What the figure shows."""
    sign = -results.objective.sign
    studies, adaptive = [], 0
    for own in settled(results):
        losses = losses_of(results, own.trials)
        values = losses[np.abs(losses) <= LARGEST]  # means of larger ones overflow
        adaptive += own.adaptive
        if len(values):
            budgets = tuple(_oriented(b, sign) for b in best_of_each(values))
            half = None
            if len(values) > 1:
                half = best_of(values, len(values) // 2).mean - float(values.min())
            infeasible = len(losses) - len(values)
            studies.append(StudyBudgets(own.study.label, len(values), infeasible, budgets, half))
    objective = results.objective
    return BestOfKData(
        objective.metric, objective.minimize, tuple(studies), results.round.detect, adaptive
    )


def _oriented(best: BestOf, sign: float) -> BestOf:
    return BestOf(best.k, sign * best.mean, best.sd, tuple(sign * q for q in best.quantiles))


def _caption(data: BestOfKData) -> tuple[Message, ...]:
    said = []
    for study in data.shown:
        facts = {"study": study.study, "trials": study.completed, "half": study.half}
        said.append(Message("figure.best_of_k.study", {**facts, "best": study.budgets[-1].mean}))
    if said:
        said.insert(0, Message("figure.best_of_k", {"metric": data.metric}))
    else:
        said.append(Message("figure.best_of_k.nothing", {"adaptive": data.adaptive}))
    if len(data.studies) > STUDIES:
        left = len(data.studies) - STUDIES
        said.append(Message("figure.best_of_k.left_out", {"studies": left}))
    if data.detect is not None and data.studies:
        said.append(Message("figure.best_of_k.detect", {"detect": data.detect}))
    if data.adaptive:
        said.append(Message("figure.adaptive", {"adaptive": data.adaptive}))
    return tuple(said)


def draw_best_of_k(canvas: Canvas, data: BestOfKData) -> None:
    """Draw a box for each budget: half of all ways to pick, and 90 % of them as whiskers."""
    shown = data.shown
    grid = canvas.subplots(1, max(1, len(shown)), sharey=True, squeeze=False)[0]
    for axes, study in zip(grid, shown, strict=False):
        boxes = [
            {"label": str(b.k), "whislo": q[0], "q1": q[1], "med": q[2], "q3": q[3], "whishi": q[4]}
            for b in study.budgets
            for q in (sorted(drawable(b.quantiles).tolist()),)
        ]
        axes.bxp(
            boxes,
            showfliers=False,
            patch_artist=True,
            widths=0.6,
            boxprops={"facecolor": NOISE, "alpha": 0.6, "linewidth": 0.7, "edgecolor": MUTED},
            medianprops={"color": BEST, "linewidth": 1.8},
            whiskerprops={"linewidth": 0.8, "color": MUTED},
            capprops={"linewidth": 0.8, "color": MUTED},
        )
        best = study.budgets[-1].mean
        if data.detect is not None:
            worse = best + data.detect if data.minimize else best - data.detect
            ends = sorted(drawable([best, worse]).tolist())
            wanted = words_of("label.detect")
            axes.axhspan(*ends, color=FAINT, alpha=0.4, zorder=0, label=wanted)
        axes.set_title(label_of(study.study, 34), loc="left")
        axes.set_xlabel(words_of("label.k"))
        if len(boxes) > 8:
            axes.tick_params(axis="x", labelrotation=45)
        axes.grid(True, axis="y", color=GRID, linewidth=0.6)
    grid[0].set_ylabel(label_of(words_of("label.best_of_k", metric=data.metric), 36))
    grid[0].yaxis.set_major_formatter(on_axis)
    if not shown:
        nothing(grid[0], words_of("best_of_k.empty"))
        return
    drawn = [q for s in shown for b in s.budgets for q in b.quantiles]
    if not (data.minimize and set_scale(grid[0], "y", drawn)):
        low, high = extent(drawn)
        grid[0].set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    above(canvas)
