"""Training curves of the best few trials of each study, training and validation paired.

Playbook, "Examining the training curves": look at least at the best trials before believing them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tunewright.errors import NotFound
from tunewright.messages import Message
from tunewright.present.figures import style
from tunewright.present.figures.figure import Figure, above, nothing, words_of
from tunewright.present.figures.style import shade
from tunewright.present.figures.ticks import (
    LARGEST,
    drawable,
    extent,
    is_wide,
    label_of,
    number,
    on_axis,
    set_scale,
)
from tunewright.store.curves import Curve
from tunewright.store.results import Results
from tunewright.store.trial import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


_FEW = 5  # trials of a study
STUDIES = 4  # drawn side by side; the best ones when there are more
POINTS = 400  # of a drawn curve
_PRUNED_CURVES = 30  # of a study, the latest ones
_APART = 0.07  # of the height of a panel, between two numbers at its side


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
    pruned: tuple[Curve, ...] = ()  # the objective of trials stopped early, the latest ones
    stopped: int = 0  # how many were stopped early in all


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
    results: Results, best: int = _FEW, trials: Sequence[int] | None = None
) -> Figure[CurvesData]:
    """The curves of the `best` few trials per study, or of the `trials` with these numbers.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        best: how many trials of each study.
        trials: numbers of trials to show in their place.
    """
    data = curves_data(results, best, trials)
    width = style.SINGLE if len(data.studies) <= 2 else style.DOUBLE
    size = (width, style.HEIGHT + (0.6 if data.has_losses else 0.0))
    return Figure(
        "curves",
        data,
        caption=_caption(data),
        size=size,
        goal=str(results.round.goal),
        drawing=draw_curves,
    )


def curves_data(
    results: Results, best: int = _FEW, trials: Sequence[int] | None = None
) -> CurvesData:
    """What the figure of training curves shows."""
    chosen: dict[int, list[Trial]] = {}
    if trials is not None:
        for number_ in trials:
            trial = results.trial(number_)
            chosen.setdefault(trial.study, []).append(trial)
    else:
        for trial in results.top():  # studies in the order of their best
            chosen.setdefault(trial.study, []).append(trial)
        for trial in results.rows:  # where no trial completed, how they went wrong
            if trial.status == "infeasible" and trial.study not in chosen:
                chosen[trial.study] = [
                    t for t in results.rows_of(trial.study) if t.status == "infeasible"
                ]
        chosen = {study: ranked[:best] for study, ranked in chosen.items()}
    studies = sorted(list(chosen)[:STUDIES])
    meaning = results.meaning
    return CurvesData(
        results.objective.metric,
        meaning.name("train_loss"),
        meaning.name("valid_loss"),
        tuple(
            StudyCurves(
                results.studies[study].label,
                tuple(_curves(results, t) for t in chosen[study]),
                *_curves_of_pruned(results, study if trials is None else None),
            )
            for study in studies
        ),
        max(0, len(chosen) - STUDIES),
    )


def _curves_of_pruned(results: Results, study: int | None) -> tuple[tuple[Curve, ...], int]:
    """The curves of the trials of a study that were stopped early, and how many there are."""
    pruned = [
        t for t in (results.rows_of(study) if study is not None else ()) if t.status == "pruned"
    ]
    known = [t.curves.only(results.objective.metric) for t in pruned]
    kept = [curve for curve in known if curve is not None and len(curve)]
    return tuple(kept[-_PRUNED_CURVES:]), len(pruned)


def _curves(results: Results, trial: Trial) -> TrialCurves:
    metric = results.objective.metric
    names = [metric, *(results.meaning.name(m) for m in ("train_loss", "valid_loss"))]
    logged = {name: trial.curves.only(name) for name in names}
    steps = [
        int(curve.steps[np.argmin(_sane(curve))])
        for curve in logged.values()
        if curve is not None and not _sane(curve).all()
    ]
    judged, train, valid = (logged[name] for name in names)
    return TrialCurves(
        trial=trial.shown_number,
        value=trial.value,
        best_step=trial.best_step,
        judged=judged,
        train_loss=None if names[1] == metric else train,
        valid_loss=None if names[2] == metric else valid,
        diverged_at=min(steps, default=None),
    )


def _sane(curve: Curve) -> np.ndarray:
    """Which values can be drawn."""
    return np.isfinite(curve.values) & (np.abs(curve.values) <= LARGEST)


def _caption(data: CurvesData) -> tuple[Message, ...]:
    if not data.studies:
        return (Message("figure.curves.nothing"),)
    losses = data.train_loss if data.has_losses else None
    messages = [Message("figure.curves", {"metric": data.metric, "train_loss": losses})]
    for study in data.studies:
        first = study.trials[0]
        facts = {
            "study": study.study,
            "trial": first.trial,
            "value": first.value,
            "step": first.best_step,
            "diverged_at": first.diverged_at,
            "others": [trial.trial for trial in study.trials[1:]],
        }
        messages.append(Message("figure.curves.study", facts))
    if stopped := sum(study.stopped for study in data.studies):
        drawn = sum(len(study.pruned) for study in data.studies)
        messages.append(Message("figure.curves.pruned", {"pruned": stopped, "drawn": drawn}))
    if data.left_out:
        messages.append(Message("figure.curves.left_out", {"studies": data.left_out}))
    return tuple(messages)


def draw_curves(canvas: Canvas, data: CurvesData) -> None:
    """Draw one column of panels per study: the objective above, the losses below."""
    rows = 2 if data.has_losses else 1
    grid = canvas.subplots(
        rows, max(1, len(data.studies)), sharey="row", sharex=True, squeeze=False
    )
    for column, study in enumerate(data.studies):
        upper, lower = grid[0, column], grid[rows - 1, column]
        upper.set_title(label_of(study.study, 36), loc="left")
        _draw_pruned(upper, study.pruned, first=column == 0)
        for rank, trial in enumerate(study.trials):
            tint, width = shade(rank), 1.9 if rank == 0 else 1.2
            _line(upper, trial.judged, tint, width)
            best = drawable([np.nan if trial.value is None else trial.value])[0]
            if trial.best_step is not None and np.isfinite(best):
                upper.plot(
                    trial.best_step,
                    best,
                    "o",
                    color=tint,
                    markersize=6,
                    markeredgecolor=style.PAPER,
                    markeredgewidth=0.8,
                    zorder=5,
                )
            if rows == 2:
                _line(lower, trial.train_loss, tint, width)
                _line(lower, trial.valid_loss, tint, width, dashes=(0, (3, 2)))
        lower.set_xlabel(words_of("label.step"))
    for row, named in zip(grid, (data.metric, _losses(data)), strict=False):
        row[0].set_ylabel(label_of(named, 36))
        drawn = [np.asarray(line.get_ydata(), float) for axes in row for line in axes.lines]
        set_scale(row[0], "y", np.concatenate(drawn or [np.zeros(0)]))
        for axes in row:
            axes.grid(True, color=style.GRID, linewidth=0.6)
            axes.xaxis.set_major_formatter(on_axis)
            axes.locator_params(axis="x", nbins=5)
    for axes, study in zip(grid[0], data.studies, strict=False):
        _number(axes, study.trials)
    above(canvas)
    if not data.studies:
        nothing(grid[0, 0], words_of("curves.nothing"))


def _draw_pruned(axes: Axes, pruned: Sequence[Curve], first: bool) -> None:
    """Trials that were stopped early: thin lines that end in an upright bar."""
    for place, curve in enumerate(pruned):
        drawn = thin(curve)
        values = drawable(drawn.values)
        axes.plot(drawn.steps, values, color=style.PRUNED, linewidth=0.6, alpha=0.5, zorder=1)
        label = words_of("label.pruned") if first and place == 0 else None
        axes.plot(drawn.steps[-1:], values[-1:], "|", color=style.PRUNED, markersize=6, label=label)


def _number(axes: Axes, trials: Iterable[TrialCurves]) -> None:
    """The number of each trial at the side of its panel, at the height where its curve ends."""
    ends = []
    axes.get_ylim()  # final from here on
    for rank, trial in enumerate(trials):
        values = drawable(trial.judged.values) if trial.judged is not None else np.zeros(0)
        finite = values[np.isfinite(values)]
        if len(finite):
            height = axes.transData.transform((0.0, float(finite[-1])))
            ends.append((float(axes.transAxes.inverted().transform(height)[1]), rank, trial))
    ends.sort(key=lambda end: end[0])
    for at, (_, rank, trial) in zip(_spread([end[0] for end in ends]), ends, strict=True):
        value = "" if trial.value is None else f": {number(trial.value)}"
        axes.annotate(
            label_of(f"{trial.trial}{value}", 22),
            (1.0, at),
            (4, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=shade(rank),
            fontweight="bold" if rank == 0 else "normal",
        )


def _spread(heights: Sequence[float]) -> list[float]:
    """Rising heights moved apart until no two numbers cover each other.

    >>> [round(x, 2) for x in _spread([0.1, 0.11, 0.5])]
    [0.1, 0.17, 0.5]
    """
    kept: list[float] = []
    for height in heights:
        lowest = kept[-1] + _APART if kept else 0.0
        kept.append(max(min(max(height, 0.0), 1.0), lowest))
    over = max(0.0, kept[-1] - 1.0) if kept else 0.0
    return [height - over for height in kept]


def _losses(data: CurvesData) -> str:
    dashed = any(t.valid_loss is not None for study in data.studies for t in study.trials)
    facts = {"train_loss": data.train_loss, "valid_loss": data.valid_loss if dashed else None}
    return words_of("label.losses", **facts)


def _line(
    axes: Axes,
    curve: Curve | None,
    tint: str,
    width: float,
    dashes: str | tuple[int, tuple[int, int]] = "-",
) -> None:
    """A curve up to where it stops being finite, which one X marks."""
    if curve is None or not len(curve):
        return
    sane = _sane(curve)
    end = len(curve) if sane.all() else int(np.argmin(sane))
    known = None if curve.sd is None else curve.sd[:end]
    drawn = thin(Curve(curve.steps[:end], curve.values[:end], known))
    axes.plot(drawn.steps, drawable(drawn.values), color=tint, linewidth=width, linestyle=dashes)
    if drawn.sd is not None:  # two standard deviations of the measurement
        low, high = drawn.values - 2 * drawn.sd, drawn.values + 2 * drawn.sd
        known_sd = np.isfinite(drawn.sd)
        axes.fill_between(
            drawn.steps, low, high, where=known_sd, color=tint, alpha=0.12, linewidth=0, zorder=0
        )
    if end < len(curve):
        level = drawn.values[-1] if end else 0.0
        axes.plot(
            curve.steps[end],
            level,
            "x",
            color=style.INFEASIBLE,
            markersize=9,
            markeredgewidth=2,
            zorder=6,
        )


def thin(curve: Curve, points: int = POINTS) -> Curve:
    """A curve of at most so many points that keeps the lowest and highest of each stretch.

    >>> import numpy as np
    >>> spiky = Curve(np.arange(10_000), np.where(np.arange(10_000) == 5_123, 9.0, 1.0))
    >>> kept = thin(spiky)
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
    return Curve(
        curve.steps[rows], curve.values[rows], None if curve.sd is None else curve.sd[rows]
    )


