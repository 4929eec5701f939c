"""What a round and repeats of a trial will cost, judged by what the store has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tunewright.budgets.cost import Basis, CostEstimate, Timing, Trainings, cost_of
from tunewright.budgets.spending import length_of, timings
from tunewright.budgets.state import BudgetState, state
from tunewright.costs.measure import measured
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.errors import NotFound
from tunewright.execution.known_lengths import evaluations_of, timings_of
from tunewright.execution.prepare import ready
from tunewright.execution.repeat import round_of
from tunewright.execution.run import executor_of
from tunewright.execution.workload import Workload
from tunewright.progress.choose import Wanted
from tunewright.search.halton import Halton
from tunewright.search.search import Search
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial


def of_run(
    round: Round,
    workload: Workload,
    search: Search | None = None,
    *,
    measure: bool = False,
    progress: Wanted = "auto",
) -> CostEstimate:
    """What running a round, or the rest of it, will cost; nothing of it is recorded.

    Judged by the round's own trials, else by other rounds of the same program in the store, else
    with `measure` by one short timed training.

    Args:
        round: the question, as for `tw.run`.
        workload: the training program.
        search: as for `tw.run`.
        measure: whether to train for a short time where nothing is known.
        progress: of that short training, as for `tw.run`.
    """
    prepared = ready(round, workload, search or Halton())
    return of_prepared(
        prepared, results_in_store(str(workload.store), round.name), workload, measure
    )


def of_prepared(
    round: Round,
    before: Results | None,
    workload: Workload,
    measure: bool = False,
    progress: Wanted = "auto",
    workers: int | None = None,
) -> CostEstimate:
    """The same of a round that is ready to run, and what is recorded of it."""
    measured_before = timings(before) if before is not None else ()
    basis: Basis = "round"
    todo = left_of(round, before, workload)
    if not measured_before:
        measured_before, basis = program_timings(workload, beside=round.name), "program"
    if not measured_before and measure and todo:
        measured_before, basis = (measured(workload, first_of(round), progress),), "measured"
    return estimate(todo, measured_before, workload, basis, workers)


def estimate(
    todo: Sequence[Trainings],
    timings_known: Sequence[Timing],
    workload: Workload,
    basis: Basis,
    workers: int | None = None,
) -> CostEstimate:
    """The cost of trainings of a workload: its workers, the price and the rest of its budget."""
    budget = budget_of(workload)
    return cost_of(
        todo,
        timings_known,
        workers=workers or executor_of(workload).slots,
        price=None if budget is None else budget.price,
        basis=basis,
        left=None if budget is None else budget.left,
    )


def budget_of(workload: Workload) -> BudgetState | None:
    """The budget that a workload's training passes; None without one."""
    return state(workload.store, workload.budget)


def program_timings(workload: Workload, beside: str = "") -> tuple[Timing, ...]:
    """The completed trainings of the program that the store has; a store is not made for it."""
    try:
        with Store.open(workload.store, create=False) as store:
            return timings_of(store, workload.name, beside, workload.eval_every)
    except NotFound:
        return ()


def results_in_store(store: str, name: str) -> Results | None:
    """The round as far as the database has it, or None; a store that is not there is not made."""
    try:
        with Store.open(store, create=False) as opened:
            return opened.results(name)
    except NotFound:
        return None


def left_of(round: Round, before: Results | None, workload: Workload) -> tuple[Trainings, ...]:
    """The trainings of a round that have not ended, by their length."""
    ended = Counter(t.study for t in before.trials if t.ended) if before is not None else Counter()
    numbers: Counter[float | None] = Counter()
    name = workload.meaning.name("max_train_steps")
    for study in round.studies:
        steps = length_of({**{f.name: f.value for f in study.fixed}, **study.scientific}, name)
        numbers[steps] += max(0, study.trials - ended[study.number])
    return tuple(
        Trainings(number, steps=steps, evaluations=evaluations_of(steps, workload.eval_every))
        for steps, number in numbers.items()
        if number
    )


def first_of(round: Round) -> Mapping[str, Value]:
    """A configuration of the round's first study, to measure with."""
    (first,) = Halton().suggest(round.studies[0], (), 1)
    return first.configuration


def of_repeat(trial: Trial, workload: Workload, times: int) -> CostEstimate:
    """What repeats of a trial will cost, those that exist already left out.

    Args:
        trial: a trial of a recorded round.
        workload: the program that trained it.
        times: repeats in all, as for `tw.repeat`.
    """
    with Store.open(workload.store, create=False) as store:
        results = store.results(round_of(store, trial).name)
    number = trial.number if trial.origin is None else trial.origin[1]
    there = results.repeats(number) if number is not None else ()
    ended = sum(repeat.ended for repeat in there)
    alike = (trial, *there)
    timed_runs = [Timing(run.seconds) for run in alike if run.ended and run.attempts]
    left = Trainings(max(0, times - ended))
    return estimate([left], timed_runs, replace(workload), "round")
