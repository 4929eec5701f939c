"""How did the best come about? Every trial in order, and the best so far.

Of one round, or of several rounds one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tunewright.checks.best_step import best_steps
from tunewright.checks.positions import losses_of, study_trials
from tunewright.errors import NotFound
from tunewright.messages import Message
from tunewright.present.figures import style
from tunewright.present.figures.figure import Figure, above, nothing, words_of
from tunewright.present.figures.ticks import (
    FAR,
    LARGEST,
    NEAR,
    drawable,
    extent,
    label_of,
    on_axis,
    set_scale,
)
from tunewright.stats.best_of_k import BestOf, best_of, best_of_each
from tunewright.store.results import Results
from tunewright.store.trial import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


_WIDE = 3.0  # worst over best value from which the axis is logarithmic: the end is what matters
_LETTERS = 130  # that fit along the axis of a wide figure


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
    size = (style.SINGLE if isinstance(rounds, Results) else style.DOUBLE, style.HEIGHT)
    goal = str(given[0].round.goal)
    return Figure(
        "progress", data, caption=_caption(data), size=size, goal=goal, drawing=_draw_progress
    )


def progress_data(rounds: Sequence[Results]) -> ProgressData:
    """What the figure shows."""
    if not rounds:
        raise NotFound("plot.not_results")
    objective = rounds[0].objective
    stretches: list[Stretch] = []
    best: list[float | None] = []
    for results in rounds:
        ended = [t for t in results.rows if t.ended]
        places = {trial.number: len(best) + at for at, trial in enumerate(ended)}
        repeats = tuple(
            (places[trial.number], repeat.value)
            for trial in ended
            for repeat in results.repeats(trial)
            if repeat.value is not None
        )
        values = tuple(trial.value for trial in ended)
        pruned = tuple(places[trial.number] for trial in ended if trial.status == "pruned")
        name = results.round.name
        stretches.append(Stretch(name, results.search, len(best), values, repeats, pruned))
        for value in values:
            known = [v for v in (best[-1] if best else None, value) if v is not None]
            best.append((min if objective.minimize else max)(known) if known else None)
    return ProgressData(objective.metric, objective.minimize, tuple(stretches), tuple(best))


def _caption(data: ProgressData) -> tuple[Message, ...]:
    messages = []
    for stretch in data.rounds:
        end = stretch.first + len(stretch.values)
        if end and (reached := data.best[end - 1]) is not None:
            facts = {"round": stretch.round, "search": stretch.search, "best": reached}
            facts["trials"] = len(stretch.values)
            messages.append(Message("figure.progress.round", facts))
    if not messages:
        return (Message("figure.progress.nothing", {"metric": data.metric}),)
    messages.insert(0, Message("figure.progress", {"rounds": len(data.rounds)}))
    pruned = sum(len(s.pruned) for s in data.rounds)
    if crosses := sum(v is None for s in data.rounds for v in s.values) - pruned:
        messages.append(Message("figure.progress.crosses", {"trials": crosses}))
    if pruned:
        messages.append(Message("figure.progress.pruned", {"pruned": pruned}))
    if repeats := sum(len(s.repeats) for s in data.rounds):
        messages.append(Message("figure.progress.repeats", {"repeats": repeats}))
    return tuple(messages)


def _draw_progress(canvas: Canvas, data: ProgressData) -> None:
    """A mark for each trial, a band for each round, a step line for the best so far."""
    from matplotlib.ticker import MaxNLocator

    axes = canvas.subplots()
    values = drawable([np.nan if v is None else v for s in data.rounds for v in s.values])
    finite = values[np.isfinite(values)]
    if not len(finite):
        nothing(axes, words_of("progress.empty"))
        return
    repeated = [repeat for stretch in data.rounds for repeat in stretch.repeats]
    again = drawable([value for _, value in repeated])
    known = np.concatenate([finite, again[np.isfinite(again)]])
    low, high = _value_limits(data, known, float(np.median(finite)))
    inside = (values >= low) & (values <= high)
    look: dict[str, Any] = {"color": style.EDGE, "marker": "o", "linestyle": "none"}
    places = np.arange(len(values))
    label = words_of("label.trials")
    axes.plot(places[inside], values[inside], markersize=4, alpha=0.85, label=label, **look)
    if repeated:
        near = (again >= low) & (again <= high)
        where = np.array([place for place, _ in repeated])
        label = words_of("label.repeats")
        hollow = {**look, "color": style.BEST, "markerfacecolor": "none"}
        axes.plot(where[near], again[near], markersize=5, alpha=0.8, label=label, **hollow)
    best = drawable([np.nan if v is None else v for v in data.best])
    label = words_of("label.best_so_far")
    axes.step(places, best, where="post", color=style.BEST, linewidth=1.6, label=label)
    _rails(axes, data, low, high)
    _bands(axes, data)
    axes.set_xlabel(words_of("label.in_order", rounds=len(data.rounds)))
    axes.set_ylabel(label_of(data.metric, 30))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(-0.6, max(data.trials - 0.4, 0.6))
    axes.grid(True, axis="y", color=style.GRID, linewidth=0.6)
    if not (data.minimize and set_scale(axes, "y", known[known <= high], wide=_WIDE)):
        axes.yaxis.set_major_formatter(on_axis)
        room = 0.06 * (high - low)
        axes.set_ylim(low - room, high + room)
    above(canvas, most=5)


def _value_limits(data: ProgressData, known: np.ndarray, middle: float) -> tuple[float, float]:
    """The values between which trials and repeats are drawn in their place, those at the end.

    `middle` is the median of the trials: repeats, which are of the best, would move it.
    """
    low, high = extent(known)
    best = low if data.minimize else high
    distance = abs(middle - best)
    if not distance or high - low <= FAR * distance:
        return low, high
    room = NEAR * distance
    return (low, min(high, best + room)) if data.minimize else (max(low, best - room), high)


def _rails(axes: Axes, data: ProgressData, low: float, high: float) -> None:
    """Trials without a value, or with one far off, on rails along the upper edge."""
    every = [(s.first + i, v) for s in data.rounds for i, v in enumerate(s.values)]
    pruned = [at for s in data.rounds for at in s.pruned]
    wrong = [at for at, v in every if v is None and at not in set(pruned)]
    drawn = [*every, *(repeat for s in data.rounds for repeat in s.repeats)]
    far = [at for at, v in drawn if v is not None and not low <= v <= high]
    rails: tuple[tuple[list[int], str, str, float, str], ...] = (
        (wrong, "x", style.INFEASIBLE, 1.03, "infeasible_or_failed"),
        (pruned, "|", style.PRUNED, 1.03, "pruned"),
        (far, "^" if data.minimize else "v", style.EDGE, 0.985 if data.minimize else 0.015, "far"),
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
            axes.axvspan(first, last, color=style.GRID, alpha=0.6, linewidth=0, zorder=0)
        room = int(_LETTERS * len(stretch.values) / max(data.trials, 1))
        named = stretch.round if len(stretch.round) <= room else str(place + 1)
        axes.annotate(
            label_of(named, 40),
            ((first + last) / 2, 1),
            (0, 13),  # above the crosses of trials that did not complete
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
        )


# ---- have we sampled enough? The best of k trials, for every k up to the trials there are.
#
# The playbook's figure 3 for the user's own studies: how the best would have come out with a
# smaller budget, exactly, over every way to pick k of the completed trials.


_STUDIES = 4  # drawn side by side


@dataclass(frozen=True)
class StudyBudgets:
    """One study: the best of 1, 2, 3, 5, 8 ... of its completed trials."""

    study: str
    completed: int
    infeasible: int
    budgets: tuple[BestOf, ...]  # quantiles in the objective's own direction
    half: float | None  # what half as many trials would have cost on average


@dataclass(frozen=True)
class BestOfKData:
    """Every study with a completed trial, and the difference the round wants to see."""

    metric: str
    minimize: bool
    studies: tuple[StudyBudgets, ...]
    detect: float | None
    adaptive: int = 0  # trials that do not count: later ones of such a search are better by design

    @property
    def best_studies(self) -> tuple[StudyBudgets, ...]:
        """The studies there is room for: the best ones, in their order."""
        turned = 1.0 if self.minimize else -1.0
        ranked = sorted(self.studies, key=lambda study: turned * study.budgets[-1].mean)
        return tuple(study for study in self.studies if study in ranked[:_STUDIES])


def best_of_k(results: Results) -> Figure[BestOfKData]:
    """Box plots of the best of k trials for each study.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
    """
    data = best_of_k_data(results)
    size = (style.SINGLE if len(data.studies) <= 2 else style.DOUBLE, style.HEIGHT)
    goal = str(results.round.goal)
    return Figure(
        "best_of_k",
        data,
        caption=_best_of_k_caption(data),
        size=size,
        goal=goal,
        drawing=_draw_best_of_k,
    )


def best_of_k_data(results: Results) -> BestOfKData:
    """What the figure shows."""
    sign = -results.objective.sign
    studies, adaptive = [], 0
    for group in study_trials(results):
        losses = losses_of(results, group.trials)
        values = losses[np.abs(losses) <= LARGEST]  # means of larger ones overflow
        adaptive += group.adaptive
        if len(values):
            budgets = tuple(_orient(b, sign) for b in best_of_each(values))
            half = None
            if len(values) > 1:
                half = best_of(values, len(values) // 2).mean - float(values.min())
            infeasible = len(losses) - len(values)
            studies.append(StudyBudgets(group.study.label, len(values), infeasible, budgets, half))
    objective = results.objective
    return BestOfKData(
        objective.metric, objective.minimize, tuple(studies), results.round.detect, adaptive
    )


def _orient(best: BestOf, sign: float) -> BestOf:
    return BestOf(best.k, sign * best.mean, best.sd, tuple(sign * q for q in best.quantiles))


def _best_of_k_caption(data: BestOfKData) -> tuple[Message, ...]:
    messages = []
    for study in data.best_studies:
        facts = {"study": study.study, "trials": study.completed, "half": study.half}
        messages.append(
            Message("figure.best_of_k.study", {**facts, "best": study.budgets[-1].mean})
        )
    if messages:
        messages.insert(0, Message("figure.best_of_k", {"metric": data.metric}))
    else:
        messages.append(Message("figure.best_of_k.nothing", {"adaptive": data.adaptive}))
    if len(data.studies) > _STUDIES:
        left = len(data.studies) - _STUDIES
        messages.append(Message("figure.best_of_k.left_out", {"studies": left}))
    if data.detect is not None and data.studies:
        messages.append(Message("figure.best_of_k.detect", {"detect": data.detect}))
    if data.adaptive:
        messages.append(Message("figure.adaptive", {"adaptive": data.adaptive}))
    return tuple(messages)


def _draw_best_of_k(canvas: Canvas, data: BestOfKData) -> None:
    """Draw a box for each budget: half of all ways to pick, and 90 % of them as whiskers."""
    studies = data.best_studies
    grid = canvas.subplots(1, max(1, len(studies)), sharey=True, squeeze=False)[0]
    for axes, study in zip(grid, studies, strict=False):
        boxes = [
            {"label": str(b.k), "whislo": q[0], "q1": q[1], "med": q[2], "q3": q[3], "whishi": q[4]}
            for b in study.budgets
            for q in (sorted(drawable(b.quantiles).tolist()),)
        ]
        axes.bxp(
            boxes,
            showfliers=False,
            patch_artist=True,
            widths=0.6,
            boxprops={
                "facecolor": style.NOISE,
                "alpha": 0.6,
                "linewidth": 0.7,
                "edgecolor": style.MUTED,
            },
            medianprops={"color": style.BEST, "linewidth": 1.8},
            whiskerprops={"linewidth": 0.8, "color": style.MUTED},
            capprops={"linewidth": 0.8, "color": style.MUTED},
        )
        best = study.budgets[-1].mean
        if data.detect is not None:
            worse = best + data.detect if data.minimize else best - data.detect
            ends = sorted(drawable([best, worse]).tolist())
            wanted = words_of("label.detect")
            axes.axhspan(*ends, color=style.FAINT, alpha=0.4, zorder=0, label=wanted)
        axes.set_title(label_of(study.study, 34), loc="left")
        axes.set_xlabel(words_of("label.k"))
        if len(boxes) > 8:
            axes.tick_params(axis="x", labelrotation=45)
        axes.grid(True, axis="y", color=style.GRID, linewidth=0.6)
    grid[0].set_ylabel(label_of(words_of("label.best_of_k", metric=data.metric), 36))
    grid[0].yaxis.set_major_formatter(on_axis)
    if not studies:
        nothing(grid[0], words_of("best_of_k.empty"))
        return
    drawn = [q for s in studies for b in s.budgets for q in b.quantiles]
    if not (data.minimize and set_scale(grid[0], "y", drawn)):
        low, high = extent(drawn)
        grid[0].set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    above(canvas)


# ---- when was the best value reached? A histogram of the best step over all completed trials.
#
# Early best steps show that training is longer than it needs to be or that trials overfit; best
# steps at the very end show that it may be too short (playbook, "Deciding how long to train").
# An objective that is the last value has no best step: the figure refuses it.


_BINS = 20


@dataclass(frozen=True)
class BestStepData:
    """The best step of every completed trial, and of the best of them."""

    metric: str
    max_train_steps: int  # the longest training, in steps as logged
    steps: tuple[int, ...]  # best trial first
    top: tuple[int, ...]  # of the best five, or the best tenth
    proposed: int | None  # a shorter max_train_steps, where half of the best were done early

    @property
    def late(self) -> float:
        """The share of trials whose best step lies in the last tenth of training."""
        return _share(step > 0.9 * self.max_train_steps for step in self.steps)

    @property
    def early(self) -> float:
        """The share of trials whose best step lies in the first half of training."""
        return _share(step <= 0.5 * self.max_train_steps for step in self.steps)


def best_step(results: Results) -> Figure[BestStepData]:
    """A histogram of the best step, with the best trials in a separate colour.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
    """
    data = best_step_data(results)
    goal = str(results.round.goal)
    return Figure(
        "best_step", data, caption=_best_step_caption(data), goal=goal, drawing=draw_best_step
    )


def best_step_data(results: Results) -> BestStepData:
    """What the histogram shows; refuses an objective that is the last value."""
    if results.objective.at == "last":
        raise NotFound("plot.no_best_step", metric=results.objective.metric)
    ranked = results.top()
    best = best_steps(results, ranked)
    best_and_last = [_best_and_last(results, trial) for trial in ranked]
    read = [pair for pair in best_and_last if pair is not None]
    return BestStepData(
        results.objective.metric,
        max((last for _, last in read), default=0),
        tuple(step for step, _ in read),
        best.steps,
        best.proposed,
    )


def _best_and_last(results: Results, trial: Trial) -> tuple[int, int] | None:
    """The step of the best value of a curve, and its last step; None without a finite value."""
    curve = trial.curves.only(results.objective.metric)
    if curve is None or not np.isfinite(curve.values).any():
        return None
    losses = np.where(np.isfinite(curve.values), -results.objective.sign * curve.values, np.inf)
    return int(curve.steps[losses.argmin()]), int(curve.steps[-1])


def _share(flags: Iterable[bool]) -> float:
    counted = list(flags)
    return sum(counted) / len(counted) if counted else 0.0


def _best_step_caption(data: BestStepData) -> tuple[Message, ...]:
    if not data.steps:
        return (Message("figure.best_step.nothing"),)
    counted = {"trials": len(data.steps), "metric": data.metric}
    messages = [Message("figure.best_step", {**counted, "early": data.early, "late": data.late})]
    if data.proposed is not None:
        messages.append(Message("figure.best_step.proposed", {"steps": data.proposed}))
    return tuple(messages)


def draw_best_step(canvas: Canvas, data: BestStepData) -> None:
    """Draw the histogram over twentieths of training."""
    from matplotlib.ticker import MaxNLocator

    axes = canvas.subplots()
    if not data.steps:
        nothing(axes, words_of("best_step.nothing"))
        return
    edges = np.linspace(0, max(1, data.max_train_steps), _BINS + 1)
    # the best ones in the same bins as all, and as wide
    every, best = (np.histogram(steps, edges)[0] for steps in (data.steps, data.top))
    how: dict[str, Any] = {"align": "edge", "width": np.diff(edges), "edgecolor": style.PAPER}
    axes.bar(edges[:-1], every, color=style.FAINT, label=words_of("label.all_completed"), **how)
    few = words_of("label.best_few", trials=len(data.top))
    axes.bar(edges[:-1], best, color=style.BEST, label=few, **how)
    if data.proposed is not None:
        axes.axvline(data.proposed, color=style.ACCENT, linestyle="--", linewidth=1.4)
        axes.annotate(
            words_of("best_step.enough", steps=data.proposed),
            (data.proposed, 1),
            (4, -2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            va="top",
            fontsize=8,
        )
    axes.set_xlabel(label_of(words_of("label.best_step", metric=data.metric), 60))
    axes.set_ylabel(words_of("label.trials"))
    axes.set_xlim(0, float(edges[-1]) * 1.01)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.xaxis.set_major_formatter(on_axis)
    axes.grid(True, axis="y", color=style.GRID, linewidth=0.6)
    above(canvas)
