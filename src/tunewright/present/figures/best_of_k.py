"""Have we sampled enough? The best of k trials, for every k up to the trials there are.

The playbook's figure 3 for the user's own studies: how the best would have come out with a smaller
budget, exactly, over every way to pick k of the completed trials.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tunewright.checks.positions import losses_of, settled
from tunewright.present.figures.figure import Figure, nothing
from tunewright.present.figures.palette import FAINT, GRID, colour
from tunewright.present.figures.scale import set_scale
from tunewright.present.figures.ticks import label_of, number, on_axis
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
    """Box plots of the best of k trials for each study."""
    data = best_of_k_data(results)
    across = min(max(len(data.studies), 1), STUDIES)
    size = (1.2 + max(2.7 * across, 3.6), 3.1 if data.studies else 0.8)
    return Figure("best_of_k", data, _says(data), size, drawing=draw_best_of_k)


def best_of_k_data(results: Results) -> BestOfKData:
    """What the figure shows."""
    sign = -results.objective.sign
    studies, adaptive = [], 0
    for own in settled(results):
        losses = losses_of(results, own.trials)
        values = losses[np.isfinite(losses)]
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


def _says(data: BestOfKData) -> str:
    adaptive = (
        f" {data.adaptive} trials of an adaptive search do not count: its later trials are better "
        "by design."
        if data.adaptive
        else ""
    )
    if not data.studies:
        what = "of a search laid out beforehand " if data.adaptive else ""
        return f"No trial {what}has completed: nothing can be said of smaller budgets.{adaptive}"
    said = []
    for study in data.shown:
        text = f"{study.study}: best of {study.completed} trials {number(study.budgets[-1].mean)}"
        if study.half is not None:
            text += (
                f"; half as many would have cost {number(float(f'{study.half:.2g}'))} on average"
            )
        said.append(text + ".")
    if len(data.studies) > STUDIES:
        said.append(f"{len(data.studies) - STUDIES} worse studies are not drawn.")
    if data.detect is not None:
        said.append(f"The round wants to see a difference of {number(data.detect)}.")
    return f"Best {data.metric} by number of trials. {' '.join(said)}{adaptive}"


def draw_best_of_k(canvas: Canvas, data: BestOfKData) -> None:
    """Draw a box for each budget: half of all ways to pick, and 90 % of them as whiskers."""
    shown = data.shown
    grid = canvas.subplots(1, max(1, len(shown)), sharey=True, squeeze=False)[0]
    for axes, study in zip(grid, shown, strict=False):
        boxes = [
            {"label": str(b.k), "whislo": q[0], "q1": q[1], "med": q[2], "q3": q[3], "whishi": q[4]}
            for b in study.budgets
            for q in (sorted(b.quantiles),)
        ]
        axes.bxp(
            boxes,
            showfliers=False,
            patch_artist=True,
            widths=0.6,
            boxprops={"facecolor": colour(4), "alpha": 0.5, "linewidth": 0.7},
            medianprops={"color": colour(0), "linewidth": 1.8},
            whiskerprops={"linewidth": 0.8},
            capprops={"linewidth": 0.8},
        )
        best = study.budgets[-1].mean
        if data.detect is not None:
            worse = best + data.detect if data.minimize else best - data.detect
            axes.axhspan(min(best, worse), max(best, worse), color=FAINT, alpha=0.4, zorder=0)
        axes.set_title(label_of(study.study, 34), loc="left")
        axes.set_xlabel("trials (k)")
        if len(boxes) > 8:
            axes.tick_params(axis="x", labelrotation=45)
        axes.grid(True, axis="y", color=GRID, linewidth=0.6)
    grid[0].set_ylabel(label_of(f"best {data.metric} of k", 36))
    grid[0].yaxis.set_major_formatter(on_axis)
    if not shown:
        nothing(grid[0], "no trial to count")
    elif data.minimize:
        set_scale(grid[0], "y", [q for s in shown for b in s.budgets for q in b.quantiles])