# ---- gradient norms: along training for the best trials, and as a histogram with its 90th
# percentile.
#
# The percentile is where the playbook would begin to clip ("How to choose gradient clipping").


_BINS = 24
_PERCENTILE = 90  # playbook, "How to choose gradient clipping"


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


def gradient_norm(results: Results, best: int = _FEW) -> Figure[GradientNormData]:
    """The gradient norm of the `best` trials by step, and the best one's histogram.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        best: how many trials.
    """
    data = gradient_norm_data(results, best)
    trials = [trial.trial for trial in data.trials]
    facts = {"metric": data.metric, "trials": trials, "clip_norm": data.clip_norm}
    caption = (Message("figure.gradient_norm", facts),)
    goal = str(results.round.goal)
    return Figure("gradient_norm", data, caption=caption, goal=goal, drawing=_draw_gradient_norm)


def gradient_norm_data(results: Results, best: int = _FEW) -> GradientNormData:
    """What the figure shows; refuses results without a gradient norm."""
    metric = results.meaning.name("gradient_norm")
    norms = []
    for trial in results.top(best):
        curve = trial.curves.only(metric)
        finite = np.abs(curve.values) <= LARGEST if curve is not None else np.zeros(0, bool)
        if curve is not None and len(curve) and finite[0]:
            end = len(curve) if finite.all() else int(np.argmin(finite))
            kept = Curve(curve.steps[:end], curve.values[:end])
            ended = None if end == len(curve) else int(curve.steps[end])
            share = float(np.percentile(kept.values, _PERCENTILE))
            norms.append(TrialNorms(trial.shown_number, kept, ended, share))
    if not norms:
        raise NotFound("plot.no_gradient_norm", round=results.round.name, metric=metric)
    return GradientNormData(metric, tuple(norms))


