"""Up to which batch size does a larger batch save steps? Steps to a goal, tuned anew at each size.

The protocol of Shallue et al.: a whole study per batch size over the user's own search space, all
under the same budget of steps (never of epochs, which would give large batches fewer of them), and
a goal fixed by the smallest size before any larger one is looked at.
"""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tunewright.checks.boundary import Edge, edge
from tunewright.checks.positions import axes, has_edges, study_trials
from tunewright.design.conditions import Hyperparameter
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.execution.run import watcher_of
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.probe import Conclusion, keep, run_probe
from tunewright.probes.short_run import check_finished
from tunewright.progress.choose import Wanted
from tunewright.stats.best_of_k import best_weights
from tunewright.stats.crowding import FEWEST
from tunewright.store.curves import Curve
from tunewright.store.results import Results
from tunewright.store.trial import Trial

# ---- how do the steps to a goal fall with the batch size? steps(B) = S_min (1 + B_crit / B),
# fitted.
#
# Below the critical batch size doubling the batch nearly halves the steps (perfect scaling); far
# above it nothing is gained. The noise of each study's best trial is counted exactly, over every
# way to pick half of its trials, and is what makes the interval wide.
#
# Measured on 130 to 200 simulated studies each (4 to 8 sizes, 10 to 40 trials, steps noisy by 5 to
# 20 %, B_crit inside and far outside the sizes tried): the 95 % interval holds the truth in 92 to
# 96 %; with one standard deviation per size instead of the pooled one in 74 to 89 %.


_Floats = npt.NDArray[np.float64]
Label = Literal["perfect", "diminishing", "maximal"]
_PERFECT, _DIMINISHING = 0.55, 0.95  # of the steps are left after the batch is doubled
_FEWEST_SIZES = 3  # two parameters, and one to contradict them
DROP = 3.84  # of the sum of squares, in standard deviations: 95 %
_REACH = 100.0  # times beyond the sizes tried: further out nothing is known
_POINTS = 481  # of B_crit that are tried
_LEAST_SD = 0.01  # of log steps: no study is luckier than that


@dataclass(frozen=True)
class BestSteps:
    """The best of half of a study's trials, over every way to pick them: log steps to the goal."""

    mean: float
    sd: float
    low: float  # steps, 5 % of the ways
    high: float  # 95 %; infinite when more than 5 % of the ways reach the goal not at all


@dataclass(frozen=True)
class ScalingFit:
    """The fitted curve; an end of the interval is None where the sizes tried leave it open."""

    critical_batch_size: float
    low: float | None
    high: float | None
    smallest_steps: float  # S_min: what no batch size goes below, for the best of half the trials
    misfit: float  # root mean square residual over what noise explains; above 2 the form is wrong


