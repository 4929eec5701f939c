"""Axis plots: the objective against each hyperparameter on the scale it was searched on.

They show whether the best trials sit at the edge of a range, where trials are infeasible, and
whether the good region was sampled (playbook, "Identifying bad search space boundaries").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tunewright.design.conditions import in_words
from tunewright.design.ranges import Choice, Integers, Range, as_range
from tunewright.design.study import Study
from tunewright.errors import DesignError, NotFound
from tunewright.present.figures.figure import Figure, nothing
from tunewright.present.figures.palette import (
    BEST,
    COLOURS,
    EDGE,
    FAINT,
    GRID,
    INFEASIBLE,
    colour,
    shape,
)
from tunewright.present.figures.scale import is_wide, set_scale
from tunewright.present.figures.ticks import label_of, number, on_axis, ticks
from tunewright.store.results import Results
from tunewright.store.trial import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

RINGED = 5  # best trials marked in every panel
MANY = 1500  # points of a panel beyond which they become pixels
FAR = 6.0  # times the distance of the median from the best: further trials stand at the margin
SHOWN = 4.0  # of the same distance is shown, where any trial is that far
ACROSS = 4  # panels in a row


@dataclass(frozen=True, eq=False)
class Panel:
    """One hyperparameter: a row per trial in which it was active."""

    column: str
    range: Range
    condition: str  # "" or " under optimizer = adam"
    trials: npt.NDArray[np.int64]  # numbers
    studies: npt.NDArray[np.int64]
    positions: npt.NDArray[np.float64]  # in the unit interval, on the declared scale
    values: npt.NDArray[np.float64]  # the objective; nan for an infeasible trial
    outside: int = 0  # trials added by hand whose value is not in the range

    @property
    def infeasible(self) -> npt.NDArray[np.bool_]:
        """Which rows are infeasible trials."""
        return np.isnan(self.values)


@dataclass(frozen=True)
class AxisData:
    """Every panel, and the y axis they share."""

    metric: str
    minimize: bool
    panels: tuple[Panel, ...]
    best: tuple[int, ...]  # numbers of the best trials, best first
    studies: tuple[str, ...]  # their settings in words
    limit: float | None  # worst value drawn in its place; None: all of them
    beyond: int  # trials worse than that, drawn at the margin
    logarithmic: bool = False  # whether losses that far apart are drawn by their logarithm


def axis(results: Results, only: Sequence[str] = ()) -> Figure[AxisData]:
    """The objective against every searched hyperparameter, or `only` those columns."""
    data = axis_data(results, only)
    rows = -(-max(1, len(data.panels)) // ACROSS)
    across = min(max(len(data.panels), 1), ACROSS)
    size = (1.0 + max(2.6 * across, 4.0), 0.6 + 2.6 * rows)
    return Figure("axis", data, _says(data), size, drawing=draw_axis)


def axis_data(results: Results, only: Sequence[str] = ()) -> AxisData:
    """What the axis plots show."""
    trials = [t for t in results.trials if t.status in ("completed", "infeasible")]
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
    return AxisData(
        results.objective.metric,
        results.objective.minimize,
        panels,
        tuple(t.number for t in results.top(RINGED) if t.number is not None),
        tuple(study.label for study in results.studies),
        limit,
        beyond,
        results.objective.minimize and is_wide(drawn),
    )


def _panels(results: Results, trials: Sequence[Trial]) -> Iterator[Panel]:
    """Scientific lists first, then each searched dimension, in the order of the round."""
    for name, declared in results.round.scientific.items():
        searched = as_range(declared)
        if isinstance(searched, Choice):
            units = {s.number: searched.unit(s.scientific[name]) for s in results.studies}
            yield _panel(name, searched, "", [(t, units[t.study]) for t in trials], 0)
    dimensions = {h.column: h for study in results.studies for h in study.space}
    positions = [(t, _unit(results.studies[t.study], t)) for t in trials]
    for column, h in dimensions.items():
        active = [(t, unit[column]) for t, unit in positions if column in unit]
        outside = sum(not unit for t, unit in positions if h.name in t.configuration)
        yield _panel(column, h.range, in_words(h.when), active, outside)


def _panel(
    column: str, searched: Range, condition: str, rows: Sequence[tuple[Trial, float]], outside: int
) -> Panel:
    return Panel(
        column,
        searched,
        condition,
        np.array([-1 if t.number is None else t.number for t, _ in rows], np.int64),
        np.array([t.study for t, _ in rows], np.int64),
        np.array([unit for _, unit in rows], np.float64),
        np.array([np.nan if t.value is None else t.value for t, _ in rows], np.float64),
        outside,
    )


def _unit(study: Study, trial: Trial) -> Mapping[str, float]:
    """Where the trial lies; nowhere for one whose values are not in the search space."""
    if trial.unit:
        return trial.unit
    try:
        return study.unit(trial.configuration)
    except DesignError:
        return {}


def _limit(values: Sequence[float], results: Results) -> tuple[float | None, int]:
    """The worst value to draw in its place: a few hopeless trials would flatten all others."""
    if len(values) < 4:
        return None, 0
    losses = -results.objective.sign * np.array(values)
    best, median = float(losses.min()), float(np.median(losses))
    spread = median - best
    if spread <= 0 or losses.max() <= best + FAR * spread:
        return None, 0
    limit = float(losses[losses <= best + SHOWN * spread].max())  # the worst one in its place
    return -results.objective.sign * limit, int((losses > limit).sum())


def _says(data: AxisData) -> str:
    counted = data.panels[0] if data.panels else None
    if counted is None:
        return "No hyperparameter was searched, so there is nothing to plot against."
    infeasible = max(int(panel.infeasible.sum()) for panel in data.panels)
    completed = max(int((~panel.infeasible).sum()) for panel in data.panels)
    said = [
        f"{data.metric} of {completed} completed trials against "
        f"{', '.join(panel.column for panel in data.panels)}, each on the scale it was searched "
        "on; the dashed lines are the ends of the range."
    ]
    if data.best:
        said.append(f"Ringed: the best trials {', '.join(map(str, data.best))}.")
    if infeasible:
        said.append(f"Red crosses on the rail: {infeasible} infeasible trials.")
    if data.beyond and data.limit is not None:
        worse = "above" if data.minimize else "below"
        said.append(f"{data.beyond} trials {worse} {number(data.limit)} stand as hollow triangles.")
    for panel in data.panels:
        if panel.condition:
            said.append(f"{panel.column}: only the {len(panel.trials)} trials{panel.condition}.")
        if panel.outside:
            said.append(f"{panel.column}: {panel.outside} trials outside the space left out.")
    return " ".join(said)


def draw_axis(canvas: Canvas, data: AxisData) -> None:
    """Draw the panels in rows, with one y axis for all."""
    across = min(max(len(data.panels), 1), ACROSS)
    rows = -(-max(len(data.panels), 1) // ACROSS)
    grid = canvas.subplots(rows, across, sharey=True, squeeze=False)
    flat = list(grid.flat)
    low, high = _extent(data)
    margin, rail = _margins(data, low, high)
    for panel, axes in zip(data.panels, flat, strict=False):
        _draw_panel(axes, data, panel, margin, rail)
    for axes in flat[len(data.panels) :]:
        axes.set_visible(False)
    if not data.panels:
        flat[0].set_visible(True)
        nothing(flat[0], "no searched hyperparameter")
        return
    has_rail = any(panel.infeasible.any() for panel in data.panels)
    drawn = [low, high, *([margin] if data.beyond else []), *([rail] if has_rail else [])]
    if data.logarithmic and set_scale(flat[0], "y", [low, high]):
        factor = (high / low) ** 0.06
        flat[0].set_ylim(min(drawn) / factor, max(drawn) * factor)
    else:
        room = 0.06 * (high - low)
        flat[0].set_ylim(min(drawn) - room, max(drawn) + room)
        flat[0].yaxis.set_major_formatter(on_axis)
    if not data.best:
        flat[0].set_yticks([])
    for row in range(rows):
        grid[row, 0].set_ylabel(label_of(data.metric))
    _legend(canvas, flat[0], data)


def _draw_panel(axes: Axes, data: AxisData, panel: Panel, margin: float, rail: float) -> None:
    positions = panel.positions + _apart(panel)
    pixels = len(positions) > MANY
    size = 22.0 if len(positions) <= 200 else 10.0 if len(positions) <= MANY else 4.0
    axes.grid(True, axis="y", color=GRID, linewidth=0.6)
    for end in () if isinstance(panel.range, Choice) else (0.0, 1.0):
        axes.axvline(end, color=EDGE, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
    beyond = _beyond(data, panel.values)
    several = 1 < len(data.studies) <= len(COLOURS)
    for study in range(len(data.studies)) if several else (None,):
        own = np.full(len(positions), True) if study is None else panel.studies == study
        shown = own & ~panel.infeasible & ~beyond
        axes.scatter(
            positions[shown],
            panel.values[shown],
            s=size,
            marker=shape(study or 0),
            color=colour(study or 0),
            alpha=0.8 if len(positions) <= 200 else 0.5,
            linewidths=0,
            rasterized=pixels,
        )
        far = own & beyond
        axes.scatter(
            positions[far],
            np.full(far.sum(), margin),
            s=size,
            marker="^" if data.minimize else "v",
            facecolors="none",
            edgecolors=colour(study or 0),
            linewidths=0.8,
            rasterized=pixels,
        )
    crossed = panel.infeasible
    if crossed.any():
        axes.axhline(rail, color=INFEASIBLE, linewidth=0.6, alpha=0.4, zorder=1)
        axes.scatter(
            positions[crossed],
            np.full(crossed.sum(), rail),
            s=size * 1.2,
            marker="x",
            color=INFEASIBLE,
            linewidths=1.1,
            rasterized=pixels,
        )
    ringed = np.isin(panel.trials, data.best)
    axes.scatter(
        positions[ringed],
        panel.values[ringed],
        s=size + 60,
        facecolors="none",
        edgecolors=BEST,
        linewidths=1.2,
        zorder=4,
    )
    marks = ticks(panel.range)
    axes.set_xticks([tick.position for tick in marks], [tick.label for tick in marks])
    lengths = [len(tick.label) for tick in marks]
    crowded = isinstance(panel.range, Choice) and max(lengths) * len(lengths) > 24
    if crowded or sum(lengths) > 32:
        axes.tick_params(axis="x", labelrotation=35)
    axes.set_xlim(-0.06, 1.06)
    axes.set_xlabel(label_of(panel.column, 34))
    note = f"{panel.condition.strip()}: {len(panel.trials)} trials" if panel.condition else ""
    if note:
        axes.set_title(label_of(note, 38), color="#555555", fontsize=8, loc="left")


def _apart(panel: Panel) -> npt.NDArray[np.float64]:
    """Trials of one discrete value set a little apart, the same way in every drawing."""
    if isinstance(panel.range, Choice):
        width = 0.4 / len(panel.range.values)
    elif isinstance(panel.range, Integers) and panel.range.high - panel.range.low < 20:
        width = 0.4 / (panel.range.high - panel.range.low + 1)
    else:
        return np.zeros(len(panel.trials))
    return np.asarray(width * (np.mod(panel.trials * 0.6180339887, 1.0) - 0.5))


def _beyond(data: AxisData, values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    if data.limit is None:
        return np.zeros(len(values), bool)
    return np.asarray(values > data.limit if data.minimize else values < data.limit)


def _margins(data: AxisData, low: float, high: float) -> tuple[float, float]:
    """Where trials beyond the limit stand, and where the rail of the infeasible ones runs."""
    if data.logarithmic:
        return high * (high / low) ** 0.06, high * (high / low) ** 0.14
    end, away = (high, 1.0) if data.minimize else (low, -1.0)
    return end + away * 0.06 * (high - low), end + away * 0.14 * (high - low)


def _extent(data: AxisData) -> tuple[float, float]:
    """The lowest and the highest value drawn in its place."""
    found = [p.values[~p.infeasible & ~_beyond(data, p.values)] for p in data.panels]
    values = np.concatenate(found) if found else np.zeros(0)
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5 * abs(low or 1), high + 0.5 * abs(high or 1))


def _legend(canvas: Canvas, axes: Axes, data: AxisData) -> None:
    from matplotlib.lines import Line2D

    def mark(text: str, **how: Any) -> Line2D:
        return Line2D([], [], linestyle="", label=label_of(text), **how)

    marks = []
    if 1 < len(data.studies) <= len(COLOURS):
        for at, words in enumerate(data.studies):
            marks.append(mark(words, marker=shape(at), color=colour(at), markersize=5))
    if data.best:
        ring = {"markerfacecolor": "none", "markeredgecolor": BEST, "markersize": 8}
        marks.append(mark(f"best {len(data.best)}", marker="o", **ring))
    if any(panel.infeasible.any() for panel in data.panels):
        marks.append(mark("infeasible", marker="x", color=INFEASIBLE, markersize=6))
    if data.beyond and data.limit is not None:
        way, worse = ("^", "above") if data.minimize else ("v", "below")
        text = f"{worse} {number(data.limit)}"
        marks.append(mark(text, marker=way, color=FAINT, markerfacecolor="none", markersize=5))
    if marks:
        canvas.legend(handles=marks, loc="outside upper left", ncols=min(len(marks), 5))
