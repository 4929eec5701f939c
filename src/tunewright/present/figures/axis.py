"""Axis plots: the objective against each hyperparameter on the scale it was searched on.

They show whether the best trials sit at the edge of a range, where trials are infeasible, and
whether the good region was sampled (playbook, "Identifying bad search space boundaries").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tunewright.design.conditions import in_words
from tunewright.design.ranges import Range, as_range
from tunewright.design.study import Study
from tunewright.errors import DesignError, NotFound
from tunewright.messages import Message
from tunewright.present.figures import style
from tunewright.present.figures.figure import Figure, nothing, words_of
from tunewright.present.figures.style import colour, shape
from tunewright.present.figures.ticks import (
    FAR,
    LARGEST,
    NEAR,
    drawable,
    extent,
    is_wide,
    label_of,
    number,
    on_axis,
    set_scale,
    ticks,
)
from tunewright.store.results import Results
from tunewright.store.trial import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

RINGED = 5  # best trials marked in every panel
_MANY = 1500  # points of a panel beyond which they become pixels
_ACROSS = 4  # panels in a row of a wide figure
_MOST_APART = 20  # values of a discrete range whose trials are drawn a little apart
_NARROW = 2  # panels in a row of one that leaves room for another
_ENDED = ("completed", "infeasible", "pruned")


@dataclass(frozen=True, eq=False)
class Panel:
    """One hyperparameter: a row per trial in which it was active."""

    column: str
    range: Range
    condition: str  # "" or " under optimizer = adam"
    trials: npt.NDArray[np.int64]  # numbers
    studies: npt.NDArray[np.int64]
    positions: npt.NDArray[np.float64]  # in the unit interval, on the declared scale
    values: npt.NDArray[np.float64]  # the objective; nan for an infeasible or pruned trial
    pruned: npt.NDArray[np.bool_]  # which rows were stopped early for not being promising
    outside: int = 0  # trials added by hand whose value is not in the range
    name: str = ""  # of the hyperparameter, where the column names its branch too

    @property
    def infeasible(self) -> npt.NDArray[np.bool_]:
        """Which rows are infeasible trials."""
        return np.asarray(np.isnan(self.values) & ~self.pruned)

    @property
    def completed(self) -> npt.NDArray[np.bool_]:
        """Which rows have a value."""
        return np.asarray(~np.isnan(self.values))


@dataclass(frozen=True)
class AxisData:
    """Every panel, and the y axis they share."""

    metric: str
    minimize: bool
    panels: tuple[Panel, ...]
    best: tuple[int, ...]  # numbers of the best trials, best first
    labels: tuple[str, ...]  # the same as `tunewright trial` finds them
    studies: tuple[str, ...]  # their settings in words
    limit: float | None  # worst value drawn in its place; None: all of them
    beyond: int  # trials worse than that, drawn at the margin
    logarithmic: bool = False  # whether losses that far apart are drawn by their logarithm


def axis(results: Results, only: Sequence[str] = ()) -> Figure[AxisData]:
    """The objective against every searched hyperparameter, or `only` those columns.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        only: columns to show; empty: every searched hyperparameter.
    """
    data = axis_data(results, only)
    _, rows = _grid(data)
    size = (
        (style.SINGLE, style.HEIGHT)
        if len(data.panels) <= _NARROW
        else (style.DOUBLE, 0.6 + 2.9 * rows)
    )
    return Figure(
        "axis",
        data,
        caption=_caption(data),
        size=size,
        goal=str(results.round.goal),
        drawing=_draw_axis,
    )


def _grid(data: AxisData) -> tuple[int, int]:
    """How many panels stand next to each other, and in how many rows."""
    count = max(1, len(data.panels))
    across = min(count, _ACROSS)
    if across < count <= 2 * 3:  # two rows of three rather than four and two
        across = 3
    return across, -(-count // across)


def axis_data(results: Results, only: Sequence[str] = ()) -> AxisData:
    """What the axis plots show."""
    trials = [t for t in results.rows if t.status in _ENDED]
    panels = tuple(_panels(results, trials))
    if only:
        known = {panel.column for panel in panels}
        if unknown := [column for column in only if column not in known]:
            raise NotFound(
                "plot.no_such_hyperparameter",
                round=results.round.name,
                name=unknown[0],
                known=sorted(known),
            )
        panels = tuple(panel for panel in panels if panel.column in only)
    values = [t.value for t in trials if t.value is not None]
    limit, beyond = _limit(values, results)
    drawn = np.array([v for v in values if limit is None or not results.objective.better(limit, v)])
    best = [t for t in results.top(RINGED) if t.number is not None]
    return AxisData(
        metric=results.objective.metric,
        minimize=results.objective.minimize,
        panels=panels,
        best=tuple(t.number for t in best if t.number is not None),
        labels=tuple(str(t.shown_number) for t in best),
        studies=tuple(study.label for study in results.studies),
        limit=limit,
        beyond=beyond,
        logarithmic=results.objective.minimize and is_wide(drawable(drawn)),
    )


def _panels(results: Results, trials: Sequence[Trial]) -> Iterator[Panel]:
    """Scientific lists first, then each searched dimension, in the order of the round."""
    for name, declared in results.round.scientific.items():
        searched = as_range(declared)
        if searched is not None and searched.choices is not None:
            units = {s.number: searched.unit(s.scientific[name]) for s in results.studies}
            yield _panel(name, searched, "", [(t, units[t.study]) for t in trials], 0)
    dimensions = {h.column: h for study in results.studies for h in study.space}
    positions = [(t, position(results.studies[t.study], t)) for t in trials]
    for column, h in dimensions.items():
        active = [(t, unit[column]) for t, unit in positions if column in unit]
        outside = sum(not unit for t, unit in positions if h.name in t.configuration)
        panel = _panel(column, h.range, in_words(h.when), active, outside)
        yield replace(panel, name=h.name)


def _panel(
    column: str, searched: Range, condition: str, rows: Sequence[tuple[Trial, float]], outside: int
) -> Panel:
    return Panel(
        column=column,
        range=searched,
        condition=condition,
        trials=np.array([-1 if t.number is None else t.number for t, _ in rows], np.int64),
        studies=np.array([t.study for t, _ in rows], np.int64),
        positions=np.array([unit for _, unit in rows], np.float64),
        values=np.array([np.nan if t.value is None else t.value for t, _ in rows], np.float64),
        pruned=np.array([t.status == "pruned" for t, _ in rows], np.bool_),
        outside=outside,
    )


def position(study: Study, trial: Trial) -> Mapping[str, float]:
    """Where the trial lies; nowhere for one whose values are not in the search space."""
    if trial.unit:
        return trial.unit
    try:
        return study.unit(trial.configuration)
    except DesignError:
        return {}


def _limit(values: Sequence[float], results: Results) -> tuple[float | None, int]:
    """The worst value to draw in its place: a few hopeless trials would flatten all others."""
    losses = -results.objective.sign * np.array(values)
    sane = losses[np.abs(losses) <= LARGEST]
    if not len(sane):
        return None, 0
    worst = float(sane.max())
    if len(sane) >= 4:
        best, median = float(sane.min()), float(np.median(sane))
        spread = median - best
        if spread > 0 and worst > best + FAR * spread:
            worst = float(sane[sane <= best + NEAR * spread].max())  # the worst one in its place
    beyond = int((losses > worst).sum())
    return (-results.objective.sign * worst, beyond) if beyond else (None, 0)


def _caption(data: AxisData) -> tuple[Message, ...]:
    if not data.panels:
        return (Message("figure.axis.nothing"),)
    infeasible = max(int(panel.infeasible.sum()) for panel in data.panels)
    pruned = max(int(panel.pruned.sum()) for panel in data.panels)
    completed = max(int(panel.completed.sum()) for panel in data.panels)
    columns = [panel.column for panel in data.panels]
    facts = {"metric": data.metric, "completed": completed, "columns": columns}
    messages = [Message("figure.axis", facts)]
    if data.labels:
        messages.append(Message("figure.axis.best", {"trials": list(data.labels)}))
    if infeasible:
        messages.append(Message("figure.axis.infeasible", {"infeasible": infeasible}))
    if pruned:
        messages.append(Message("figure.axis.pruned", {"pruned": pruned}))
    if data.beyond and data.limit is not None:
        beyond = {"beyond": data.beyond, "limit": data.limit, "minimize": data.minimize}
        messages.append(Message("figure.axis.beyond", beyond))
    for panel in data.panels:
        facts = {"column": panel.column, "trials": len(panel.trials), "outside": panel.outside}
        if panel.condition:
            messages.append(
                Message("figure.axis.condition", {**facts, "condition": panel.condition.strip()})
            )
        if panel.outside:
            messages.append(Message("figure.axis.outside", facts))
    return tuple(messages)


def _draw_axis(canvas: Canvas, data: AxisData) -> None:
    """Draw the panels in rows, with one y axis for all."""
    across, rows = _grid(data)
    grid = canvas.subplots(rows, across, sharey=True, squeeze=False)
    flat = list(grid.flat)
    places = _places(data)
    for panel, axes in zip(data.panels, flat, strict=False):
        _draw_panel(axes, data, panel, places)
    for axes in flat[len(data.panels) :]:
        axes.set_axis_off()
    if not data.panels:
        nothing(flat[0], words_of("axis.nothing"))
        return
    drawn = places.heights(data)
    if data.logarithmic and set_scale(flat[0], "y", [places.low, places.high]):
        factor = (places.high / places.low) ** 0.06
        flat[0].set_ylim(min(drawn) / factor, max(drawn) * factor)
    else:
        room = 0.06 * (places.high - places.low)
        flat[0].set_ylim(min(drawn) - room, max(drawn) + room)
        flat[0].yaxis.set_major_formatter(on_axis)
    if not data.best:
        flat[0].set_yticks([])
    for row in range(rows):
        grid[row, 0].set_ylabel(label_of(data.metric))
    _legend(canvas, data)


@dataclass(frozen=True)
class _Places:
    """The heights of a panel: values between low and high, and the rails beyond them."""

    low: float
    high: float
    margin: float  # trials beyond the limit
    better: float  # the one trial that is too good to be drawn
    pruned: float
    infeasible: float

    def heights(self, data: AxisData) -> list[float]:
        """The heights that something is drawn at."""
        heights = [self.low, self.high]
        if any(_beyond(data, panel.values).any() for panel in data.panels):
            heights.append(self.margin)
        if any(panel.pruned.any() for panel in data.panels):
            heights.append(self.pruned)
        if any(panel.infeasible.any() for panel in data.panels):
            heights.append(self.infeasible)
        if any(_too_good(data, panel.values).any() for panel in data.panels):
            heights.append(self.better)
        return heights


def _places(data: AxisData) -> _Places:
    values = [p.values[p.completed & ~_beyond(data, p.values)] for p in data.panels]
    low, high = extent(np.concatenate(values) if values else [])
    if data.logarithmic:
        steps = [high * (high / low) ** part for part in (0.06, 0.13, 0.21)]
        return _Places(low, high, steps[0], low, steps[1], steps[2])
    end, away = (high, 1.0) if data.minimize else (low, -1.0)
    start = low if data.minimize else high
    steps = [end + away * part * (high - low) for part in (0.06, 0.13, 0.21)]
    return _Places(low, high, steps[0], start - away * 0.06 * (high - low), steps[1], steps[2])


def _draw_panel(axes: Axes, data: AxisData, panel: Panel, places: _Places) -> None:
    positions = panel.positions + _apart(panel)
    pixels = len(positions) > _MANY
    size = 22.0 if len(positions) <= 200 else 10.0 if len(positions) <= _MANY else 4.0
    axes.grid(True, axis="y", color=style.GRID, linewidth=0.6)
    listed = panel.range.choices is not None
    for end in () if listed else (0.0, 1.0):
        axes.axvline(end, color=style.EDGE, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    beyond, good = _beyond(data, panel.values), _too_good(data, panel.values)
    heights = drawable(panel.values)
    heights[beyond], heights[good] = places.margin, places.better
    several = 1 < len(data.studies) <= len(style.COLOURS)
    for study in range(len(data.studies)) if several else (None,):
        in_study = np.full(len(positions), True) if study is None else panel.studies == study
        inside = in_study & panel.completed & ~beyond & ~good
        axes.scatter(
            positions[inside],
            heights[inside],
            s=size,
            marker=shape(study or 0),
            color=colour(study or 0),
            alpha=0.8 if len(positions) <= 200 else 0.5,
            linewidths=0,
            rasterized=pixels,
        )
        for far, up in ((in_study & beyond, data.minimize), (in_study & good, not data.minimize)):
            axes.scatter(
                positions[far],
                heights[far],
                s=size,
                marker="^" if up else "v",
                facecolors="none",
                edgecolors=colour(study or 0),
                linewidths=0.8,
                rasterized=pixels,
            )
    rails = (
        (panel.infeasible, places.infeasible, "x", style.INFEASIBLE),
        (panel.pruned, places.pruned, "|", style.PRUNED),
    )
    for rows, height, mark, tint in rails:
        if rows.any():
            axes.axhline(height, color=tint, linewidth=0.6, alpha=0.4, zorder=1)
            axes.scatter(
                positions[rows],
                np.full(rows.sum(), height),
                s=size * 1.2,
                marker=mark,
                color=tint,
                linewidths=1.1,
                rasterized=pixels,
            )
    _ring(axes, data, panel, positions, heights)
    marks = ticks(panel.range)
    axes.set_xticks([tick.position for tick in marks], [tick.label for tick in marks])
    lengths = [len(tick.label) for tick in marks]
    crowded = listed and max(lengths) * len(lengths) > 24
    if crowded or sum(lengths) > 32:
        axes.tick_params(axis="x", labelrotation=35)
    axes.set_xlim(-0.06, 1.06)
    axes.set_xlabel(label_of(panel.column, 34))
    if panel.condition:
        note = words_of("axis.panel", condition=panel.condition.strip(), trials=len(panel.trials))
        axes.set_title(label_of(note, 38), color=style.MUTED, fontsize=8, loc="left")


def _ring(
    axes: Axes,
    data: AxisData,
    panel: Panel,
    positions: npt.NDArray[np.float64],
    heights: npt.NDArray[np.float64],
) -> None:
    """Ring the best trials, and number them where their numbers do not cover each other."""
    taken: list[tuple[float, float]] = []
    span = float(np.ptp(heights[np.isfinite(heights)])) if np.isfinite(heights).any() else 0.0
    for number_, label in zip(data.best, data.labels, strict=True):
        for row in np.flatnonzero((panel.trials == number_) & np.isfinite(heights)):
            x, y = float(positions[row]), float(heights[row])
            axes.scatter(
                x, y, s=80, facecolors="none", edgecolors=style.BEST, linewidths=1.2, zorder=4
            )
            free = all(abs(x - a) > 0.09 or abs(y - b) > 0.07 * span for a, b in taken)
            if free:
                right = x < 0.88
                axes.annotate(
                    label_of(label, 14),
                    (x, y),
                    (7 if right else -7, -2),
                    textcoords="offset points",
                    ha="left" if right else "right",
                    va="top",
                    fontsize=7,
                    zorder=5,
                )
                taken.append((x, y))


def _apart(panel: Panel) -> npt.NDArray[np.float64]:
    """Trials of one discrete value set a little apart, the same way in every drawing."""
    count = panel.range.count
    if count is None or (panel.range.choices is None and count > _MOST_APART):
        return np.zeros(len(panel.trials))
    width = 0.4 / count
    return np.asarray(width * (np.mod(panel.trials * 0.6180339887, 1.0) - 0.5))


def _beyond(data: AxisData, values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which are worse than what is drawn in its place."""
    large = (values > LARGEST) if data.minimize else (values < -LARGEST)
    if data.limit is None:
        return np.asarray(large)
    return np.asarray(large | (values > data.limit if data.minimize else values < data.limit))


