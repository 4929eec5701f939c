"""Training curves of the best few trials of each study, training and validation paired.

Playbook, "Examining the training curves": look at least at the best trials before believing them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tunewright.present.figures.figure import Figure, nothing
from tunewright.present.figures.palette import GRID, INFEASIBLE, colour
from tunewright.present.figures.scale import set_scale
from tunewright.present.figures.ticks import label_of, number, on_axis
from tunewright.store.curves import Curve
from tunewright.store.results import Results
from tunewright.store.trial import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FEW = 5  # trials of a study
STUDIES = 4  # drawn side by side; the best ones when there are more
POINTS = 400  # of a drawn curve
VEILED: dict[str, Any] = {"frameon": True, "edgecolor": "none", "framealpha": 0.8}


@dataclass(frozen=True)
class TrialCurves:
    """One trial: the objective's curve, and the losses that go with it."""

    trial: int | str | None
    value: float | None  # the objective
    best_step: int | None
    judged: Curve | None  # the objective's metric
    train_loss: Curve | None
    valid_loss: Curve | None  # None where it is the objective itself
    diverged_at: int | None  # the first step at which one of them was not finite


@dataclass(frozen=True)
class StudyCurves:
    """The trials shown of one study, best first."""

    study: str
    trials: tuple[TrialCurves, ...]


@dataclass(frozen=True)
class CurvesData:
    """The studies shown, best first when some are left out."""

    metric: str
    train_loss: str  # how the workload spells it
    valid_loss: str
    studies: tuple[StudyCurves, ...]
    left_out: int  # studies there was no room for

    @property
    def has_losses(self) -> bool:
        """Whether any trial logged a training loss beside the objective."""
        return any(t.train_loss is not None for study in self.studies for t in study.trials)


def curves(
    results: Results, best: int = FEW, trials: Sequence[int] | None = None
) -> Figure[CurvesData]:
    """The curves of the `best` few trials per study, or of the `trials` with these numbers."""
    data = curves_data(results, best, trials)
    across = max(1, len(data.studies))
    size = (1.2 + max(2.9 * across, 4.2), 2.7 + (2.3 if data.has_losses else 0.0))
    return Figure("curves", data, _says(data), size, drawing=draw_curves)


def curves_data(
    results: Results, best: int = FEW, trials: Sequence[int] | None = None
) -> CurvesData:
    """What the figure of training curves shows."""
    chosen: dict[int, list[Trial]] = {}
    if trials is not None:
        for number_ in trials:
            trial = results.trial(number_)
            chosen.setdefault(trial.study, []).append(trial)
    else:
        for trial in results.top(len(results.trials)):  # studies in the order of their best
            chosen.setdefault(trial.study, []).append(trial)
        for trial in results.trials:  # where no trial completed, how they went wrong
            if trial.status == "infeasible" and trial.study not in chosen:
                chosen[trial.study] = [
                    t for t in results.of(trial.study) if t.status == "infeasible"
                ]
        chosen = {study: ranked[:best] for study, ranked in chosen.items()}
    shown = sorted(list(chosen)[:STUDIES])
    meaning = results.meaning
    return CurvesData(
        results.objective.metric,
        meaning.name("train_loss"),
        meaning.name("valid_loss"),
        tuple(
            StudyCurves(
                results.studies[study].label, tuple(_curves(results, t) for t in chosen[study])
            )
            for study in shown
        ),
        max(0, len(chosen) - STUDIES),
    )


def _curves(results: Results, trial: Trial) -> TrialCurves:
    metric = results.objective.metric
    names = [metric, *(results.meaning.name(m) for m in ("train_loss", "valid_loss"))]
    found = {name: trial.curves.only(name) for name in names}
    steps = [
        int(curve.steps[np.argmin(np.isfinite(curve.values))])
        for curve in found.values()
        if curve is not None and not np.isfinite(curve.values).all()
    ]
    judged, train, valid = (found[name] for name in names)
    return TrialCurves(
        trial.shown_number,
        trial.value,
        trial.best_step,
        judged,
        None if names[1] == metric else train,
        None if names[2] == metric else valid,
        min(steps, default=None),
    )


def _says(data: CurvesData) -> str:
    if not data.studies:
        return "No trial has logged a curve yet."
    said = [f"Training curves of the best trials: {data.metric}"]
    if data.has_losses:
        said[0] += f" above, {data.train_loss} of the same trials in the same colours below"
    said[0] += ". Dots mark the best step."
    for study in data.studies:
        others = ", ".join(str(t.trial) for t in study.trials[1:])
        then = f", then {others}" if others else ""
        said.append(f"{study.study}: trial {_outcome(study.trials[0])}{then}.")
    if data.left_out:
        said.append(f"{data.left_out} studies with worse trials are left out.")
    return " ".join(said)


