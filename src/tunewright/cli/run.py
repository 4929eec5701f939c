"""Commands that spend compute: run, worker, stop, repeat."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli import _where as where
from tunewright.cli._earlier import learning_from_earlier
from tunewright.cli._errors import FINE, INTERRUPTED, UNFINISHED
from tunewright.cli._listed_file import NAME as LISTED, ListedOption, list_for, recorded_list
from tunewright.cli._objective_options import AtOption, MaximizeOption, MinimizeOption, judged_by
from tunewright.cli._options import HoursOption, RoundName, StoreOption, WorkersOption
from tunewright.cli._project import Project, anchored, need_project, open_store
from tunewright.cli._search import SearchOption, joining, search_for
from tunewright.design.round import Round
from tunewright.execution.executors.executor import Executor
from tunewright.execution.executors.local import Local
from tunewright.execution.repeat import repeated
from tunewright.execution.run import supervise
from tunewright.execution.watcher import Concluded, Summary, Why
from tunewright.messages import words
from tunewright.present.next_step import REPEATS, next_steps
from tunewright.present.terminal.plan_page import plan, print_plan, recorded
from tunewright.present.terminal.progress import watcher
from tunewright.present.terminal.round_page import counts_line, studies_table
from tunewright.present.terminal.screen import say, screen, sidelines
from tunewright.search.search import Search
from tunewright.store.repeats import Repeats
from tunewright.store.results import Results
from tunewright.store.store import Store

SAYS: Mapping[Why, str] = {
    "finished": "finished",
    "interrupted": "interrupted; tunewright run {name} goes on",
    "terminated": "ended by SIGTERM; tunewright run {name} goes on",
    "asked to stop": "stopped on request; tunewright run {name} goes on",
    "out of time": "the time is over; tunewright run {name} goes on",
    "limit": "as many trials as asked for; tunewright run {name} goes on",
    "all failed": "its first trials have all failed. Mend the workload, then: "
    "tunewright run {name} --retry-failed",
    "no suggestion": "the search has nothing more to suggest",
}


def run(
    round: RoundName,
    workers: WorkersOption = None,
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen and what it costs, no more.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed trials again.")
    ] = False,
    search: SearchOption = None,
    listed: ListedOption = None,
    on: where.OnOption = "local",
    ray_address: where.AddressOption = None,
    resources: where.ResourcesOption = None,
    store: StoreOption = None,
) -> None:
    """Run a round, or continue it: only what is missing runs.

    Ctrl-C once: no new trials, the running ones finish. Twice: they save and stop, and resume when
    the round is run again.
    """
    project = need_project()
    store = None if store is None else anchored(store, Path.cwd())
    asked = project.round(round)
    if trials is not None:
        asked = replace(asked, trials_per_study=trials)
    executor = where.executor(on, workers, ray_address, resources)
    with_list = list_for(listed, search, asked, project.store(store), counted=trials is not None)
    with_search: Search
    if with_list is not None:
        asked, with_search = with_list
    else:
        with_search = search_for(search, asked, executor.slots, project.store(store))
        goal = project.settings["objective"]
        with_search = learning_from_earlier(with_search, asked, project.store(store), goal)
    if dry_run:
        with project.entered():
            workload = project.workload(store, executor)
            planned = plan(asked, workload, with_search, executor.slots)
        print_plan(planned, str(workload.objective), screen())
        return
    code = run_round(
        project,
        asked,
        executor,
        store=store,
        search=with_search,
        max_hours=max_hours,
        retry_failed=retry_failed,
        at_most=None if trials is None else trials_left(project.store(store), asked),
    )
    raise typer.Exit(code)


def trials_left(store: str, asked: Round) -> int | None:
    """How many trials to run when fewer are asked for than the record has; None: all there are."""
    known = recorded(store, asked.name)
    if known is None or len(known.trials) <= asked.trials:
        return None
    return max(0, asked.trials - sum(trial.ended for trial in known.trials))


def run_round(
    project: Project,
    asked: Round,
    executor: Executor,
    *,
    store: str | None = None,
    search: Search | None = None,
    max_hours: float | None = None,
    retry_failed: bool = False,
    join: bool = False,
    at_most: int | None = None,
    advise: bool = True,
) -> int:
    """Run a round of a project with its progress shown; the exit code."""
    if at_most == 0:
        say(f"{words.printable(asked.name)}: as many trials as asked for have ended already")
        return FINE
    watch = watcher(sidelines(), best_before(project.store(store), asked.name))
    with project.entered():
        results = supervise(
            asked,
            project.workload(store, executor),
            search=search,
            max_hours=max_hours,
            retry_failed=retry_failed,
            watch=watch,
            join=join,
            trials=at_most,
        )
    print_outcome(results, watch.summary)
    if advise:
        for step in next_steps(results)[:2]:
            say(f"next: {words.printable(step.action.command)}  ({step.why})")
    return exit_code(results, watch.summary)


def best_before(store: str, name: str) -> Concluded | None:
    """The best trial that earlier calls have recorded, as a watcher is told of one."""
    found = recorded(store, name)
    for best in found.top(1) if found is not None else ():
        return Concluded(
            best.number,
            best.study,
            best.attempts,
            best.configuration,
            best.status,
            best.reason,
            best.value,
            best.seconds,
            running=0,
        )
    return None


def print_outcome(results: Results, summary: Summary | None) -> None:
    """What came of it, verdict first: counts, and the best of each study."""
    if summary is not None:
        name = words.printable(results.round.name)
        command = words.shell_word(results.round.name)
        says = SAYS.get(summary.why, summary.says).format(name=command)
        say(f"{name}: {says} ({words.duration(summary.seconds)})", style="bold")
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


def worker(
    round: RoundName,
    workers: WorkersOption = None,
    max_hours: HoursOption = None,
    store: StoreOption = None,
) -> None:
    """Join a round that others run, from this machine too, until none of its trials is left.

    The round is taken from the store, the training program from this project. On several machines
    the store is a postgresql:// address.
    """
    project = need_project()
    store = None if store is None else anchored(store, Path.cwd())
    with Store.open(project.store(store), create=False) as opened:
        record = opened.round(round)
        before = opened.results(round)
        begun = recorded_list(before) if record.search == LISTED else joining(record.search)
    goal = before.objective
    begun = learning_from_earlier(begun, record.round, project.store(store), goal)
    code = run_round(
        project,
        record.round,
        Local(workers=workers),
        store=store,
        search=begun,
        max_hours=max_hours,
        join=True,
    )
    raise typer.Exit(code)


def stop(
    round: RoundName,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[TRIAL]", help="Stop this trial only.", show_default=False),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Ask whoever runs a round to stop it, or one of its trials: they save and can be resumed."""
    with open_store(store) as opened:
        record = opened.round(round)
        if number is not None:
            opened.results(round).trial(number)  # refuses a number the round has not
        opened.ask_stop(record.id, number)
        running = record.counts.get("running", 0)
    name = words.printable(round)
    if not running:
        say(f"asked to stop: no trial of {name} is running now")
        return
    what = words.count(running, "running trial") if number is None else f"trial {number}"
    say(f"asked to stop: {what} of {name} will save, stop and stay pending")


