"""Commands that spend compute: run, worker, stop, repeat."""

from __future__ import annotations

import difflib
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from tunewright import stores
from tunewright.actions import Advise
from tunewright.budgets.cost import Price
from tunewright.cli import _options as where
from tunewright.cli._errors import FINE, INTERRUPTED, UNFINISHED, answer
from tunewright.cli._grouped import flatten_groups
from tunewright.cli._groups import (
    Answering,
    Expecting,
    Judging,
    PackedTraining,
    Priced,
    show_cost,
)
from tunewright.cli._options import (
    HoursOption,
    Project,
    RoundName,
    SearchOption,
    SinkOption,
    WorkersOption,
    from_here,
    need_project,
    search_for,
    store_address,
)
from tunewright.costs.rounds import of_repeat, results_in_store
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.design.workload_file import read_toml, unknown_key
from tunewright.errors import Damaged, DesignError, Misuse, TunewrightError
from tunewright.execution.executors.executor import Executor
from tunewright.execution.join import LISTED, as_begun, list_of_round
from tunewright.execution.repeat import run_repeats
from tunewright.execution.run import load, supervise
from tunewright.importers.files import csv_columns, text_in
from tunewright.messages import Message, label, worded, words
from tunewright.present import envelope as facts
from tunewright.present.next_step import REPEATS, next_steps
from tunewright.present.terminal.plan_page import plan, print_plan
from tunewright.present.terminal.round_page import counts_line, studies_table
from tunewright.present.terminal.screen import say, screen, sidelines
from tunewright.present.terminal.spent_line import print_spent
from tunewright.progress.choose import on_screen
from tunewright.progress.watcher import Concluded, Summary
from tunewright.remedies import use
from tunewright.search.listed import Listed
from tunewright.search.search import Search
from tunewright.store import plain_json
from tunewright.store.outcome import Outcome
from tunewright.store.results import Repeats, Results
from tunewright.store.trial import claim_of

TABLE = "configuration"  # [[configuration]] in a TOML file
LARGEST = 16 * 2**20  # bytes: far more than anybody trains
_ENDINGS = (".json", ".csv", ".toml")
ListedOption = Annotated[
    Path | None,
    typer.Option(
        "--listed",
        metavar="FILE",
        help="Train these configurations, in their order: a .json list, a .csv file with a column "
        "per hyperparameter, or [\\[configuration]] tables in a .toml file. One that names no "
        "scientific value is for every study; what the round fixes may be left out.",
        show_default=False,
    ),
]


def _list_for(
    file: Path | None, search: str | None, round: Round, store: str, counted: bool
) -> tuple[Round, Listed] | None:
    """The round and the list to run it with; None if no list is asked for or was begun with.

    Unless the trials were `counted` on the command line, the round has as many as are listed, so
    that none is left out unsaid. A round that began with a list continues without its file: the
    store has it. Refuses what does not fit before anything is trained.
    """
    if file is not None and search is not None:
        raise Misuse("listed.file_and_search", file=file, search=search, remedy=Advise("give_one"))
    if file is not None:
        listed_points, where = read_list(file), str(file)
    elif (
        search is None
        and (before := results_in_store(store, round.name))
        and before.search == LISTED
    ):
        listed_points, where = list_of_round(before, round), "the list this round began with"
    else:
        return None
    counts = [len(listed_points.own(study)) for study in round.studies]
    trials = round.trials_per_study if counted else max(1, *counts)
    fitted = replace(round, trials_per_study=trials)
    try:
        listed_points.check(fitted.studies)
    except DesignError as error:
        fewer = Advise("list_more", {"words": ["--trials", str(min(counts))]})
        remedy = fewer if 0 < min(counts) < trials else None
        raise Misuse.several(_problems_of(where, error), remedy) from None
    if trials != round.trials_per_study:
        note = worded("listed_trials", now=trials, before=round.trials_per_study)
        sidelines().print(Text(note), soft_wrap=True)
    return fitted, listed_points


def read_list(path: Path) -> Listed:
    """The configurations of a file, in its order."""
    if not path.is_file():
        beside = [p.name for p in sorted(path.parent.glob("*")) if p.suffix in _ENDINGS]
        near = difflib.get_close_matches(path.name, beside, n=1)
        raise Misuse(
            "listed.no_such_file",
            path=path,
            remedy=use("--listed", str(path.with_name(near[0]))) if near else None,
        )
    try:
        rows = _rows(path)
        return Listed(rows)
    except (Damaged, DesignError) as error:
        raise Misuse.several(_problems_of(str(path), error)) from None


def _problems_of(source: str, error: TunewrightError) -> list[Message]:
    """The problems of a list, as those of the file that it is from."""
    return [
        replace(problem, facts={**problem.facts, "source": source}) for problem in error.problems
    ]


