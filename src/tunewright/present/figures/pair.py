"""The two most important hyperparameters against each other, coloured by how well trials did.

It shows ridges: a pair such as learning rate and momentum that can be traded for one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tunewright.design.ranges import Range
from tunewright.errors import NotFound
from tunewright.finding import Finding
from tunewright.messages import Message
from tunewright.present.figures.axis import RINGED, position
from tunewright.present.figures.figure import Figure, above, nothing, words_of
from tunewright.present.figures.palette import BEST, EDGE, GRID, INFEASIBLE, MAP, PRUNED
from tunewright.present.figures.sensitivity import SensitivityData, sensitivity_data
from tunewright.present.figures.ticks import label_of, number, ticks
from tunewright.store.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

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
        made = np.searchsorted(known, losses) / max(len(known) - 1, 1)
        return np.where(np.isnan(losses), np.nan, made)


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
        "pair", data, caption=_caption(data), goal=str(results.round.goal), drawing=draw_pair
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
    trials = [t for t in results.trials if t.status in SHAPES]
    units = [position(results.studies[t.study], t) for t in trials]
    chosen, important = list(columns[:2]), False
    if len(chosen) < 2:
        shown = sensitivity_data(results, findings)
        chosen, important = _chosen(shown, [*known], units)
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


def _chosen(
    shown: SensitivityData, columns: Sequence[str], units: Sequence[Any]
) -> tuple[list[str], bool]:
    """The two to draw, of those that occur together, and whether importance chose them."""
    ranked = [name for study in shown.studies[:1] for name in study.ordered if name in columns]
    order = list(dict.fromkeys([*ranked, *columns]))
    for at, first in enumerate(order):
        for second in order[at + 1 :]:
            if not units or any(first in unit and second in unit for unit in units):
                return [first, second], len(ranked) > 1
    return order[:1], False


def _caption(data: PairData) -> tuple[Message, ...]:
    if np.isnan(data.values).all():
        return (Message("figure.pair.nothing"),)
    first, second = data.columns
    facts = {"first": first, "second": second, "metric": data.metric}
    said = [Message("figure.pair", {**facts, "important": data.by_importance})]
    if data.best:
        said.append(Message("figure.axis.best", {"trials": [data.trials[r] for r in data.best]}))
    return tuple(said)


def draw_pair(canvas: Canvas, data: PairData) -> None:
    """One mark per trial; the colour is its rank by the objective."""
    axes = canvas.subplots()
    completed = ~np.isnan(data.values)
    if not len(data.x):
        nothing(axes, words_of("pair.nothing"))
        return
    axes.grid(True, color=GRID, linewidth=0.6)
    ranks = data.ranks
    order = np.flatnonzero(completed)[np.argsort(-ranks[completed], kind="stable")]
    marks = axes.scatter(
        data.x[order],
        data.y[order],
        c=ranks[order],
        cmap=MAP,
        vmin=0.0,
        vmax=1.0,
        s=34 if len(order) <= 300 else 12,
        edgecolors=EDGE,
        linewidths=0.5,
        rasterized=len(order) > 1500,
    )
    for rows, mark, tint, code in (
        (~completed & ~data.pruned, "x", INFEASIBLE, "infeasible"),
        (data.pruned, "|", PRUNED, "pruned"),
    ):
        if rows.any():
            label = words_of(f"label.{code}")
            how: dict[str, Any] = {"marker": mark, "color": tint, "linewidths": 1.1}
            axes.scatter(data.x[rows], data.y[rows], s=26, label=label, **how)
    taken: list[tuple[float, float]] = []
    for row in data.best:
        x, y = float(data.x[row]), float(data.y[row])
        ring: dict[str, Any] = {"facecolors": "none", "edgecolors": BEST, "linewidths": 1.2}
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
        found = ticks(searched)
        places = ([tick.position for tick in found], [tick.label for tick in found])
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
