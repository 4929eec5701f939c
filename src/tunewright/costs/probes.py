"""What a probe will cost: how many trainings of which length it may ask for, before it asks.

A probe decides as it goes, so the number of its trainings is a range: the fewest is where the first
look answers the question, the most where every step of its plan is needed. What it has trained
before costs nothing again; that is not subtracted here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tunewright.budgets.cost import Basis, CostEstimate, Trainings
from tunewright.costs.measure import measured
from tunewright.costs.rounds import estimate, program_timings
from tunewright.design.ranges import Value
from tunewright.errors import DesignError
from tunewright.execution.known_lengths import evaluations_of
from tunewright.execution.workload import Workload
from tunewright.probes.clip import HALVINGS, SEEDS
from tunewright.probes.longer import SHARE, TIMES, branching_point
from tunewright.probes.rate_sweep import grid, most_trained, plan_sweep
from tunewright.probes.stability import FACTORS, STEPS
from tunewright.probes.starting_point import ByMeaning, by_meaning
from tunewright.probes.warmup import REPEATS, TIMES as PEAKS, rung_steps
from tunewright.progress.choose import Wanted
from tunewright.store.results import Results
from tunewright.store.trial import Trial

ProbeArguments = Mapping[str, Any]


def of_probe(
    probe: str,
    workload: Workload,
    *,
    fixed: Mapping[str, Value] | None = None,
    trial: Trial | None = None,
    measure: bool = False,
    progress: Wanted = "auto",
    **terms: Any,
) -> CostEstimate:
    """What a probe that trains will cost.

    The probes are "stability", "warmup", "clip", "train_steps", "longer" and "critical_batch".
    Judged by trials of the same program in the store, else with `measure` by one short training.

        tw.costs.of_probe("critical_batch", workload, batch_sizes=[16, 32, 64], trials=16)

    Args:
        probe: its name, as in `tw.probes`.
        workload: the training program.
        fixed: values that replace those of the trial, as for the probe.
        trial: whose configuration is used; None: the best trial in the store.
        measure: whether to train for a short time where nothing is known.
        progress: of that short training, as for `tw.run`.
        terms: the arguments of the probe: `steps`, `repeats`, `share`, `times`, `batch_sizes`,
            `trials`, `max_train_steps`, `learning_rate`; `results` for "longer".
    """
    if probe not in _PROBES:
        raise DesignError("cost.unknown_probe", probe=probe, known=sorted(_PROBES))
    start = by_meaning(workload, fixed, trial)
    todo = _PROBES[probe](start, terms)
    known_timings = program_timings(workload)
    basis: Basis = "program"
    if not known_timings and measure:
        known_timings, basis = (measured(workload, start.configuration, progress),), "measured"
    return estimate(todo, known_timings, workload, basis)


def _short_steps(start: ByMeaning, arguments: ProbeArguments) -> int:
    return max(int(arguments.get("steps") or STEPS), 2 * start.warmup_steps)


def _every_step(steps: int, fewest: int, most: int | None = None) -> Trainings:
    """Short runs that are evaluated at every step."""
    return Trainings(fewest, most, steps=steps, evaluations=steps)


def _stability(start: ByMeaning, arguments: ProbeArguments) -> list[Trainings]:
    return [_every_step(_short_steps(start, arguments), len(FACTORS))]


def _clip(start: ByMeaning, arguments: ProbeArguments) -> list[Trainings]:
    steps = _short_steps(start, arguments)
    return [*_stability(start, arguments), _every_step(steps, 0, (HALVINGS + 1) * SEEDS)]


def _warmup(start: ByMeaning, arguments: ProbeArguments) -> list[Trainings]:
    """Stability, the ladder of each peak, clipping, the ladder again, and whole trainings."""
    cold = start.with_meanings(warmup_steps=0)
    steps, whole = _short_steps(cold, arguments), cold.max_train_steps
    repeats = arguments.get("repeats")
    repeats = REPEATS if repeats is None else int(repeats)
    trainings = [*_stability(cold, arguments)]
    for total, runs in rung_steps(whole, steps):
        trainings.append(_every_step(total, 0, 2 * len(PEAKS) * runs))
    trainings.append(_every_step(steps, 0, len(FACTORS) + (HALVINGS + 1) * SEEDS))
    often = evaluations_of(whole, start.workload.eval_every)
    longest = whole + max((total for total, _ in rung_steps(whole, steps)), default=0)
    trainings.append(Trainings(0, repeats, steps=whole, evaluations=often))
    trainings.append(Trainings(0, 2 * repeats, steps=longest, evaluations=often))
    return trainings


def _train_steps(start: ByMeaning, arguments: ProbeArguments) -> list[Trainings]:
    """The sweep at its first length, extended, doubled, and looked at closer."""
    plan, missing = plan_sweep(
        start.workload,
        arguments.get("learning_rate"),
        arguments.get("max_train_steps"),
        dict(start.configuration),
        start.known,
    )
    if plan is None:
        raise DesignError.several(missing)
    rates = len(grid(plan.learning_rate))
    often = evaluations_of(plan.length, start.workload.eval_every)
    trainings = [Trainings(rates, steps=plan.length, evaluations=often)]
    trainings += [
        Trainings(0, number, steps=length, evaluations=often)
        for number, length in most_trained(rates, plan.length)
    ]
    return trainings


def _longer(start: ByMeaning, arguments: ProbeArguments) -> list[Trainings]:
    """Branches of a snapshot: what is left of the training, and that with a share added."""
    results: Results = arguments["results"]
    program_timings = start.known or results.best()
    steps = length = start.max_train_steps
    last = max((int(c.steps[-1]) for c in program_timings.curves.values() if len(c)), default=steps)
    done = branching_point(results, program_timings).step / max(last, 1)
    share = arguments.get("share")
    more = length * (1 + (SHARE if share is None else float(share)))
    times = int(arguments.get("times") or TIMES)
    return [
        Trainings(times, steps=max(1.0, math.ceil(total - done * length)))
        for total in (length, more)
    ]


def _critical_batch(start: ByMeaning, arguments: ProbeArguments) -> list[Trainings]:
    """A study at each size; a larger batch may take longer for each step."""
    sizes: Sequence[int] = arguments["batch_sizes"]
    steps = arguments.get("max_train_steps") or start.max_train_steps or None
    return [
        Trainings(
            int(arguments["trials"]), steps=steps, examples=None if steps is None else steps * size
        )
        for size in sizes
    ]


_PROBES: Mapping[str, Callable[[ByMeaning, ProbeArguments], list[Trainings]]] = {
    "stability": _stability,
    "clip": _clip,
    "warmup": _warmup,
    "train_steps": _train_steps,
    "longer": _longer,
    "critical_batch": _critical_batch,
}
