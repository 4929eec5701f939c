"""Isolation plots: the best objective at each value of a scientific hyperparameter.

Everything else is tuned anew at every value, so what is left is the value's own effect, as far as
the budget can tell (playbook, "Extracting insight from experiment results").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from tunewright.checks.comparison import Pair, pairs, side_of
from tunewright.checks.positions import LAID_OUT
from tunewright.checks.trial_sd import trial_sd
from tunewright.design.ranges import Choice, Range, Value, as_range, same_value
from tunewright.errors import NotFound
from tunewright.present.figures.buckets import Buckets, buckets, draw_buckets, ordered, trend
from tunewright.present.figures.figure import Figure
from tunewright.present.figures.palette import BEST, FAINT, GRID, INFEASIBLE, colour
from tunewright.present.figures.scale import set_scale
from tunewright.present.figures.ticks import label, label_of, number, on_axis
from tunewright.stats.best_of_k import best_of
from tunewright.store.results import Results
from tunewright.store.trial import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FEWEST = 4  # completed trials from which tuning luck is shown


Beside = Literal["best", "worse", "no clear gap", "cannot judge", ""]


@dataclass(frozen=True)
class Arm:
    """One value of the scientific hyperparameter, with as many trials as every other."""

    value: Value
    off: bool  # whether this value switches the feature off
    trials: int  # of the budget, equal for all arms
    infeasible: int  # of these
    values: tuple[float, ...]  # the objective of the completed ones
    best: float | None
    trial: int | str | None  # the number of the best
    luck: tuple[float, float] | None  # 5 to 95 % of the best of half as many trials
    trial_sd: float | None  # between repeats of one configuration; None without repeats
    verdict: Beside = ""  # beside the best arm, on the points they share
    beside: str = ""  # the same in words


@dataclass(frozen=True)
class IsolationData:
    """One scientific hyperparameter: arms for a list of values, buckets for a range."""

    name: str
    metric: str
    minimize: bool
    range: Range
    arms: tuple[Arm, ...] = ()
    left_out: int = 0  # trials beyond the equal budget
    buckets: Buckets | None = None


def isolation(results: Results, name: str | None = None) -> Figure[IsolationData]:
    """The best objective by value of a scientific hyperparameter; the first one without a name."""
    data = isolation_data(results, name)
    across = len(data.arms) if data.arms else 8
    size = (min(max(2.2 + 1.15 * across, 5.0), 11.0), 3.6)
    return Figure("isolation", data, _says(data), size, drawing=draw_isolation)


def isolation_data(results: Results, name: str | None = None) -> IsolationData:
    """What the isolation plot of a scientific hyperparameter shows."""
    scientific = list(results.round.scientific)
    if not scientific:
        raise NotFound("plot.nothing_scientific", round=results.round.name)
    chosen = scientific[0] if name is None else name
    if chosen not in scientific:
        raise NotFound(
            "plot.not_scientific", round=results.round.name, name=chosen, known=list(scientific)
        )
    objective, searched = results.objective, as_range(results.round.scientific[chosen])
    assert searched is not None  # a scientific hyperparameter is a list or a range
    asked = (chosen, objective.metric, objective.minimize, searched)
    if isinstance(searched, Choice):
        return IsolationData(*asked, *_arms(results, chosen, searched))
    return IsolationData(*asked, buckets=buckets(results, chosen, searched))


def _arms(results: Results, name: str, searched: Choice) -> tuple[tuple[Arm, ...], int]:
    """Equal budgets: of every study its first trials, as many as the shortest study has."""
    ended = {
        study.number: [t for t in results.of(study) if t.status in ("completed", "infeasible")]
        for study in results.studies
    }
    budget = min((len(trials) for trials in ended.values() if trials), default=0)
    left_out = sum(max(0, len(trials) - budget) for trials in ended.values())
    off = results.meaning.off.get(name, _NO_VALUE)
    beside = _beside(results)
    arms = []
    for value in searched.values:
        studies = [s for s in results.studies if same_value(s.scientific[name], value)]
        trials = [t for s in studies for t in ended[s.number][:budget]]
        completed = [t for t in trials if t.value is not None]
        losses = [-results.objective.sign * (t.value or 0.0) for t in completed]
        best: Trial | None = completed[int(np.argmin(losses))] if completed else None
        # an adaptive search's trials cannot stand for one another
        laid_out = all((t.search or results.search) in LAID_OUT for t in trials)
        spreads = [trial_sd(results, s) for s in studies if best and s.number == best.study]
        arms.append(
            Arm(
                value,
                off is not _NO_VALUE and same_value(off, value),  # type: ignore[arg-type]
                len(trials),
                len(trials) - len(completed),
                tuple(t.value for t in completed if t.value is not None),
                None if best is None else best.value,
                None if best is None else best.shown_number,
                _luck(losses, -results.objective.sign) if laid_out else None,
                spreads[0] if spreads else None,
                *(beside.get(studies[0].number, ("", "")) if len(studies) == 1 else ()),
            )
        )
    return tuple(arms), left_out


_NO_VALUE = object()


def _beside(results: Results) -> dict[int, tuple[Beside, str]]:
    """How each study compares with the best one: on shared points, with equal budgets."""
    found = pairs(results)
    words = {pair.other.number: _compared(pair, len(found)) for pair in found}
    return {found[0].best.number: ("best", "best"), **words} if found else {}


def _compared(pair: Pair, others: int) -> tuple[Beside, str]:
    if pair.halves is None:
        return "cannot judge", "" if pair.why is None else str(pair.why)
    gap = number(float(f"{pair.halves.difference:.3g}"))
    if pair.worse(side_of(pair, others)):
        return "worse", f"worse by {gap} with {pair.halves.trials} trials each"
    return "no clear gap", f"cannot be told from the best: a gap of {gap}"


def _luck(losses: Sequence[float], sign: float) -> tuple[float, float] | None:
    """How far the best of half as many trials would have spread, in the objective's direction."""
    if len(losses) < FEWEST:
        return None
    quantiles = best_of(losses, -(-len(losses) // 2)).quantiles
    return ordered(sign * quantiles[0], sign * quantiles[-1])


def _says(data: IsolationData) -> str:
    if data.buckets is not None:
        return f"Best {data.metric} by {data.name}: {trend(data.buckets)}"
    parts = []
    for arm in data.arms:
        best = "no completed trial" if arm.best is None else number(arm.best)
        counts = f"{arm.trials} trials" + (
            f", {arm.infeasible} infeasible" if arm.infeasible else ""
        )
        words = [counts, *(["off"] if arm.off else []), *([arm.beside] if arm.beside else [])]
        trial = f"trial {arm.trial}; " if arm.trial is not None else ""
        parts.append(f"{label(arm.value)}: {best} ({trial}{', '.join(words)})")
    said = f"Best {data.metric} by {data.name}, with equal budgets. {'; '.join(parts)}."
    if any(arm.luck for arm in data.arms):
        said += " Bars: 5 to 95 % of the best of half as many trials (tuning luck)."
    if any(arm.trial_sd is not None for arm in data.arms):
        said += " Whiskers: one trial standard deviation, from repeats."
    if data.left_out:
        said += f" {data.left_out} trials beyond the equal budget are left out."
    return said


def draw_isolation(canvas: Canvas, data: IsolationData) -> None:
    """Draw the arms side by side, or the buckets along the range."""
    axes = canvas.subplots()
    axes.grid(True, axis="y", color=GRID, linewidth=0.6)
    if data.buckets is not None:
        draw_buckets(axes, data.buckets)
    else:
        _draw_arms(axes, data)
    axes.set_ylabel(label_of(data.metric, 36))
    if axes.get_yscale() == "linear":
        axes.yaxis.set_major_formatter(on_axis)
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        canvas.legend(loc="outside upper left", ncols=4)


def _draw_arms(axes: Axes, data: IsolationData) -> None:
    said: set[str] = set()

    def once(text: str) -> str | None:
        new = text not in said
        said.add(text)
        return text if new else None

    for at, arm in enumerate(data.arms):
        spots = at + 0.22 + 0.12 * (np.mod(np.arange(len(arm.values)) * 0.618, 1.0) - 0.5)
        axes.plot(
            spots, arm.values, "o", color=FAINT, markersize=3, label=once("trials"), rasterized=True
        )
        if arm.luck is not None:
            axes.plot(
                [at, at],
                arm.luck,
                color=colour(4),
                linewidth=9,
                alpha=0.6,
                solid_capstyle="butt",
                label=once("tuning luck (best of half the trials)"),
                zorder=2,
            )
        if arm.best is not None:
            axes.errorbar(
                at,
                arm.best,
                yerr=arm.trial_sd,
                fmt="D",
                color=BEST,
                markersize=6,
                capsize=5,
                elinewidth=1.4,
                zorder=4,
                label=once("best, with trial sd" if arm.trial_sd is not None else "best"),
            )
            axes.annotate(
                number(arm.best),
                (at, arm.best),
                (-9, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=8,
            )
        else:
            axes.plot(
                at,
                0.5,
                "x",
                color=INFEASIBLE,
                markersize=10,
                markeredgewidth=2,
                transform=axes.get_xaxis_transform(),
                label=once("no completed trial"),
            )
    _focus(axes, data)
    words = [f"{label(a.value)}{' (off)' if a.off else ''}\n{_counted(a)}" for a in data.arms]
    axes.set_xticks(range(len(data.arms)), words)
    if len(data.arms) > 8:
        axes.tick_params(axis="x", labelrotation=40, labelsize=7)
    axes.set_xlim(-0.6, len(data.arms) - 0.4)
    axes.set_xlabel(label_of(data.name, 60))


def _counted(arm: Arm) -> str:
    lines = [f"{arm.trials} trials", f"{arm.infeasible} infeasible" if arm.infeasible else ""]
    return "\n".join(filter(None, (*lines, arm.verdict)))


def _focus(axes: Axes, data: IsolationData) -> None:
    """Show what is compared; trials far worse than any best need not be seen."""
    near = [v for a in data.arms for v in (a.best, *(a.luck or ())) if v is not None]
    if not near:
        axes.set_yticks([])
        return
    near += [
        a.best + s * a.trial_sd
        for a in data.arms
        for s in (-1, 1)
        if a.best is not None and a.trial_sd is not None
    ]
    if data.minimize and set_scale(axes, "y", near):
        return
    low, high = min(near), max(near)
    every = [v for a in data.arms for v in a.values]
    room = (high - low) or 0.1 * abs(high) or 1.0
    if data.minimize:
        axes.set_ylim(low - 0.15 * room, min(high + 1.2 * room, max(every) + 0.15 * room))
    else:
        axes.set_ylim(max(low - 1.2 * room, min(every) - 0.15 * room), high + 0.15 * room)
