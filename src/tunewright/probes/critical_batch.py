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

from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.execution.run import watcher_of
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.probe import Answer, keep, run_probe
from tunewright.probes.scaling import (
    FEWEST_SIZES,
    Luck,
    ScalingFit,
    fit_scaling,
    label_of,
)
from tunewright.probes.short_run import finished
from tunewright.probes.steps_to_goal import FINE, SizePoint, goal_of, size_point
from tunewright.progress.choose import Wanted
from tunewright.store.results import Results

PROBE = "critical_batch"
TRIALS = 20  # per batch size
EVALUATIONS = 200  # of a training at the smallest size
MOST_EVALUATIONS = 1000
MISFIT = 2.0  # times what noise explains: the form of the curve is in doubt

Verdict = Literal["inside", "above", "below", "unknown"]


@dataclass(frozen=True, kw_only=True)
class CriticalBatch(Answer):
    """What the studies found."""

    probe: ClassVar[str] = PROBE
    verdict: Verdict  # where the critical batch size lies among the sizes that count
    message: Message  # the answer as a code with its facts
    settings: Mapping[str, Value]  # the largest size that is not above the critical one
    missing: tuple[Message, ...] = ()
    metric: str = ""
    goal: float | None = None  # fixed by the smallest size
    critical_batch_size: float | None = None
    low: float | None = None  # of its 95 % interval; None: left open
    high: float | None = None
    smallest_steps: float | None = None  # what no batch size goes below
    sizes: tuple[SizePoint, ...] = ()
    caveats: tuple[Message, ...] = ()


def critical_batch(
    workload: Workload,
    *,
    batch_sizes: Sequence[int],
    nuisance: Mapping[str, Any],
    fixed: Mapping[str, Any] | None = None,
    max_train_steps: int | Mapping[int, int] | None = None,
    trials: int = TRIALS,
    goal: float | None = None,
    seed: int = 0,
    progress: Wanted = "auto",
) -> CriticalBatch:
    """The critical batch size of a workload, from one study per batch size.

    `nuisance` is the search space of every study and must hold the learning rate. `max_train_steps`
    is the budget of every trial, or one per batch size. `goal` is a value of the objective; without
    it, the one that a fifth of the feasible trials at the smallest size reach.
    `progress` is as for `tw.run`.
    """
    watch = watcher_of(progress, workload)
    budgets = _budgets(workload, batch_sizes, max_train_steps, dict(fixed or {}))
    rounds = _rounds(workload, budgets, nuisance, dict(fixed or {}), trials, seed)
    points, lucks, wanted = list[SizePoint](), list[Luck](), goal
    for size, round in rounds.items():
        own = replace(workload, eval_every=_eval_every(workload, budgets[size], points, size))
        results = finished(run_probe(PROBE, round, own, watch=watch))
        wanted = goal_of(results) if wanted is None else wanted
        if wanted is None:
            return _no_goal(workload, size, results)
        point, one_luck = size_point(results, size, wanted)
        points.append(point)
        lucks.append(one_luck)
    assert wanted is not None  # there are two sizes at least
    answer = answer_of(workload, wanted, points, lucks)
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
            f"{PROBE}_{size}",
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
        wanted = int(FINE * fewest)
    else:
        wanted = length // EVALUATIONS
    wanted = max(1, wanted, length // MOST_EVALUATIONS)
    return wanted if workload.eval_every is None else min(wanted, workload.eval_every)


def _no_goal(workload: Workload, size: int, results: Results) -> CriticalBatch:
    feasible = sum(trial.value is not None for trial in results.trials)
    facts = {
        "batch_size": size,
        "feasible": feasible,
        "trials": len(results.trials),
        "check": shlex.join(["tunewright", "check", results.round.name]),
    }
    return CriticalBatch(
        verdict="unknown",
        message=Message("probe.critical_batch.no_goal"),
        settings={},
        missing=(Message("probe.critical_batch.few_feasible", facts),),
        metric=workload.objective.metric,
    )


def answer_of(
    workload: Workload,
    goal: float,
    points: Sequence[SizePoint],
    lucks: Sequence[Luck],
) -> CriticalBatch:
    """Fit the judged batch sizes together."""
    labelled = _labelled(points)
    counted = [(p, one) for p, one in zip(labelled, lucks, strict=True) if p.valid]
    fit = fit_scaling([p.batch_size for p, _ in counted], [one for _, one in counted])
    caveats = [
        Message("probe.critical_batch.caveat", {"batch_size": point.batch_size, "why": why})
        for point in labelled
        for why in point.caveats
    ]
    dropped = [p for p in labelled if not p.valid]
    problems = [{"batch_size": p.batch_size, "why": why} for p in dropped for why in p.problems]
    sizes = {"counted": len(counted), "sizes": len(labelled), "needed": FEWEST_SIZES}
    answer = CriticalBatch(
        verdict="unknown",
        message=Message("probe.critical_batch.too_few_sizes", sizes),
        settings={},
        missing=tuple(Message("probe.critical_batch.problem", one) for one in problems),
        metric=workload.objective.metric,
        goal=goal,
        sizes=tuple(labelled),
        caveats=tuple(caveats),
    )
    if fit is None:
        return answer
    fit = _for_all_trials(fit, counted)
    caveats += [Message("probe.critical_batch.left_out", one) for one in problems]
    if fit.misfit > MISFIT:
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


def _for_all_trials(fit: ScalingFit, counted: Sequence[tuple[SizePoint, Luck]]) -> ScalingFit:
    """The fit moved from the best of half the trials to the best of all, which is shown."""
    luckier = [math.log(p.steps) - one.mean for p, one in counted if p.steps is not None]
    return replace(
        fit, smallest_steps=fit.smallest_steps * math.exp(math.fsum(luckier) / len(luckier))
    )


def _labelled(points: Sequence[SizePoint]) -> list[SizePoint]:
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
