"""Which hyperparameters matter for the objective? Their shares of importance, with intervals.

The method is that of the check of the same name. The check leaves out trials of an adaptive search,
because they crowd where results are good; where nothing else is left, the figure uses them, with a
note.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tunewright.checks.positions import study_trials
from tunewright.checks.sensitivity import (
    Importance,
    SensitivityEvidence,
    sensitivity as ask_sensitivity,
)
from tunewright.design.ranges import Range
from tunewright.errors import NotFound
from tunewright.finding import Finding, NotJudged
from tunewright.messages import Message
from tunewright.present.figures import style
from tunewright.present.figures.axis import RINGED, position
from tunewright.present.figures.figure import Figure, above, nothing, words_of
from tunewright.present.figures.ticks import label_of, number, ticks
from tunewright.store.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


_STUDIES = 4  # drawn side by side
MOST = 12  # hyperparameters drawn of a study


@dataclass(frozen=True)
class StudySensitivity:
    """One study: its hyperparameters, the most important first, conditional ones last."""

    study: str
    trials: int  # feasible ones
    importances: tuple[Importance, ...]
    interactions: tuple[tuple[str, str], ...]  # pairs that act together
    conditional: tuple[str, ...] = ()  # those weighed among the trials that have them

    @property
    def ordered(self) -> tuple[str, ...]:
        """The names, the most important first; those that matter before all others."""
        ranked = sorted(self.importances, key=lambda i: (not i.matters, -i.share))
        return tuple(importance.name for importance in ranked)


@dataclass(frozen=True)
class SensitivityData:
    """Every study that has enough trials, or why none has."""

    studies: tuple[StudySensitivity, ...]
    reason: Message | None = None  # why nothing can be shown
    adaptive: int = 0  # trials of an adaptive search that it rests on


def sensitivity(
    results: Results, findings: Iterable[Finding] | None = None
) -> Figure[SensitivityData]:
    """The importance of each hyperparameter; `findings` saves asking the question again.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        findings: those of `tw.check(results)`; None: the question is asked again.
    """
    data = sensitivity_data(results, findings)
    rows = max((min(MOST, len(s.importances)) for s in data.studies), default=2)
    size = (
        style.SINGLE if len(data.studies) <= 2 else style.DOUBLE,
        max(style.HEIGHT, 1.2 + 0.34 * rows),
    )
    goal = str(results.round.goal)
    return Figure(
        "sensitivity", data, caption=_caption(data), size=size, goal=goal, drawing=_draw_sensitivity
    )


def sensitivity_data(
    results: Results, findings: Iterable[Finding] | None = None
) -> SensitivityData:
    """What the figure shows: the evidence of the check of the same name."""
    every_finding = ask_sensitivity(results) if findings is None else findings
    answers = [finding for finding in every_finding if finding.check == "sensitivity"]
    studies = _studies_of(answers)
    adaptive = sum(study.adaptive for study in study_trials(results))
    if not studies and adaptive:
        studies = _studies_of(ask_sensitivity(_as_laid_out(results)))
        if studies:
            return SensitivityData(studies, adaptive=adaptive)
    unjudged = [f.evidence.why for f in answers if isinstance(f.evidence, NotJudged)]
    return SensitivityData(studies, None if studies or not unjudged else unjudged[0])


def _studies_of(findings: Iterable[Finding]) -> tuple[StudySensitivity, ...]:
    return tuple(
        StudySensitivity(
            finding.about,
            seen.feasible,
            (*seen.importances, *seen.conditional),
            tuple(pair.names for pair in seen.interactions or ()),
            tuple(importance.name for importance in seen.conditional),
        )
        for finding in findings
        if isinstance(seen := finding.evidence, SensitivityEvidence)
    )


def _as_laid_out(results: Results) -> Results:
    """The same results with every trial counted, whatever search suggested it."""
    trials = tuple(replace(trial, search="") for trial in results.recorded)
    return replace(results, search="", recorded=trials)


def _caption(data: SensitivityData) -> tuple[Message, ...]:
    if not data.studies:
        return (Message("figure.sensitivity.nothing", {"why": data.reason}),)
    messages = [Message("figure.sensitivity")]
    for study in data.studies:
        facts = {
            "study": study.study,
            "trials": study.trials,
            "matter": {i.name: i.share for i in study.importances if i.matters},
            "together": [list(pair) for pair in study.interactions[:2]],
        }
        messages.append(Message("figure.sensitivity.study", facts))
    if any(study.conditional for study in data.studies):
        messages.append(Message("figure.sensitivity.conditional"))
    if data.adaptive:
        messages.append(Message("figure.sensitivity.adaptive", {"adaptive": data.adaptive}))
    if len(data.studies) > _STUDIES:
        messages.append(Message("figure.sensitivity.left_out", {"studies": _STUDIES}))
    return tuple(messages)


def _draw_sensitivity(canvas: Canvas, data: SensitivityData) -> None:
    """Draw a bar for each hyperparameter: coloured where it is seen to matter, grey where not."""
    studies = data.studies[:_STUDIES]
    # every study in the order of the first, so that a row is one hyperparameter
    names = list(dict.fromkeys(i.name for study in studies for i in study.importances))[:MOST]
    grid = canvas.subplots(1, max(1, len(studies)), sharey=True, sharex=True, squeeze=False)[0]
    for axes, study in zip(grid, studies, strict=False):
        for importance in study.importances:
            if importance.name not in names:
                continue
            row = names.index(importance.name)
            tint = style.ACCENT if importance.matters else style.FAINT
            axes.barh(row, importance.share, height=0.62, color=tint)
            axes.plot(importance.interval, [row, row], color=style.MUTED, linewidth=1.2)
        axes.set_title(label_of(study.study, 30), loc="left")
        axes.set_xlabel(words_of("label.share"))
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
        axes.grid(True, axis="x", color=style.GRID, linewidth=0.6)
    starred = {name for study in studies for name in study.conditional}
    labels = [label_of(name, 30) + ("*" if name in starred else "") for name in names]
    grid[0].set_yticks(range(len(names)), labels)
    grid[0].set_ylim(max(len(names), 1) - 0.4, -0.6)
    if not studies:
        nothing(grid[0], words_of("sensitivity.empty"))


# ---- the two most important hyperparameters against each other, coloured by how well trials did.
#
# It shows ridges: a pair such as learning rate and momentum that can be traded for one another.


SHAPES = {"completed": "o", "infeasible": "x", "pruned": "|"}


@dataclass(frozen=True, eq=False)
class PairData:
    """Two hyperparameters: where each trial lies on both, and how well it did."""

    metric: str
    minimize: bool
    columns: tuple[str, str]
    ranges: tuple[Range, Range]
    by_importance: bool  # whether these two are known to be the most important
    trials: tuple[str, ...]  # numbers as `tunewright trial` finds them
    x: npt.NDArray[np.float64]  # in the unit interval, on the declared scale
    y: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]  # nan: infeasible or pruned
    pruned: npt.NDArray[np.bool_]
    best: tuple[int, ...]  # rows of the best trials, best first

    @property
    def ranks(self) -> npt.NDArray[np.float64]:
        """From 0, the best, to 1, the worst; nan without a value."""
        losses = self.values if self.minimize else -self.values
        known = np.sort(losses[~np.isnan(losses)])
        ranks = np.searchsorted(known, losses) / max(len(known) - 1, 1)
        return np.where(np.isnan(losses), np.nan, ranks)


def pair(
    results: Results, columns: Sequence[str] = (), findings: Iterable[Finding] | None = None
) -> Figure[PairData]:
    """Two hyperparameters against each other: `columns`, or the two most important ones.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        columns: two hyperparameters; empty: the two most important ones.
        findings: those of `tw.check(results)`; None: the question is asked again.
    """
    data = pair_data(results, columns, findings)
    return Figure(
        "pair", data, caption=_pair_caption(data), goal=str(results.round.goal), drawing=_draw_pair
    )


def pair_data(
    results: Results, columns: Sequence[str] = (), findings: Iterable[Finding] | None = None
) -> PairData:
    """What the figure shows; refuses a round that searches fewer than two hyperparameters."""
    known = {h.column: h.range for study in results.studies for h in study.space}
    if unknown := [column for column in columns if column not in known]:
        raise NotFound(
            "plot.no_such_hyperparameter",
            round=results.round.name,
            name=unknown[0],
            known=sorted(known),
        )
    trials = [t for t in results.rows if t.status in SHAPES]
    units = [position(results.studies[t.study], t) for t in trials]
    chosen, important = list(columns[:2]), False
    if len(chosen) < 2:
        importances = sensitivity_data(results, findings)
        chosen, important = _choose_pair(importances, [*known], units)
    if len(chosen) < 2:
        raise NotFound("plot.not_a_pair", round=results.round.name)
    first, second = chosen
    rows = [(t, u) for t, u in zip(trials, units, strict=True) if first in u and second in u]
    places = {t.number: row for row, (t, _) in enumerate(rows)}
    return PairData(
        metric=results.objective.metric,
        minimize=results.objective.minimize,
        columns=(first, second),
        ranges=(known[first], known[second]),
        by_importance=important,
        trials=tuple(str(t.shown_number) for t, _ in rows),
        x=np.array([u[first] for _, u in rows], float),
        y=np.array([u[second] for _, u in rows], float),
        values=np.array([np.nan if t.value is None else t.value for t, _ in rows], float),
        pruned=np.array([t.status == "pruned" for t, _ in rows], bool),
        best=tuple(places[t.number] for t in results.top(RINGED) if t.number in places),
    )


def _choose_pair(
    importances: SensitivityData, columns: Sequence[str], units: Sequence[Any]
) -> tuple[list[str], bool]:
    """The two to draw, of those that occur together, and whether importance chose them."""
    ranked = [
        name for study in importances.studies[:1] for name in study.ordered if name in columns
    ]
    order = list(dict.fromkeys([*ranked, *columns]))
    for at, first in enumerate(order):
        for second in order[at + 1 :]:
            if not units or any(first in unit and second in unit for unit in units):
                return [first, second], len(ranked) > 1
    return order[:1], False


def _pair_caption(data: PairData) -> tuple[Message, ...]:
    if np.isnan(data.values).all():
        return (Message("figure.pair.nothing"),)
    first, second = data.columns
    facts = {"first": first, "second": second, "metric": data.metric}
    messages = [Message("figure.pair", {**facts, "important": data.by_importance})]
    if data.best:
        messages.append(
            Message("figure.axis.best", {"trials": [data.trials[r] for r in data.best]})
        )
    return tuple(messages)


def _draw_pair(canvas: Canvas, data: PairData) -> None:
    """One mark per trial; the colour is its rank by the objective."""
    axes = canvas.subplots()
    completed = ~np.isnan(data.values)
    if not len(data.x):
        nothing(axes, words_of("pair.nothing"))
        return
    axes.grid(True, color=style.GRID, linewidth=0.6)
    ranks = data.ranks
    order = np.flatnonzero(completed)[np.argsort(-ranks[completed], kind="stable")]
    marks = axes.scatter(
        data.x[order],
        data.y[order],
        c=ranks[order],
        cmap=style.MAP,
        vmin=0.0,
        vmax=1.0,
        s=34 if len(order) <= 300 else 12,
        edgecolors=style.EDGE,
        linewidths=0.5,
        rasterized=len(order) > 1500,
    )
    for rows, mark, tint, code in (
        (~completed & ~data.pruned, "x", style.INFEASIBLE, "infeasible"),
        (data.pruned, "|", style.PRUNED, "pruned"),
    ):
        if rows.any():
            label = words_of(f"label.{code}")
            how: dict[str, Any] = {"marker": mark, "color": tint, "linewidths": 1.1}
            axes.scatter(data.x[rows], data.y[rows], s=26, label=label, **how)
    taken: list[tuple[float, float]] = []
    for row in data.best:
        x, y = float(data.x[row]), float(data.y[row])
        ring: dict[str, Any] = {"facecolors": "none", "edgecolors": style.BEST, "linewidths": 1.2}
        axes.scatter(x, y, s=90, zorder=4, **ring)
        if all(abs(x - a) > 0.08 or abs(y - b) > 0.06 for a, b in taken):
            taken.append((x, y))
            axes.annotate(
                label_of(data.trials[row], 14),
                (x, y),
                (7, -2) if x < 0.9 else (-7, -2),
                textcoords="offset points",
                ha="left" if x < 0.9 else "right",
                va="top",
                fontsize=7,
                zorder=5,
            )
    for which, searched, column in zip("xy", data.ranges, data.columns, strict=True):
        tick_marks = ticks(searched)
        places = ([tick.position for tick in tick_marks], [tick.label for tick in tick_marks])
        (axes.set_xticks if which == "x" else axes.set_yticks)(*places)
        (axes.set_xlim if which == "x" else axes.set_ylim)(-0.05, 1.05)
        (axes.set_xlabel if which == "x" else axes.set_ylabel)(label_of(column, 40))
    if completed.sum() > 1:
        bar = canvas.colorbar(marks, ax=axes, pad=0.02, fraction=0.06)
        known = np.sort(data.values[completed])
        known = known if data.minimize else known[::-1]
        spots = [0.0, 0.25, 0.5, 0.75, 1.0]
        labels = [number(float(known[round(spot * (len(known) - 1))])) for spot in spots]
        bar.set_ticks(spots, labels=labels)
        bar.set_label(label_of(data.metric, 36))
        bar.outline.set_visible(False)
        if bar.solids is not None:
            bar.solids.set_rasterized(True)
    above(canvas)
