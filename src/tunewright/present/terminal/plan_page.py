"""A dry run: what a round would try, what it would cost, and what a colleague would advise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from tunewright.budgets.cost import CostEstimate
from tunewright.costs.rounds import of_prepared, results_in_store
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.errors import NotFound
from tunewright.execution.prepare import advice, ready
from tunewright.execution.workload import Workload
from tunewright.messages import Message, worded, words
from tunewright.present.terminal.round_page import roles, without_fixed
from tunewright.present.terminal.screen import cell, print_pair, table
from tunewright.progress.choose import Wanted
from tunewright.search.bayesian.bayesian import SURE
from tunewright.search.bayesian.belief import NEXT, Axis, Belief
from tunewright.search.search import Search
from tunewright.store.results import Results
from tunewright.store.store import Store

_FIRST = 3  # configurations shown of each study
SEARCH = {"halton": "", "listed": " --listed FILE"}  # how a search is asked for, by its name


@dataclass(frozen=True)
class Plan:
    """What would happen; nothing of it has been recorded."""

    round: Round  # with the workload's unmentioned defaults among the fixed hyperparameters
    first: tuple[tuple[str, dict[str, Value]], ...]  # (study, configuration), a few of each
    ended: int  # trials of this round that the database has already
    left: int  # trials it would run
    workers: int
    cost: CostEstimate  # hours and money of what is left, and what that rests on
    advice: tuple[Message, ...]  # how names are read, and what is unwise
    search: str


def plan(
    round: Round,
    workload: Workload,
    search: Search,
    workers: int,
    measure: bool = False,
    progress: Wanted = "auto",
) -> Plan:
    """Prepare a round as running it would, with the same refusals, and stop there."""
    prepared = ready(round, workload, search)
    before = results_in_store(str(workload.store), round.name)
    ended = sum(trial.ended for trial in before.rows) if before is not None else 0
    first = [
        (study.label, dict(suggestion.configuration))
        for study in prepared.studies
        if not search.adaptive
        for suggestion in search.suggest(study, (), min(_FIRST, study.trials))
    ]
    return Plan(
        round=prepared,
        first=tuple(first),
        ended=ended,
        left=max(0, prepared.trials - ended),
        workers=workers,
        cost=of_prepared(prepared, before, workload, measure, progress, workers),
        advice=_advice(prepared, workload),
        search=search.name,
    )


def _advice(round: Round, workload: Workload) -> tuple[Message, ...]:
    try:
        with Store.open(workload.store, create=False) as opened:
            return advice(round, workload, opened)
    except NotFound:
        return advice(round, workload)


def print_plan(planned: Plan, objective: str, console: Console) -> None:
    """Print the plan."""
    console.print(
        Text.assemble((words.printable(planned.round.name), "bold"), f"  {planned.round.asks}")
    )
    for label, text in lines(planned, objective):
        print_pair(console, label, text)
    if planned.first:
        console.print()
        hidden = (*without_fixed(planned.round), *planned.round.scientific)
        rows = table("study", "first configurations")
        for label, configuration in planned.first:
            rows.add_row(cell(label), cell(words.configuration(configuration, hidden)))
        console.print(rows)
    console.print()
    name = words.shell_word(planned.round.name)
    search = SEARCH.get(planned.search, f" --search {planned.search}")
    command = f"tunewright run {name}{search}"
    console.print(Text(worded("dry_run", command=command)))


def lines(planned: Plan, objective: str) -> Iterator[tuple[str, str]]:
    """What would happen, label by label."""
    yield "objective", objective
    yield from roles(planned.round)
    counts = {"studies": len(planned.round.studies), "each": planned.round.trials_per_study}
    counts |= {"trials": planned.round.trials, "ended": planned.ended}
    code = "plan_trials_ended" if planned.ended else "plan_trials"
    yield "trials", worded(code, search=planned.search, **counts)
    yield "cost", planned.cost.message.text
    for caveat in planned.round.caveats:
        yield "caveat", words.printable(caveat.text)
    for note in planned.advice:
        yield "advice", words.printable(note.text_for("shell"))


# ---- what the Bayesian search believes, on a screen: what to expect, what diverges, what is left


def print_beliefs(results: Results, beliefs: tuple[Belief, ...], console: Console) -> None:
    """One paragraph per study: the verdict, the best to expect, and the map of what diverges."""
    console.print(Text(words.printable(results.round.name), style="bold"))
    for belief in beliefs:
        if len(beliefs) > 1:
            console.print(Text(f"\n{words.printable(belief.study.label)}", style="bold"))
        for line in _belief_lines(results, belief):
            console.print(Text(line), soft_wrap=True)
        if belief.infeasible and belief.axes:
            console.print(Text(worded("belief.map")))
            console.print(_map(belief.axes))


def _belief_lines(results: Results, belief: Belief) -> Iterator[str]:
    """The sentences of one study, the verdict first."""
    learned: str = worded("belief.learned", trials=belief.outcomes)
    if belief.earlier:
        learned += worded("belief.earlier", count=belief.earlier)
    if belief.infeasible:
        learned += worded("belief.infeasible", count=belief.infeasible)
    if belief.predicted is None or belief.recommended is None:
        yield worded("belief.says", says=belief.says, learned=learned)
        return
    metric = words.printable(results.objective.metric)
    expected = belief.predicted
    gains = {"gain": belief.gain, "enough": belief.worthwhile}
    yield worded("belief.gain", says=belief.says, metric=metric, more=NEXT, **gains)
    hidden = without_fixed(results.round)
    settings = words.configuration(belief.configuration, hidden)
    value = {"value": expected.value, "low": expected.low, "high": expected.high}
    place = {"trial": belief.recommended.number, "settings": settings}
    yield worded("belief.best", metric=metric, **value, **place)
    if belief.feasible is not None and belief.infeasible:
        code = "belief.feasible" if belief.feasible >= SURE else "belief.feasible_unsure"
        yield worded(code, share=belief.feasible)
    yield learned


def _map(axes: tuple[Axis, ...]) -> object:
    rows = table("hyperparameter", "from", "", "to", worded("belief.below", sure=SURE))
    for axis in axes:
        bars = "".join(words.BLOCKS[min(int(p * len(words.BLOCKS)), 7)] for p in axis.feasible)
        rows.add_row(
            cell(axis.column),
            words.value(axis.values[0]),
            bars,
            words.value(axis.values[-1]),
            cell(_unsure(axis)),
        )
    return rows


def _unsure(axis: Axis) -> str:
    unsure = [words.value(v) for v, p in zip(axis.values, axis.feasible, strict=True) if p < SURE]
    if not unsure:
        return "nowhere"
    if len(unsure) == len(axis.values):
        return "everywhere"
    return ", ".join(unsure)