def _too_good(data: AxisData, values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which are so far on the better side that no axis can show them."""
    return np.asarray((values < -LARGEST) if data.minimize else (values > LARGEST))


def _legend(canvas: Canvas, data: AxisData) -> None:
    from matplotlib.lines import Line2D

    def mark(text: str, **how: Any) -> Line2D:
        return Line2D([], [], linestyle="", label=label_of(text), **how)

    marks = []
    if 1 < len(data.studies) <= len(style.COLOURS):
        for at, words in enumerate(data.studies):
            marks.append(mark(words, marker=shape(at), color=colour(at), markersize=5))
    if data.best:
        ring = {"markerfacecolor": "none", "markeredgecolor": style.BEST, "markersize": 8}
        marks.append(mark(words_of("label.best_few", trials=len(data.best)), marker="o", **ring))
    if any(panel.infeasible.any() for panel in data.panels):
        marks.append(
            mark(words_of("label.infeasible"), marker="x", color=style.INFEASIBLE, markersize=6)
        )
    if any(panel.pruned.any() for panel in data.panels):
        marks.append(mark(words_of("label.pruned"), marker="|", color=style.PRUNED, markersize=7))
    if data.beyond and data.limit is not None:
        way = "^" if data.minimize else "v"
        text = words_of("label.beyond", limit=number(data.limit), minimize=data.minimize)
        marks.append(
            mark(text, marker=way, color=style.FAINT, markerfacecolor="none", markersize=5)
        )
    across = 8 if len(data.panels) > _NARROW else 4
    if marks:
        canvas.legend(handles=marks, loc="outside upper left", ncols=min(len(marks), across))