def best_steps(steps: Sequence[float]) -> BestSteps:
    """How much of a study's best is noise; steps are infinite for trials that missed the goal.

    >>> best_steps([100.0, 200.0, math.inf, math.inf]).low
    100.0
    """
    ordered = np.sort(np.asarray(steps, dtype=float))
    weights = best_weights(len(ordered), max(1, len(ordered) // 2))
    reached = np.isfinite(ordered)
    if not reached.any():
        return BestSteps(math.nan, math.nan, math.inf, math.inf)
    logs = np.log(ordered[reached])
    shares = weights[reached] / weights[reached].sum()
    mean = float(shares @ logs)
    sd = math.sqrt(float(shares @ (logs - mean) ** 2))
    places = np.searchsorted(np.cumsum(weights), np.array([0.05, 0.95]) - 1e-12)
    low, high = ordered[np.minimum(places, len(ordered) - 1)]
    return BestSteps(mean, sd, float(low), float(high))


def label_of(before: float, after: float, times: float) -> Label:
    """What a batch size `times` as large has brought, by what each doubling of it left.

    >>> label_of(1000, 510, 2), label_of(1000, 490, 4), label_of(1000, 990, 2)
    ('perfect', 'diminishing', 'maximal')
    """
    left = (after / before) ** (1 / math.log2(times))
    if left <= _PERFECT:
        return "perfect"
    return "diminishing" if left <= _DIMINISHING else "maximal"


def fit_scaling(batch_sizes: Sequence[float], bests: Sequence[BestSteps]) -> ScalingFit | None:
    """Fit the curve to log steps, with the B_crit that are within 95 %; None with too few sizes.

    Noise counts as equal at every size, since one size's trials alone measure it badly. Where the
    points lie further from the curve than noise explains, the interval is widened by as much.
    """
    if len(batch_sizes) < _FEWEST_SIZES:
        return None
    sizes = np.asarray(batch_sizes, dtype=float)
    logs = np.array([best.mean for best in bests])
    sd = max(_LEAST_SD, math.sqrt(float(np.mean([best.sd**2 for best in bests]))))
    ends = math.log(sizes.min() / _REACH), math.log(sizes.max() * _REACH)
    tried = np.exp(np.linspace(*ends, _POINTS))
    apart = (logs - np.log1p(tried[:, None] / sizes)) / sd
    middles = apart.mean(axis=1)
    squares = ((apart - middles[:, None]) ** 2).sum(axis=1)
    at = int(squares.argmin())
    misfit = math.sqrt(float(squares[at]) / (len(sizes) - 2))
    inside = np.flatnonzero(squares <= squares[at] + DROP * max(1.0, misfit**2))
    first, last = int(inside[0]), int(inside[-1])
    return ScalingFit(
        float(tried[at]),
        None if first == 0 else float(tried[first]),
        None if last == _POINTS - 1 else float(tried[last]),
        math.exp(sd * float(middles[at])),
        misfit,
    )


# ---- how many steps does a study need to a goal, and can its answer be trusted?
#
# The fewest over its trials. Trusted if the fastest are not at the edge of the search space, three
# trials or more reach the goal, and evaluations are close enough together.


SHARE = 0.2  # of the feasible trials at the smallest batch size reach the goal
_FEWEST_REACH = 3  # trials, at every batch size
_FINE = 0.02  # of the steps: how close evaluations should be
_COARSE = 0.1  # further apart than this, the steps are not known


@dataclass(frozen=True)
class SizePoint:
    """One batch size: the steps its study needed, and whether they count."""

    batch_size: int
    steps: float | None  # the fewest of any trial; None: none reached the goal
    low: float | None  # of the best of half the trials, 5 %
    high: float | None  # 95 %; None: half of the trials may well miss the goal
    reached: int  # trials that reached the goal
    trials: int
    feasible: int
    spacing: float | None  # steps between evaluations where the fastest reached it
    fastest: Mapping[str, Value]  # its configuration; empty when none reached the goal
    problems: tuple[Message, ...]  # why it does not count
    caveats: tuple[Message, ...]
    round: str  # the name of its round
    scaling: Label | None = None  # against the size before that counts

    @property
    def valid(self) -> bool:
        """Whether it counts."""
        return not self.problems


def goal_of(results: Results) -> float | None:
    """The value that a fifth of the feasible trials reach, three at least; None: too few trials."""
    values = [trial.value for trial in results.top() if trial.value is not None]
    place = max(_FEWEST_REACH, math.ceil(SHARE * len(values)))
    return values[place - 1] if place <= len(values) else None


def _steps_of(trial: Trial, objective: Objective, goal: float) -> tuple[float, float] | None:
    """The step at which a trial first is as good as the goal, interpolated, and the spacing there.

    None: it never is, or it is infeasible.
    """
    curve = trial.curves.only(objective.metric)
    if trial.status != "completed" or curve is None:
        return None
    return first_reached(curve, goal, objective.minimize)


def first_reached(curve: Curve, goal: float, minimize: bool) -> tuple[float, float] | None:
    """The step at which a curve first is as good as the goal, and how far apart evaluations are.

    >>> first_reached(Curve(np.array([10, 20, 30]), np.array([0.9, 0.5, 0.1])), 0.3, True)
    (25.0, 10.0)
    """
    good = curve.values <= goal if minimize else curve.values >= goal
    if not good.any():
        return None
    at = int(np.argmax(good))
    step = float(curve.steps[at])
    if at == 0:
        return step, step
    before, spacing = float(curve.values[at - 1]), step - float(curve.steps[at - 1])
    share = (before - goal) / (before - float(curve.values[at]))
    return step - (1 - share) * spacing, spacing


def size_point(results: Results, batch_size: int, goal: float) -> tuple[SizePoint, BestSteps]:
    """Judge one batch size's study against the goal."""
    ended = [t for t in results.rows if t.status in ("completed", "infeasible")]
    reached_at = {t.number: _steps_of(t, results.objective, goal) for t in ended}
    reached = [(*at, t) for t in ended if (at := reached_at[t.number]) is not None]
    half = best_steps([at[0] if (at := reached_at[t.number]) else math.inf for t in ended] or [1.0])
    best = min(reached, key=lambda pair: pair[0], default=None)
    feasible = sum(t.status == "completed" for t in ended)
    problems, caveats = list[Message](), list[Message]()
    if len(reached) < _FEWEST_REACH:
        counts = {"reached": len(reached), "trials": len(ended), "needed": _FEWEST_REACH}
        problems.append(Message("probe.critical_batch.few_reach", {**counts, "goal": goal}))
    problems += _at_edge(results, reached_at)  # often why so few reach it
    if best is not None and best[1] > max(1.0, _FINE * best[0]):
        counts_still = best[1] <= _COARSE * best[0]
        facts = {"spacing": best[1], "steps": best[0], "counts": counts_still}
        coarse = Message("probe.critical_batch.coarse", facts)
        (caveats if counts_still else problems).append(coarse)
    point = SizePoint(
        batch_size=batch_size,
        steps=None if best is None else best[0],
        low=half.low if math.isfinite(half.low) else None,
        high=half.high if math.isfinite(half.high) else None,
        reached=len(reached),
        trials=len(ended),
        feasible=feasible,
        spacing=None if best is None else best[1],
        fastest={} if best is None else dict(best[2].configuration),
        problems=tuple(problems),
        caveats=tuple(caveats),
        round=results.round.name,
    )
    return point, half


def _at_edge(
    results: Results, reached_at: Mapping[int | None, tuple[float, float] | None]
) -> list[Message]:
    """Whether the fastest trials crowd at an end of a range, and what to search instead."""
    study = study_trials(results)[0]
    lines = [axis for axis in axes(results, study) if has_edges(axis.hyperparameter.range)]
    problems = []
    for axis in lines:
        losses = _slowness(axis.trials, reached_at, results.objective)
        feasible = int(np.isfinite(losses).sum())
        if feasible < FEWEST:
            few = {"feasible": feasible, "needed": FEWEST}
            return [Message("probe.critical_batch.few_for_edges", few)]
        edge_found = edge(results.meaning, replace(axis, losses=losses), len(lines))
        if edge_found.verdict == "warn":
            problems.append(_edge_message(axis.hyperparameter, edge_found))
    return problems


def _edge_message(searched: Hyperparameter, seen_edge: Edge) -> Message:
    """The end of a range at which the fastest trials lie."""
    proposed = seen_edge.proposed
    facts = {
        "column": searched.column,
        "range": str(searched.range),
        "side": seen_edge.seen.side,
        "alone": seen_edge.seen.rule == "lone",
        "best_few": seen_edge.seen.best_few,
        "proposed": None if proposed is None else str(proposed),
    }
    return Message("probe.critical_batch.at_edge", facts)


def _slowness(
    trials: tuple[Trial, ...],
    reached_at: Mapping[int | None, tuple[float, float] | None],
    objective: Objective,
) -> np.ndarray:
    """Trials from the fastest down: by steps, then those that missed the goal by their value."""
    values = [t.value for t in trials if t.value is not None and reached_at.get(t.number) is None]
    order = sorted(values, key=lambda value: -objective.sign * value)
    slowest = max((math.log(at[0]) for t in trials if (at := reached_at.get(t.number))), default=0)
    losses = []
    for t in trials:
        steps = reached_at.get(t.number)
        if steps is not None:
            losses.append(math.log(steps[0]))
        elif t.value is None:
            losses.append(math.inf)
        else:
            losses.append(slowest + (1 + order.index(t.value)) / len(order))
    return np.array(losses)


# ---- critical batch


_PROBE = "critical_batch"
_TRIALS = 20  # per batch size
_EVALUATIONS = 200  # of a training at the smallest size
_MOST_EVALUATIONS = 1000
_MISFIT = 2.0  # times what noise explains: the form of the curve is in doubt

Verdict = Literal["inside", "above", "below", "unknown"]


@dataclass(frozen=True, kw_only=True)
class CriticalBatch(Conclusion):
    """What the studies found."""

    probe: ClassVar[str] = _PROBE
    verdict: Verdict  # where the critical batch size lies among the sizes that count
    metric: str = ""  # of the goal
    goal: float | None = None  # fixed by the smallest size
    critical_batch_size: float | None = None  # beyond it a doubling saves less than half the steps
    low: float | None = None  # of its 95 % interval; None: left open
    high: float | None = None  # of the same interval
    smallest_steps: float | None = None  # what no batch size goes below
    sizes: tuple[SizePoint, ...] = ()  # steps to the goal by batch size


def critical_batch(
    workload: Workload,
    *,
    batch_sizes: Sequence[int],
    nuisance: Mapping[str, Any],
    fixed: Mapping[str, Any] | None = None,
    max_train_steps: int | Mapping[int, int] | None = None,
    trials: int = _TRIALS,
    goal: float | None = None,
    seed: int = 0,
    progress: Wanted = "auto",
) -> CriticalBatch:
    """The critical batch size of a workload, from one study per batch size.

    Args:
        workload: the training program.
        batch_sizes: one study each.
        nuisance: the search space of every study; it must hold the learning rate.
        fixed: values of the other hyperparameters.
        max_train_steps: the budget of every trial, or one per batch size.
        trials: per study.
        goal: a value of the objective; None: the one that a fifth of the feasible trials at the
            smallest size reach.
        seed: of the search.
        progress: as for `tw.run`.
    """
    watch = watcher_of(progress, workload)
    budgets = _budgets(workload, batch_sizes, max_train_steps, dict(fixed or {}))
    rounds = _rounds(workload, budgets, nuisance, dict(fixed or {}), trials, seed)
    points, bests, wanted = list[SizePoint](), list[BestSteps](), goal
    for size, round in rounds.items():
        evaluated = replace(workload, eval_every=_eval_every(workload, budgets[size], points, size))
        results = check_finished(run_probe(_PROBE, round, evaluated, watch=watch))
        wanted = goal_of(results) if wanted is None else wanted
        if wanted is None:
            return _no_goal(workload, size, results)
        point, half = size_point(results, size, wanted)
        points.append(point)
        bests.append(half)
    assert wanted is not None  # there are two sizes at least
    answer = _answer_of(workload, wanted, points, bests)
    keep(workload, answer)
    return answer


def _budgets(
    workload: Workload,
    batch_sizes: Sequence[int],
    max_train_steps: int | Mapping[int, int] | None,
    fixed: Mapping[str, Any],
) -> dict[int, int]:
    """The step budget of each batch size, smallest first; refuses budgets of epochs."""
    meaning, accepts = workload.meaning, workload.accepts
    batch, steps = meaning.name("batch_size"), meaning.name("max_train_steps")
    problems = [
        Message("critical_batch.unknown_hyperparameter", {"name": name, "meaning": meant})
        for name, meant in ((batch, "batch_size"), (steps, "max_train_steps"))
        if name not in accepts.names and not accepts.takes_anything
    ]
    sizes = sorted(set(batch_sizes))
    if len(sizes) < 2 or not all(type(size) is int and size >= 1 for size in sizes):
        problems.append(Message("critical_batch.bad_sizes", {"batch_sizes": list(batch_sizes)}))
    if "epoch" in steps.lower():
        problems.append(Message("critical_batch.epochs", {"name": steps}))
    if max_train_steps is None:
        max_train_steps = fixed.get(steps, accepts.defaults.get(steps))
    budgets = (
        {size: max_train_steps.get(size) for size in sizes}
        if isinstance(max_train_steps, Mapping)
        else dict.fromkeys(sizes, max_train_steps)
    )
    if not all(type(length) is int and length >= 1 for length in budgets.values()):
        problems.append(Message("critical_batch.no_steps", {"max_train_steps": max_train_steps}))
    elif len(set(budgets.values())) > 1 and len({b * n for b, n in budgets.items()}) == 1:  # type: ignore[operator]
        problems.append(Message("critical_batch.same_examples"))
    if problems:
        raise DesignError.several(problems)
    return budgets  # type: ignore[return-value]


def _rounds(
    workload: Workload,
    budgets: Mapping[int, int],
    nuisance: Mapping[str, Any],
    fixed: Mapping[str, Any],
    trials: int,
    seed: int,
) -> dict[int, Round]:
    """The study of each batch size, everything tuned anew at separate points."""
    meaning = workload.meaning
    batch, steps = meaning.name("batch_size"), meaning.name("max_train_steps")
    rate = meaning.name("learning_rate")
    rest = {name: value for name, value in fixed.items() if name not in (batch, steps)}
    rounds = {
        size: Round(
            f"{_PROBE}_{size}",
            goal=Message("goal.critical_batch", {"batch_size": size}),
            nuisance=nuisance,
            fixed={**rest, batch: size, steps: length},
            trials_per_study=trials,
            seed=seed + place,
        )
        for place, (size, length) in enumerate(budgets.items())
    }
    searched = {h.name for round in rounds.values() for s in round.studies for h in s.space}
    if rate not in searched:
        raise DesignError("probe.rate_not_searched", rate=rate)
    return rounds


def _eval_every(
    workload: Workload, length: int, points: Sequence[SizePoint], size: int
) -> int | None:
    """Evaluations so close that the steps are known to 2 %, were the scaling perfect."""
    known = [point for point in points if point.steps is not None]
    if known and known[-1].steps is not None:
        fewest = known[-1].steps * known[-1].batch_size / size
        wanted = int(_FINE * fewest)
    else:
        wanted = length // _EVALUATIONS
    wanted = max(1, wanted, length // _MOST_EVALUATIONS)
    return wanted if workload.eval_every is None else min(wanted, workload.eval_every)


def _no_goal(workload: Workload, size: int, results: Results) -> CriticalBatch:
    feasible = sum(trial.value is not None for trial in results.rows)
    facts = {
        "batch_size": size,
        "feasible": feasible,
        "trials": results.size,
        "check": shlex.join(["tunewright", "check", results.round.name]),
    }
    return CriticalBatch(
        verdict="unknown",
        message=Message("probe.critical_batch.no_goal"),
        missing=(Message("probe.critical_batch.few_feasible", facts),),
        metric=workload.objective.metric,
    )


def _answer_of(
    workload: Workload,
    goal: float,
    points: Sequence[SizePoint],
    bests: Sequence[BestSteps],
) -> CriticalBatch:
    """Fit the judged batch sizes together."""
    labelled = _with_scaling(points)
    counted = [(p, best) for p, best in zip(labelled, bests, strict=True) if p.valid]
    fit = fit_scaling([p.batch_size for p, _ in counted], [best for _, best in counted])
    caveats = [
        Message("probe.critical_batch.caveat", {"batch_size": point.batch_size, "why": why})
        for point in labelled
        for why in point.caveats
    ]
    dropped = [p for p in labelled if not p.valid]
    problems = [{"batch_size": p.batch_size, "why": why} for p in dropped for why in p.problems]
    sizes = {"counted": len(counted), "sizes": len(labelled), "needed": _FEWEST_SIZES}
    answer = CriticalBatch(
        verdict="unknown",
        message=Message("probe.critical_batch.too_few_sizes", sizes),
        missing=tuple(Message("probe.critical_batch.problem", facts) for facts in problems),
        metric=workload.objective.metric,
        goal=goal,
        sizes=tuple(labelled),
        caveats=tuple(caveats),
    )
    if fit is None:
        return answer
    fit = _for_all_trials(fit, counted)
    caveats += [Message("probe.critical_batch.left_out", facts) for facts in problems]
    if fit.misfit > _MISFIT:
        caveats.append(Message("probe.critical_batch.misfit"))
    valid = [p for p, _ in counted]
    verdict, message = _verdict(workload, goal, valid, fit)
    fitting = [p.batch_size for p in valid if p.batch_size <= fit.critical_batch_size]
    chosen = max(fitting, default=valid[0].batch_size)
    return replace(
        answer,
        verdict=verdict,
        message=message,
        settings={workload.meaning.name("batch_size"): chosen},
        missing=(),
        critical_batch_size=fit.critical_batch_size,
        low=fit.low,
        high=fit.high,
        smallest_steps=fit.smallest_steps,
        caveats=tuple(caveats),
    )


def _for_all_trials(fit: ScalingFit, counted: Sequence[tuple[SizePoint, BestSteps]]) -> ScalingFit:
    """The fit moved from the best of half the trials to the best of all, which is shown."""
    gains = [math.log(p.steps) - best.mean for p, best in counted if p.steps is not None]
    return replace(fit, smallest_steps=fit.smallest_steps * math.exp(math.fsum(gains) / len(gains)))


def _with_scaling(points: Sequence[SizePoint]) -> list[SizePoint]:
    """The points, each that counts with what it gained over the one before."""
    labelled = {p.batch_size: p for p in points}
    for before, after in itertools.pairwise([p for p in points if p.valid]):
        assert before.steps is not None and after.steps is not None
        label = label_of(before.steps, after.steps, after.batch_size / before.batch_size)
        labelled[after.batch_size] = replace(after, scaling=label)
    return list(labelled.values())


def _verdict(
    workload: Workload, goal: float, valid: Sequence[SizePoint], fit: ScalingFit
) -> tuple[Verdict, Message]:
    """Where the critical batch size lies among the sizes that count."""
    smallest, largest = valid[0].batch_size, valid[-1].batch_size
    facts = {
        "metric": workload.objective.metric,
        "goal": goal,
        "critical_batch_size": fit.critical_batch_size,
        "low": fit.low,
        "high": fit.high,
        "smallest": smallest,
        "largest": largest,
        "smallest_steps": fit.smallest_steps,
    }
    verdict: Verdict = "inside"
    if fit.critical_batch_size > largest:
        verdict = "above"
    elif fit.critical_batch_size < smallest:
        verdict = "below"
    return verdict, Message(f"probe.critical_batch.{verdict}", facts)