def _outcome(trial: TrialCurves) -> str:
    if trial.value is not None:
        return f"{trial.trial} ({number(trial.value)} at step {trial.best_step})"
    if trial.diverged_at is not None:
        return f"{trial.trial} (not finite from step {trial.diverged_at})"
    return f"{trial.trial} (no value)"


def draw_curves(canvas: Canvas, data: CurvesData) -> None:
    """Draw one column of panels per study: the objective above, the losses below."""
    rows = 2 if data.has_losses else 1
    grid = canvas.subplots(
        rows, max(1, len(data.studies)), sharey="row", sharex=True, squeeze=False
    )
    for column, study in enumerate(data.studies):
        upper, lower = grid[0, column], grid[rows - 1, column]
        upper.set_title(label_of(study.study, 36), loc="left")
        for rank, trial in enumerate(study.trials):
            shade, width = colour(rank), 1.8 if rank == 0 else 1.1
            words = (
                f"{trial.trial}"
                if trial.value is None
                else (f"{trial.trial}: {number(trial.value)}")
            )
            _line(upper, trial.judged, shade, width, label=words)
            if trial.best_step is not None and trial.value is not None:
                upper.plot(
                    trial.best_step,
                    trial.value,
                    "o",
                    color=shade,
                    markersize=6,
                    markeredgecolor="white",
                    markeredgewidth=0.8,
                    zorder=5,
                )
            if rows == 2:
                _line(lower, trial.train_loss, shade, width)
                _line(lower, trial.valid_loss, shade, width, style=(0, (3, 2)))
        lower.set_xlabel("step")
        if study.trials:
            upper.legend(title="trial", loc="best", title_fontsize=8, handlelength=1.2, **VEILED)
    for row, named in zip(grid, (data.metric, _losses(data)), strict=False):
        row[0].set_ylabel(label_of(named, 36))
        drawn = [np.asarray(line.get_ydata(), float) for axes in row for line in axes.lines]
        set_scale(row[0], "y", np.concatenate(drawn or [np.zeros(0)]))
        for axes in row:
            axes.grid(True, color=GRID, linewidth=0.6)
            axes.xaxis.set_major_formatter(on_axis)
            axes.locator_params(axis="x", nbins=5)
    if not data.studies:
        nothing(grid[0, 0], "no curve logged yet")


def _losses(data: CurvesData) -> str:
    dashed = any(t.valid_loss is not None for study in data.studies for t in study.trials)
    return f"{data.train_loss} (dashed: {data.valid_loss})" if dashed else data.train_loss


def _line(
    axes: Axes,
    curve: Curve | None,
    shade: str,
    width: float,
    style: str | tuple[int, tuple[int, int]] = "-",
    label: str | None = None,
) -> None:
    """A curve up to where it stops being finite, which one X marks."""
    if curve is None or not len(curve):
        return
    finite = np.isfinite(curve.values)
    end = len(curve) if finite.all() else int(np.argmin(finite))
    drawn = thinned(Curve(curve.steps[:end], curve.values[:end]))
    axes.plot(drawn.steps, drawn.values, color=shade, linewidth=width, linestyle=style, label=label)
    if end < len(curve):
        level = drawn.values[-1] if end else 0.0
        axes.plot(
            curve.steps[end],
            level,
            "x",
            color=INFEASIBLE,
            markersize=9,
            markeredgewidth=2,
            zorder=6,
        )


def thinned(curve: Curve, points: int = POINTS) -> Curve:
    """A curve of at most so many points that keeps the lowest and highest of each stretch.

    >>> import numpy as np
    >>> spiky = Curve(np.arange(10_000), np.where(np.arange(10_000) == 5_123, 9.0, 1.0))
    >>> kept = thinned(spiky)
    >>> len(kept) <= POINTS, float(kept.values.max()), int(kept.steps[-1])
    (True, 9.0, 9999)
    """
    if len(curve) <= points:
        return curve
    edges = np.linspace(0, len(curve), points // 2).astype(np.int64)
    kept = {0, len(curve) - 1}
    for first, last in itertools.pairwise(edges):
        stretch = curve.values[first:last]
        kept |= {int(first + stretch.argmin()), int(first + stretch.argmax())}
    rows = np.array(sorted(kept))
    return Curve(curve.steps[rows], curve.values[rows])
