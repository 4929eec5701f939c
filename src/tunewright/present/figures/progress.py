"""How did the best come about? Every trial of several rounds in order, and the best so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tunewright.errors import NotFound
from tunewright.present.figures.figure import Figure, nothing
from tunewright.present.figures.palette import BEST, FAINT, GRID, INFEASIBLE, colour, shape
from tunewright.present.figures.scale import set_scale
from tunewright.present.figures.ticks import label_of, number, on_axis
from tunewright.store.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

WIDE = 3.0  # worst over best value from which the axis is logarithmic: the end is what matters


@dataclass(frozen=True)
class Stretch:
    """One round: where its trials begin on the common axis, and their values in order."""

    round: str
    search: str
    first: int
    values: tuple[float | None, ...]  # None: infeasible or failed
    repeats: tuple[tuple[int, float], ...] = ()  # place of the repeated trial, value of the repeat


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


def progress(rounds: Sequence[Results]) -> Figure[ProgressData]:
    """The trials of a campaign's rounds, one after the other, with the best so far as a line."""
    data = progress_data(rounds)
    return Figure("progress", data, _says(data), (9.0, 3.6), drawing=draw_progress)


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
        stretches.append(Stretch(results.round.name, results.search, len(best), values, repeats))
        for value in values:
            known = [v for v in (best[-1] if best else None, value) if v is not None]
            best.append((min if objective.minimize else max)(known) if known else None)
    return ProgressData(objective.metric, objective.minimize, tuple(stretches), tuple(best))


def _says(data: ProgressData) -> str:
    said = []
    for stretch in data.rounds:
        end = stretch.first + len(stretch.values)
        if end and data.best[end - 1] is not None:
            trials = f"{len(stretch.values)} {'trial' if len(stretch.values) == 1 else 'trials'}"
            reached = number(data.best[end - 1] or 0.0)
            said.append(f"{stretch.round}: {trials}, best so far {reached}.")
    if not said:
        return f"No trial has reached a {data.metric} yet."
    crosses = sum(v is None for s in data.rounds for v in s.values)
    wrong = f" {crosses} infeasible or failed trials are crosses above." if crosses else ""
    repeats = sum(len(s.repeats) for s in data.rounds)
    again = f" {repeats} repeats under fresh seeds are hollow." if repeats else ""
    return f"Every trial in the order of the rounds. {' '.join(said)}{wrong}{again}"


def draw_progress(canvas: Canvas, data: ProgressData) -> None:
    """A mark for each trial, coloured by round; a step line for the best so far."""
    axes = canvas.subplots()
    finite = [v for s in data.rounds for v in s.values if v is not None]
    if not finite:
        nothing(axes, "no trial has completed")
        return
    for position, stretch in enumerate(data.rounds):
        at = [stretch.first + i for i, v in enumerate(stretch.values) if v is not None]
        values = [v for v in stretch.values if v is not None]
        searched = f" ({stretch.search})" if len(stretch.values) > 1 else ""
        label = f"{label_of(stretch.round, 26)}{searched}"
        look: dict[str, Any] = {
            "color": colour(position),
            "marker": shape(position),
            "linestyle": "none",
        }
        axes.plot(at, values, markersize=4.5, alpha=0.85, label=label, **look)
        if stretch.repeats:
            places, again = zip(*stretch.repeats, strict=True)
            axes.plot(places, again, markersize=5, markerfacecolor="none", alpha=0.8, **look)
        if stretch.first:
            axes.axvline(stretch.first - 0.5, color=FAINT, linewidth=0.8)
    known = [(i, v) for i, v in enumerate(data.best) if v is not None]
    axes.step(*zip(*known, strict=True), where="post", color=BEST, linewidth=1.4, label="best")
    wrong = [s.first + i for s in data.rounds for i, v in enumerate(s.values) if v is None]
    if wrong:
        rail = axes.get_xaxis_transform()
        cross: dict[str, Any] = {
            "color": INFEASIBLE,
            "marker": "x",
            "linestyle": "none",
            "markersize": 5,
        }
        axes.plot(wrong, [0.985] * len(wrong), transform=rail, clip_on=False, **cross)
    axes.set_xlabel("trials, in the order of the rounds")
    axes.set_ylabel(label_of(data.metric, 30))
    axes.yaxis.set_major_formatter(on_axis)
    axes.grid(True, axis="y", color=GRID, linewidth=0.6)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    if data.minimize:
        set_scale(axes, "y", finite, wide=WIDE)