def _draw_gradient_norm(canvas: Canvas, data: GradientNormData) -> None:
    """Draw the norms by step on the left, the histogram on the right."""
    left, right = canvas.subplots(1, 2, width_ratios=(3, 2))
    for rank, trial in enumerate(data.trials):
        drawn = thin(trial.curve)
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
            left.plot(trial.ended_at, drawn.values[-1], "x", color=style.INFEASIBLE, markersize=9)
    set_scale(left, "y", np.concatenate([t.curve.values for t in data.trials]))
    left.axhline(data.clip_norm, color=style.MUTED, linestyle="--", linewidth=1)
    left.set_xlabel(words_of("label.step"))
    left.set_ylabel(label_of(data.metric, 30))
    left.xaxis.set_major_formatter(on_axis)
    left.locator_params(axis="x", nbins=5)
    left.grid(True, color=style.GRID, linewidth=0.6)
    _draw_histogram(right, data)
    above(canvas, most=5)


def _draw_histogram(axes: Axes, data: GradientNormData) -> None:
    values = drawable(data.trials[0].curve.values)
    low, high = extent(values)
    spaced = np.geomspace if is_wide(values) else np.linspace
    axes.hist(
        values, spaced(low, high, _BINS + 1).tolist(), color=style.FAINT, edgecolor=style.PAPER
    )
    set_scale(axes, "x", values)
    axes.axvline(data.clip_norm, color=style.MUTED, linestyle="--", linewidth=1)
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