def _rows(path: Path) -> list[Mapping[str, Value]]:
    ending = path.suffix.lower()
    if ending == ".json":
        rows = plain_json.loads(text_in(path, LARGEST), str(path))
        if not isinstance(rows, list):
            raise DesignError("listed.not_a_list", path=path)
        return rows
    if ending == ".csv":
        columns = csv_columns(path)
        return [
            {name: _value(cell) for name, cell in zip(columns, cells, strict=True) if cell.strip()}
            for cells in zip(*columns.values(), strict=True)
        ]
    if ending == ".toml":
        tables = read_toml(path)
        for key in tables:
            if key != TABLE:
                unknown = unknown_key(key, (TABLE,), "file").to_data()
                raise DesignError("file.problem", path=str(path), problem=unknown)
        rows = tables.get(TABLE, [])
        if not isinstance(rows, list):
            raise DesignError("listed.single_brackets", path=path, table=TABLE)
        return [_plain(row) for row in rows]
    raise DesignError("listed.bad_ending", path=path, endings=list(_ENDINGS))


def _plain(row: Any) -> Any:
    """None as files write it, `{ none = true }`, as Python has it."""
    if not isinstance(row, Mapping):
        return row  # refused by Listed, with its place
    return {name: None if value == {"none": True} else value for name, value in row.items()}


def _value(cell: str) -> Value:
    """The value of a cell of text.

    >>> [_value(cell) for cell in ("128", "1e-3", "true", "adam", "nan")]
    [128, 0.001, True, 'adam', 'nan']
    """
    text = cell.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    return text


EarlyStoppingOption = Annotated[
    bool,
    typer.Option(
        "--early-stopping",
        help="Stop trials that cannot win, once 60 of each study have finished.",
    ),
]


@flatten_groups
def run(
    round: RoundName,
    expecting: Expecting,
    training: PackedTraining,
    answering: Answering,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Trials per study, in place of the round file's number.",
            show_default=False,
        ),
    ] = None,
    max_hours: HoursOption = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed trials again.")
    ] = False,
    early_stopping: EarlyStoppingOption = False,
    search: SearchOption = None,
    listed: ListedOption = None,
    sink: SinkOption = None,
) -> None:
    """Run a round, or continue it: only what is missing runs.

    Ctrl-C once: no new trials, the running ones finish. Twice: they save and stop, and resume when
    the round is run again.
    """
    project = need_project()
    store = from_here(answering.store)
    expecting.check()
    asked_round = project.round(round)
    if trials is not None:
        asked_round = replace(asked_round, trials_per_study=trials)
    executor = training.executor
    with_list = _list_for(
        listed, search, asked_round, project.store(store), counted=trials is not None
    )
    with_search: Search
    if with_list is not None:
        asked_round, with_search = with_list
    else:
        named = (search, project.search(asked_round.name))
        with_search = search_for(named, asked_round, executor.slots, project.store(store))
    if expecting.dry_run:
        with project.entered():
            workload = project.workload(store, executor, asked_round.name)
            slots, measure = executor.slots, expecting.measure
            planned = plan(asked_round, workload, with_search, slots, measure, on_screen())
        planned = replace(planned, cost=expecting.with_price(planned.cost))
        answering.show(planned, lambda: print_plan(planned, str(workload.objective), screen()))
        return
    run_round(
        project,
        asked_round,
        executor,
        store=store,
        search=with_search,
        max_hours=max_hours,
        retry_failed=retry_failed,
        at_most=None if trials is None else _trials_left(project.store(store), asked_round),
        early_stopping=early_stopping,
        sinks=sink,
        price=expecting.per_hour,
        json=answering.json,
    )


def _trials_left(store: str, round: Round) -> int | None:
    """How many trials to run when fewer are asked for than the store has; None: all there are."""
    known = results_in_store(store, round.name)
    if known is None or known.size <= round.trials:
        return None
    return max(0, round.trials - (known.size - known.unfinished))


def run_round(
    project: Project,
    round: Round,
    executor: Executor,
    *,
    store: str | None = None,
    search: Search | None = None,
    max_hours: float | None = None,
    retry_failed: bool = False,
    join: bool = False,
    at_most: int | None = None,
    early_stopping: bool = False,
    sinks: Sequence[str] | None = None,
    price: Price | None = None,
    json: bool = False,
) -> None:
    """Run a round of a project with its progress shown, and answer with what came of it."""
    if at_most == 0:
        known = load(project.store(store), round.name, earlier=False)
        enough = worded("enough", round=words.printable(round.name))
        answer(json, facts.of_run(known, "limit", 0.0, 0), lambda: say(enough))
        return
    watch = on_screen(_best_before(project.store(store), round.name))
    with project.entered():
        results = supervise(
            round,
            project.workload(store, executor, round.name, sinks=sinks),
            search=search,
            max_hours=max_hours,
            retry_failed=retry_failed,
            watch=watch,
            join=join,
            trials=at_most,
            early_stopping=early_stopping,
        )
    summary = watch.summary
    assert summary is not None  # the watcher always receives the end
    data = facts.of_run(results, summary.why, summary.seconds, summary.ended, price)
    answer(json, data, lambda: _print_run(results, summary, price), exit_code(results, summary))


