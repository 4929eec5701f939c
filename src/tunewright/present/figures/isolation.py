"""Isolation plots: the best objective at each value of a scientific hyperparameter.

Everything else is tuned anew at every value, so what is left is the value's own effect, as far as
the budget can show (playbook, "Extracting insight from experiment results").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from tunewright.checks.comparison import Pair, pairs, side_of
from tunewright.checks.positions import LAID_OUT, axes as searched_axes, study_trials
from tunewright.checks.trial_sd import trial_sd
from tunewright.design.ranges import Range, Value, as_range, same_value
from tunewright.errors import NotFound
from tunewright.messages import Message
from tunewright.present.figures import style
from tunewright.present.figures.figure import Figure, above, words_of
from tunewright.present.figures.ticks import (
    LARGEST,
    drawable,
    extent,
    label,
    label_of,
    number,
    on_axis,
    set_scale,
    ticks,
)
from tunewright.stats.best_of_k import best_of
from tunewright.stats.buckets import Bucket, contrast
from tunewright.store.results import Results
from tunewright.store.trial import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


# ---- A scientific range in equal-count buckets: the best of each, next to what chance would do.
#
# Three values as a list show far more than a range does; this shows what can be shown of one.


@dataclass(frozen=True, eq=False)
class Buckets:
    """A scientific range: every completed trial, and the best of equal-count buckets of them."""

    name: str
    range: Range
    minimize: bool
    positions: npt.NDArray[np.float64]  # on the declared scale, in the unit interval
    values: npt.NDArray[np.float64]
    buckets: tuple[Bucket, ...]  # in the objective's own direction; none with too few trials
    p: float | None  # of a trend of the bests; None: too few buckets to call one


def buckets(results: Results, name: str, searched: Range) -> Buckets:
    """The trials of all studies along a scientific range, in buckets where there are enough."""
    sign = -results.objective.sign
    axes = [
        axis
        for group in study_trials(results)
        for axis in searched_axes(results, group)
        if axis.name == name
    ]
    positions = np.concatenate([axis.units[axis.feasible] for axis in axes])
    losses = np.concatenate([axis.losses[axis.feasible] for axis in axes])
    sane = np.abs(losses) <= LARGEST  # averages of larger ones overflow
    positions, losses = positions[sane], losses[sane]
    cut = contrast(positions, losses)
    oriented = tuple(
        replace(b, best=sign * b.best, band=ascending(sign * b.band[0], sign * b.band[1]))
        for b in (cut.buckets if cut else ())
    )
    p = cut.p if cut else None
    down = results.objective.minimize
    return Buckets(
        name=name,
        range=searched,
        minimize=down,
        positions=positions,
        values=sign * losses,
        buckets=oriented,
        p=p,
    )


def ascending(a: float, b: float) -> tuple[float, float]:
    """The two ends of an interval, the lower first."""
    return (a, b) if a <= b else (b, a)


def trend(bucketed: Buckets) -> Message:
    """The caption of the buckets."""
    counted = {"trials": len(bucketed.values), "buckets": len(bucketed.buckets), "p": bucketed.p}
    return Message("figure.isolation.trend", counted)


def _draw_buckets(axes: Axes, bucketed: Buckets) -> None:
    """Draw the trials, the best of each bucket, and the band of what chance would do."""
    for end in (0.0, 1.0):
        axes.axvline(end, color=style.EDGE, linewidth=1.0, linestyle=(0, (4, 3)))
    look: dict[str, Any] = {
        "color": style.FAINT,
        "markersize": 3,
        "label": words_of("label.trials"),
    }
    axes.plot(bucketed.positions, drawable(bucketed.values), "o", **look)
    for place, bucket in enumerate(bucketed.buckets):
        _draw_bucket(axes, bucket, first=place == 0)
    marks = ticks(bucketed.range)
    axes.set_xticks([tick.position for tick in marks], [tick.label for tick in marks])
    axes.set_xlim(-0.04, 1.04)
    axes.set_xlabel(label_of(bucketed.name, 60))
    near = [v for b in bucketed.buckets for v in (b.best, *b.band)]
    if near:
        low, high = extent(near)
        room = high - low
        worse, better = 1.2 * room, 0.25 * room
        up, down = (worse, better) if bucketed.minimize else (better, worse)
        axes.set_ylim(low - down, high + up)


def _draw_bucket(axes: Axes, bucket: Bucket, first: bool) -> None:
    axes.fill_between(
        [bucket.low, bucket.high],
        *bucket.band,
        color=style.NOISE,
        alpha=0.4,
        linewidth=0,
        label=words_of("label.no_effect") if first else None,
    )
    axes.plot(
        [bucket.low, bucket.high],
        [bucket.best] * 2,
        color=style.BEST,
        linewidth=2,
        label=words_of("label.best_of_bucket") if first else None,
    )
    axes.annotate(
        f"{bucket.trials}",
        ((bucket.low + bucket.high) / 2, bucket.best),
        (0, -10),
        textcoords="offset points",
        ha="center",
        fontsize=7,
    )


# ---- isolation


_FEWEST = 4  # completed trials from which the noise of tuning is shown
_MANY = 8  # arms beyond which the figure takes a whole row

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
    noise: tuple[float, float] | None  # 5 to 95 % of the best of half as many trials
    trial_sd: float | None  # between repeats of one configuration; None without repeats
    verdict: Beside = ""  # next to the best arm, on the points they share
    beside: Message | None = None  # the same with its numbers


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
    """The best objective by value of a scientific hyperparameter; the first one without a name.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
        name: a scientific hyperparameter; None: the first one.
    """
    data = isolation_data(results, name)
    size = (style.DOUBLE if len(data.arms) > _MANY else style.SINGLE, style.HEIGHT)
    goal = str(results.round.goal)
    return Figure(
        "isolation", data, caption=_caption(data), size=size, goal=goal, drawing=_draw_isolation
    )


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
    common = (chosen, objective.metric, objective.minimize, searched)
    if searched.choices is not None:
        return IsolationData(*common, *_arms(results, chosen, searched.choices))
    return IsolationData(*common, buckets=buckets(results, chosen, searched))


def _arms(results: Results, name: str, values: tuple[Value, ...]) -> tuple[tuple[Arm, ...], int]:
    """Equal budgets: of every study its first trials, as many as the shortest study has."""
    ended = {
        study.number: [t for t in results.rows_of(study) if t.status in ("completed", "infeasible")]
        for study in results.studies
    }
    budget = min((len(trials) for trials in ended.values() if trials), default=0)
    left_out = sum(max(0, len(trials) - budget) for trials in ended.values())
    off = results.meaning.off_by_name.get(name, _NO_VALUE)
    beside = _beside(results)
    arms = []
    for value in values:
        studies = [s for s in results.studies if same_value(s.scientific[name], value)]
        trials = [t for s in studies for t in ended[s.number][:budget]]
        completed = [t for t in trials if t.value is not None]
        losses = [-results.objective.sign * (t.value or 0.0) for t in completed]
        best: Trial | None = completed[int(np.argmin(losses))] if completed else None
        # an adaptive search's trials cannot replace one another
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
                _noise(losses, -results.objective.sign) if laid_out else None,
                spreads[0] if spreads else None,
                *(beside.get(studies[0].number, ("", None)) if len(studies) == 1 else ()),
            )
        )
    return tuple(arms), left_out


_NO_VALUE = object()


def _beside(results: Results) -> dict[int, tuple[Beside, Message | None]]:
    """How each study compares with the best one: on shared points, with equal budgets."""
    compared = pairs(results)
    beside = {pair.other.number: _verdict_of(pair, len(compared)) for pair in compared}
    return {compared[0].best.number: ("best", None), **beside} if compared else {}


def _verdict_of(pair: Pair, others: int) -> tuple[Beside, Message | None]:
    if pair.halves is None:
        return "cannot judge", pair.why
    facts = {"gap": pair.halves.difference, "trials": pair.halves.trials}
    if pair.worse(side_of(pair, others)):
        return "worse", Message("figure.isolation.worse", facts)
    return "no clear gap", Message("figure.isolation.no_clear_gap", facts)


def _noise(losses: Sequence[float], sign: float) -> tuple[float, float] | None:
    """How far the best of half as many trials would have spread, in the objective's direction."""
    sane = [loss for loss in losses if abs(loss) <= LARGEST]
    if len(sane) < _FEWEST:
        return None
    quantiles = best_of(sane, -(-len(sane) // 2)).quantiles
    return ascending(sign * quantiles[0], sign * quantiles[-1])


def _caption(data: IsolationData) -> tuple[Message, ...]:
    names = {"metric": data.metric, "name": data.name}
    if data.buckets is not None:
        return Message("figure.isolation.range", names), trend(data.buckets)
    if not any(arm.values for arm in data.arms):
        return (Message("figure.isolation.nothing", names),)
    messages = [Message("figure.isolation", names)]
    for arm in data.arms:
        facts = {
            "value": label(arm.value),
            "off": arm.off,
            "trials": arm.trials,
            "infeasible": arm.infeasible,
            "best": arm.best,
            "trial": arm.trial,
            "is_best": arm.verdict == "best",
            "beside": arm.beside,
        }
        messages.append(Message("figure.isolation.arm", facts))
    if any(arm.noise for arm in data.arms):
        messages.append(Message("figure.isolation.noise"))
    if any(arm.trial_sd is not None for arm in data.arms):
        messages.append(Message("figure.isolation.trial_sd"))
    if data.left_out:
        messages.append(Message("figure.isolation.left_out", {"trials": data.left_out}))
    return tuple(messages)


def _draw_isolation(canvas: Canvas, data: IsolationData) -> None:
    """Draw the arms side by side, or the buckets along the range."""
    axes = canvas.subplots()
    axes.grid(True, axis="y", color=style.GRID, linewidth=0.6)
    if data.buckets is not None:
        _draw_buckets(axes, data.buckets)
    else:
        _draw_arms(axes, data)
    axes.set_ylabel(label_of(data.metric, 36))
    if axes.get_yscale() == "linear":
        axes.yaxis.set_major_formatter(on_axis)
    above(canvas)


def _draw_arms(axes: Axes, data: IsolationData) -> None:
    labelled: set[str] = set()

    def once(code: str) -> str | None:
        new = code not in labelled
        labelled.add(code)
        return words_of(f"label.{code}") if new else None

    for at, arm in enumerate(data.arms):
        spots = at + 0.22 + 0.12 * (np.mod(np.arange(len(arm.values)) * 0.618, 1.0) - 0.5)
        axes.plot(
            spots,
            drawable(arm.values),
            "o",
            color=style.FAINT,
            markersize=3,
            label=once("trials") if arm.values else None,
            rasterized=True,
        )
        if arm.noise is not None:
            axes.plot(
                [at, at],
                arm.noise,
                color=style.NOISE,
                linewidth=9,
                alpha=0.8,
                solid_capstyle="butt",
                label=once("tuning_noise"),
                zorder=2,
            )
        best = None if arm.best is None else float(drawable([arm.best])[0])
        if best is not None and np.isfinite(best):
            _draw_best(axes, at, best, arm, once)
        else:
            axes.plot(
                at,
                0.5,
                "x",
                color=style.INFEASIBLE,
                markersize=10,
                markeredgewidth=2,
                transform=axes.get_xaxis_transform(),
                label=once("none_completed" if arm.best is None else "cannot_draw"),
            )
    _focus(axes, data)
    words = [f"{label(a.value)}{_off(a)}\n{_tick_lines(a)}" for a in data.arms]
    axes.set_xticks(range(len(data.arms)), words)
    if len(data.arms) > _MANY:
        axes.tick_params(axis="x", labelrotation=40, labelsize=7)
    axes.set_xlim(-0.6, len(data.arms) - 0.4)
    axes.set_xlabel(label_of(data.name, 60))


def _draw_best(axes: Axes, at: int, best: float, arm: Arm, once: Callable[[str], Any]) -> None:
    """The best of an arm, with how far seeds move it where that is known."""
    sd = arm.trial_sd if arm.trial_sd is not None and arm.trial_sd <= LARGEST else None
    axes.errorbar(
        at,
        best,
        yerr=sd,
        fmt="D",
        color=style.BEST,
        markersize=6,
        capsize=5,
        elinewidth=1.4,
        zorder=4,
        label=once("best" if sd is None else "best_with_sd"),
    )
    axes.annotate(
        f"{number(best)}\n#{arm.trial}",
        (at, best),
        (-9, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=8,
    )


def _off(arm: Arm) -> str:
    return f" ({words_of('label.off')})" if arm.off else ""


def _tick_lines(arm: Arm) -> str:
    lines = [words_of("label.count", trials=arm.trials)]
    if arm.infeasible:
        lines.append(words_of("label.count_infeasible", infeasible=arm.infeasible))
    if arm.verdict:
        lines.append(words_of(f"verdict.{arm.verdict}"))
    return "\n".join(lines)


def _focus(axes: Axes, data: IsolationData) -> None:
    """Show what is compared; trials far worse than any best need not be seen."""
    levels = [v for a in data.arms for v in (a.best, *(a.noise or ())) if v is not None]
    near = [v for v in levels if abs(v) <= LARGEST]
    if not near:
        axes.set_yticks([])
        return
    near += [
        a.best + s * a.trial_sd
        for a in data.arms
        for s in (-1, 1)
        if a.best is not None and a.trial_sd is not None and a.trial_sd <= LARGEST
    ]
    if data.minimize and set_scale(axes, "y", near):
        return
    low, high = extent(near)
    least, most = extent([v for a in data.arms for v in a.values])
    room = high - low
    if data.minimize:
        axes.set_ylim(low - 0.15 * room, max(high, min(high + 1.2 * room, most)) + 0.15 * room)
    else:
        axes.set_ylim(min(low, max(low - 1.2 * room, least)) - 0.15 * room, high + 0.15 * room)
