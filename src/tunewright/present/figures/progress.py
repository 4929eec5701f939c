"""How did the best come about? Every trial in order, and the best so far.

Of one round, or of several rounds one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tunewright.errors import NotFound
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
from tunewright.present.figures.palette import BEST, EDGE, GRID, INFEASIBLE, PRUNED
from tunewright.present.figures.scale import drawable, extent, set_scale
from tunewright.present.figures.ticks import label_of, on_axis
from tunewright.store.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

WIDE = 3.0  # worst over best value from which the axis is logarithmic: the end is what matters
FAR, SHOWN = 6.0, 4.0  # times the distance of the median from the best: too far, and shown then
LETTERS = 130  # that fit along the axis of a wide figure


@dataclass(frozen=True)
class Stretch:
    """One round: where its trials begin on the common axis, and their values in order."""

    round: str
    search: str
    first: int
    values: tuple[float | None, ...]  # None: infeasible, failed or pruned
    repeats: tuple[tuple[int, float], ...] = ()  # place of the repeated trial, value of the repeat
    pruned: tuple[int, ...] = ()  # places, among those without a value


@dataclass(frozen=True)
class ProgressData:
    """The rounds in order, and the best value after each trial."""

    metric: str
    minimize: bool
    rounds: tuple[Stretch, ...]
    best: tuple[float | None, ...]

    @property
    def trials(self) -> int:
        """How many trials there are, repeats left out."""
        return len(self.best)


def progress(rounds: Results | Sequence[Results]) -> Figure[ProgressData]:
    """The trials of a round, or of several one after the other, with the best so far as a line.

    Args:
        rounds: a round, or several in their order.
    """
    given = [rounds] if isinstance(rounds, Results) else list(rounds)
    data = progress_data(given)
    size = (SINGLE if isinstance(rounds, Results) else DOUBLE, HEIGHT)
    goal = str(given[0].round.goal)
    return Figure(
        "progress", data, caption=_caption(data), size=size, goal=goal, drawing=draw_progress
    )


def progress_data(rounds: Sequence[Results]) -> ProgressData:
    """What the figure shows."""
    if not rounds:
        raise NotFound("plot.not_results")
    objective = rounds[0].objective
    stretches: list[Stretch] = []
    best: list[float | None] = []
    for results in rounds:
        own = [t for t in results.trials if t.ended]
        places = {trial.number: len(best) + at for at, trial in enumerate(own)}
        repeats = tuple(
            (places[trial.number], repeat.value)
            for trial in own
            for repeat in results.repeats(trial)
            if repeat.value is not None
        )
        values = tuple(trial.value for trial in own)
        pruned = tuple(places[trial.number] for trial in own if trial.status == "pruned")
        name = results.round.name
        stretches.append(Stretch(name, results.search, len(best), values, repeats, pruned))
        for value in values:
            known = [v for v in (best[-1] if best else None, value) if v is not None]
            best.append((min if objective.minimize else max)(known) if known else None)
    return ProgressData(objective.metric, objective.minimize, tuple(stretches), tuple(best))


def _caption(data: ProgressData) -> tuple[Message, ...]:
    said = []
    for stretch in data.rounds:
        end = stretch.first + len(stretch.values)
        if end and (reached := data.best[end - 1]) is not None:
            facts = {"round": stretch.round, "search": stretch.search, "best": reached}
            facts["trials"] = len(stretch.values)
            said.append(Message("figure.progress.round", facts))
    if not said:
        return (Message("figure.progress.nothing", {"metric": data.metric}),)
    said.insert(0, Message("figure.progress", {"rounds": len(data.rounds)}))
    pruned = sum(len(s.pruned) for s in data.rounds)
    if crosses := sum(v is None for s in data.rounds for v in s.values) - pruned:
        said.append(Message("figure.progress.crosses", {"trials": crosses}))
    if pruned:
        said.append(Message("figure.progress.pruned", {"pruned": pruned}))
    if repeats := sum(len(s.repeats) for s in data.rounds):
        said.append(Message("figure.progress.repeats", {"repeats": repeats}))
    return tuple(said)


def draw_progress(canvas: Canvas, data: ProgressData) -> None:
    """A mark for each trial, a band for each round, a step line for the best so far."""
    from matplotlib.ticker import MaxNLocator

    axes = canvas.subplots()
    values = drawable([np.nan if v is None else v for s in data.rounds for v in s.values])
    finite = values[np.isfinite(values)]
    if not len(finite):
        nothing(axes, words_of("progress.empty"))
        return
    low, high = _shown(data, finite)
    inside = (values >= low) & (values <= high)
    look: dict[str, Any] = {"color": EDGE, "marker": "o", "linestyle": "none"}
    places = np.arange(len(values))
    label = words_of("label.trials")
    axes.plot(places[inside], values[inside], markersize=4, alpha=0.85, label=label, **look)
    repeats = [repeat for stretch in data.rounds for repeat in stretch.repeats]
    if repeats:
        where, again = zip(*repeats, strict=True)
        label = words_of("label.repeats")
        hollow = {**look, "color": BEST, "markerfacecolor": "none"}
        axes.plot(where, drawable(again), markersize=5, alpha=0.8, label=label, **hollow)
    best = drawable([np.nan if v is None else v for v in data.best])
    label = words_of("label.best_so_far")
    axes.step(places, best, where="post", color=BEST, linewidth=1.6, label=label)
    _rails(axes, data, low, high)
    _bands(axes, data)
    axes.set_xlabel(words_of("label.in_order", rounds=len(data.rounds)))
    axes.set_ylabel(label_of(data.metric, 30))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(-0.6, max(data.trials - 0.4, 0.6))
    axes.grid(True, axis="y", color=GRID, linewidth=0.6)
    if not (data.minimize and set_scale(axes, "y", finite[finite <= high], wide=WIDE)):
        axes.yaxis.set_major_formatter(on_axis)
        room = 0.06 * (high - low)
        axes.set_ylim(low - room, high + room)
    above(canvas, most=5)


def _shown(data: ProgressData, finite: np.ndarray) -> tuple[float, float]:
    """The values between which trials are drawn in their place: the end is what matters."""
    low, high = extent(finite)
    best, middle = (low if data.minimize else high), float(np.median(finite))
    distance = abs(middle - best)
    if not distance or high - low <= FAR * distance:
        return low, high
    room = SHOWN * distance
    return (low, min(high, best + room)) if data.minimize else (max(low, best - room), high)


def _rails(axes: Axes, data: ProgressData, low: float, high: float) -> None:
    """Trials without a value, or with one far off, on rails along the upper edge."""
    every = [(s.first + i, v) for s in data.rounds for i, v in enumerate(s.values)]
    pruned = [at for s in data.rounds for at in s.pruned]
    wrong = [at for at, v in every if v is None and at not in set(pruned)]
    far = [at for at, v in every if v is not None and not low <= v <= high]
    rails: tuple[tuple[list[int], str, str, float, str], ...] = (
        (wrong, "x", INFEASIBLE, 1.03, "infeasible_or_failed"),
        (pruned, "|", PRUNED, 1.03, "pruned"),
        (far, "^" if data.minimize else "v", EDGE, 0.985 if data.minimize else 0.015, "far"),
    )
    for places, marker, tint, height, code in rails:
        if places:
            how: dict[str, Any] = {"marker": marker, "color": tint, "linestyle": "none"}
            if code == "far":
                how["markerfacecolor"] = "none"
            axes.plot(
                places,
                [height] * len(places),
                transform=axes.get_xaxis_transform(),
                clip_on=False,
                markersize=4.5,
                label=words_of(f"label.{code}"),
                **how,
            )


def _bands(axes: Axes, data: ProgressData) -> None:
    """A light band under every second round, with its name where there is room."""
    if len(data.rounds) == 1:
        return
    for place, stretch in enumerate(data.rounds):
        first, last = stretch.first - 0.5, stretch.first + len(stretch.values) - 0.5
        if place % 2:
            axes.axvspan(first, last, color=GRID, alpha=0.6, linewidth=0, zorder=0)
        room = int(LETTERS * len(stretch.values) / max(data.trials, 1))
        named = stretch.round if len(stretch.round) <= room else str(place + 1)
        axes.annotate(
            label_of(named, 40),
            ((first + last) / 2, 1),
            (0, 9),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
        )