def _print_run(results: Results, summary: Summary, price: Price | None) -> None:
    """What came of a run, what it cost, and the two commands that help most from here."""
    _print_outcome(results, summary)
    print_spent(results, price)
    for step in next_steps(results)[:2]:
        say(worded("next_why", command=words.printable(step.action.command), why=step.why))


def _best_before(store: str, name: str) -> Concluded | None:
    """The best trial that earlier calls have recorded, as a watcher receives one."""
    before = results_in_store(store, name)
    for best in before.top(1) if before is not None else ():
        return Concluded(claim_of(best), Outcome("completed"), best.value, running=0)
    return None


def _print_outcome(results: Results, summary: Summary | None) -> None:
    """What came of it, verdict first: counts, and the best of each study."""
    if summary is not None:
        name = words.printable(results.round.name)
        facts = {"why": summary.why, "stopped": summary.stopped, "round": results.round.name}
        outcome = Message("run.outcome", facts).text
        say(worded("run_outcome", round=name, says=outcome, seconds=summary.seconds), style="bold")
    say(counts_line(results))
    screen().print(studies_table(results))


def exit_code(results: Results | Repeats, summary: Summary | None) -> int:
    """0 unless somebody interrupted it, it could not be finished, or every trial failed."""
    why = "finished" if summary is None else summary.why
    if why in ("interrupted", "terminated", "asked to stop"):
        return INTERRUPTED
    ended = [trial for trial in results.trials if trial.ended]
    if ended and all(trial.status == "failed" for trial in ended):
        return UNFINISHED
    return UNFINISHED if why in ("all failed", "no suggestion") else FINE


@flatten_groups
def worker(
    round: RoundName,
    answering: Answering,
    workers: WorkersOption = None,
    pack: where.PackOption = None,
    max_hours: HoursOption = None,
    early_stopping: EarlyStoppingOption = False,
    sink: SinkOption = None,
) -> None:
    """Join a round that others run, from this machine too, until none of its trials is left.

    The round is taken from the store, the training program from this project. On several machines
    the store is a postgresql:// address.
    """
    project = need_project()
    store = from_here(answering.store)
    joined, begun_search = as_begun(project.store(store), round)
    run_round(
        project,
        joined,
        where.executor("local", workers, pack=pack),
        store=store,
        search=begun_search,
        max_hours=max_hours,
        join=True,
        early_stopping=early_stopping,
        sinks=sink,
        json=answering.json,
    )


@flatten_groups
def stop(
    round: RoundName,
    answering: Answering,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[TRIAL]", help="Stop this trial only.", show_default=False),
    ] = None,
) -> None:
    """Ask whoever runs a round to stop it, or one of its trials: they save and can be resumed."""
    request = stores.stop(store_address(answering.store), round, number)
    answering.show(request, lambda: _print_stop(request))


def _print_stop(request: stores.StopRequest) -> None:
    """What will stop."""
    name = words.printable(request.round)
    if not request.running:
        say(worded("stop_none", round=name))
        return
    code = "stop_all" if request.trial is None else "stop_one"
    say(worded(code, round=name, running=request.running, trial=request.trial))


@flatten_groups
def repeat(
    round: RoundName,
    judging: Judging,
    priced: Priced,
    training: PackedTraining,
    answering: Answering,
    times: Annotated[int, typer.Option(min=1, metavar="N", help="Repeats in all.")] = REPEATS,
    number: Annotated[
        int | None,
        typer.Option("--trial", metavar="N", help="The trial to repeat; the best one by default."),
    ] = None,
    sink: SinkOption = None,
) -> None:
    """Train a trial's configuration again under new seeds: how much of its value is noise?

    Repeats that are there already count, so `--times 5` twice means five in all.
    """
    project = need_project()
    store = from_here(answering.store)
    results_alone = load(project.store(store), round, earlier=False)
    results = judging.apply(results_alone)
    trial = results.best() if number is None else results.trial(number)
    price = priced.per_hour
    watch = on_screen()
    with project.entered():
        workload = project.workload(store, training.executor, results_alone.round.name, sinks=sink)
        if priced.dry_run:
            cost = of_repeat(trial, workload, times).priced(price)
            show_cost(cost, answering.json, round=results_alone.round.name, trial=trial.number)
            return
        repeats, summary, _ = run_repeats(trial, workload, times, watch)
    judged = repeats.with_objective(results.objective)
    data = facts.of_repeats(judged, summary.why)

    def page() -> None:
        _print_repeats(judged)
        print_spent(repeats.results, price)

    answering.show(data, page, exit_code(repeats, summary))


def _print_repeats(repeats: Repeats) -> None:
    """The value of every repeat, and how far chance moves them."""
    metric = words.printable(repeats.objective.metric)
    values = repeats.values
    each = ", ".join(
        words.number(trial.value) if trial.value is not None else label(trial.status)
        for trial in repeats
    )
    picked = {"trial": repeats.of.number, "value": repeats.of.value}
    say(worded("repeats", metric=metric, shown=each, **picked))
    if len(values) > 1:
        mean, spread = statistics.fmean(values), statistics.stdev(values)
        say(worded("repeats_mean", mean=mean, sd=spread, repeats=len(values)))
