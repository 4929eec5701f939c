"""Short timed trainings, where no trial shows how long training takes.

The same configuration trains for a hundredth of its steps, for three hundredths, and longer while
that is too quick to be timed, in a store that is thrown away. The difference of the last two is the
time of the steps, the rest the time to begin; so the whole training is foretold as a range. Every
short training counts towards the budget.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tunewright.budgets.cost import Timing
from tunewright.budgets.gate import through
from tunewright.budgets.spending import length_of
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.errors import BudgetSpent, DesignError, WorkloadError
from tunewright.execution.cadence import EVALUATIONS, period
from tunewright.execution.known_lengths import evaluations_of
from tunewright.execution.run import supervise, watcher_of
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import Silent
from tunewright.store.outcome import NEVER_LOGGED

SHARE = 100  # the first training has this part of the steps
TIMES = 3  # each further one is so many times as long as the one before
QUICK_S = 3.0  # a training that took less is mostly its start: a longer one follows
MOST = 0.3  # of the steps of the whole, for a longer one
DOUBT = 2.0  # the factor by which the whole may be wrong, up and down: machines get busier


def measured(
    workload: Workload, configuration: Mapping[str, Value], progress: Wanted = "auto"
) -> Timing:
    """How long a whole training of a configuration takes, from two or more short ones.

    It trains, in a store that is thrown away: 1 and 3 % of the steps, and while that takes less
    than a few seconds three times as many, up to 30 %. The budget's gate counts each; a budget
    that has no room for a longer one ends the measurement with those there are.

    >>> import tunewright as tw
    >>> def train(run, rate=0.1, max_train_steps=300):
    ...     for step in run.steps(max_train_steps):
    ...         run.log(step, error=rate)
    >>> own = tw.Workload(train, tw.minimize("error"), executor=tw.executors.Inline())
    >>> measured(own, {"max_train_steps": 300}, "off").steps
    300.0

    Args:
        workload: the training program.
        configuration: of the training; it must have a number of steps.
        progress: as for `tw.run`.
    """
    name = workload.meaning.name("max_train_steps")
    steps = length_of(configuration, name)
    if steps is None or steps < 1 or steps != int(steps):
        raise DesignError("cost.no_length", name=name)
    first, second = lengths(int(steps), workload.eval_every)
    watch = watcher_of(progress, workload)
    facts = {"steps": [first, second], "total": int(steps), "name": name, "quick": QUICK_S}
    watch.message(Message("cost.measures", facts).text)
    timed_workload = replace(workload, eval_every=_cadence(workload, int(steps)))
    took: list[tuple[int, float]] = []
    unlogged: Message | None = None

    def train(length: int) -> None:
        nonlocal unlogged
        seconds, unlogged = _train(timed_workload, {**configuration, name: length})
        took.append((length, seconds))

    with through(workload.store, "measure", len({first, second}), workload.budget):
        for length in dict.fromkeys((first, second)):
            train(length)
    with contextlib.suppress(BudgetSpent):
        while took[-1][1] < QUICK_S and TIMES * took[-1][0] <= MOST * steps:
            longer = TIMES * took[-1][0]
            with through(workload.store, "measure", 1, workload.budget):
                train(longer)
    if unlogged is not None:
        facts = {"steps": took[-1][0], "total": int(steps), "reason": unlogged.to_data()}
        watch.message(Message("cost.unlogged", facts).text)
    low, high = foretold(took[max(0, len(took) - 2)], took[-1], int(steps))
    often = evaluations_of(steps, workload.eval_every)
    size = length_of(configuration, workload.meaning.name("batch_size"))
    examples = None if size is None else size * steps
    return Timing(low, steps, often, examples, at_most=high)


def lengths(steps: int, eval_every: int | None = None) -> tuple[int, int]:
    """The steps of the two short trainings, with a whole number of evaluations in each.

    >>> lengths(10_000), lengths(1000, eval_every=50), lengths(20), lengths(2)
    ((100, 300), (50, 150), (1, 3), (1, 2))
    """
    every = eval_every or period(steps, EVALUATIONS)
    first = every * math.ceil(steps / SHARE / every)
    if TIMES * first > steps:
        return max(1, steps // TIMES), steps
    return first, TIMES * first


def foretold(
    first: tuple[int, float], second: tuple[int, float], steps: int
) -> tuple[float, float]:
    """The seconds of a whole training at least and at most, from two short ones: (steps, seconds).

    The difference of the two gives the time of a step. The whole may be wrong by `DOUBT`, up and
    down; no training is shorter than the second. Where the second was no slower than the first,
    all of its time may be for its steps, or none.

    >>> foretold((100, 12.0), (300, 16.0), 10_000)
    (105.0, 420.0)
    >>> foretold((100, 12.0), (300, 11.0), 1000)  # too short to know the time of a step
    (11.0, 73.33333333333333)
    """
    (few, short), (many, long) = first, second
    if many >= steps:
        return long, long
    most = long * steps / many
    rate = (long - short) / (many - few)
    if rate <= 0:
        return long, DOUBT * most
    whole = min(most, long + rate * (steps - many))
    return max(long, whole / DOUBT), DOUBT * whole


def _cadence(workload: Workload, steps: int) -> int:
    """How often the whole training is evaluated, so that the short ones are as often."""
    return workload.eval_every or period(steps, EVALUATIONS)


class _Muted(Silent):
    """Shows nothing at all: a training of a few steps need not reach its first evaluation."""

    def message(self, text: str) -> None:
        """Show nothing."""


def _train(workload: Workload, configuration: Mapping[str, Value]) -> tuple[float, Message | None]:
    """Train once in a store that is thrown away; its seconds, and why there is no objective."""
    with tempfile.TemporaryDirectory(prefix="tunewright-measure-") as folder:
        apart = replace(
            workload,
            store=Path(folder) / "measure.db",
            folder=Path(folder) / "trials",
            budget=Path(folder) / "none.toml",  # the gate was passed already
            sinks=(),
            purpose=None,
        )
        goal = Message("goal.measure")
        round = Round("measure", goal=goal, fixed=dict(configuration), trials_per_study=1)
        results = supervise(round, apart, watch=_Muted(), advise=False)
        (trial,) = results.trials
        if trial.status in ("pending", "running"):
            raise KeyboardInterrupt("the short training was interrupted")
        if trial.reason is not None and trial.reason.code == NEVER_LOGGED:
            return trial.seconds, trial.reason
        if trial.status not in ("completed", "unmeasured"):
            reason = str(trial.reason or "")
            raise WorkloadError("cost.short_training", status=trial.status, reason=reason)
        return trial.seconds, None