def repeat(
    round: RoundName,
    times: Annotated[int, typer.Option(min=1, metavar="N", help="Repeats in all.")] = REPEATS,
    number: Annotated[
        int | None,
        typer.Option("--trial", metavar="N", help="The trial to repeat; the best one by default."),
    ] = None,
    minimize: MinimizeOption = None,
    maximize: MaximizeOption = None,
    at: AtOption = None,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    ray_address: where.AddressOption = None,
    resources: where.ResourcesOption = None,
    store: StoreOption = None,
) -> None:
    """Train a trial's configuration again under new seeds: how much of its value is luck?

    Repeats that are there already count, so `--times 5` twice means five in all.
    """
    project = need_project()
    store = None if store is None else anchored(store, Path.cwd())
    with Store.open(project.store(store), create=False) as opened:
        results = judged_by(opened.results(round), minimize, maximize, at)
    trial = results.best() if number is None else results.trial(number)
    executor = where.executor(on, workers, ray_address, resources)
    watch = watcher(sidelines())
    with project.entered():
        workload = project.workload(store, executor)
        repeats, summary, _ = repeated(trial, workload, times, watch)
    print_repeats(repeats.judged_by(results.objective))
    raise typer.Exit(exit_code(repeats, summary))


def print_repeats(repeats: Repeats) -> None:
    """The value of every repeat, and how far chance moves them."""
    metric = words.printable(repeats.objective.metric)
    values = repeats.values
    shown = ", ".join(
        words.number(trial.value) if trial.value is not None else trial.status for trial in repeats
    )
    chosen_for = words.number(repeats.of.value)
    say(f"trial {repeats.of.number} was {chosen_for} {metric}; its repeats: {shown}")
    if len(values) > 1:
        mean, spread = statistics.fmean(values), statistics.stdev(values)
        say(
            f"mean {words.number(mean)}, standard deviation {words.number(spread)} over "
            f"{len(values)} repeats. The trial itself was picked for its value: trust the repeats."
        )
