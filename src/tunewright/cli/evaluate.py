"""Commands that measure what training chose: evaluate (offline), final (the test set, once)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli import _where as where
from tunewright.cli._errors import FINE, UNFINISHED, Misuse
from tunewright.cli._options import JsonOption, RoundName, StoreOption, WorkersOption
from tunewright.cli._project import ROUNDS, Project, anchored, need_project
from tunewright.cli.init import FUNCTION
from tunewright.design.round_file import write_round
from tunewright.execution.command import command
from tunewright.execution.evaluate import Measure, Measured, measured
from tunewright.execution.executors.executor import Executor
from tunewright.launches.final import FinalCheck, final_check, fold
from tunewright.messages import words
from tunewright.present.terminal.plain_table import cell, table
from tunewright.present.terminal.screen import say, screen, show_json, sidelines
from tunewright.project._function import find_function
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

WithOption = Annotated[
    str | None,
    typer.Option(
        "--with",
        metavar="COMMAND|FUNCTION",
        help="What measures a checkpoint, in place of the one tunewright.toml names: "
        'full.py:full, or "python full.py --from={checkpoint} --step={step}".',
        show_default=False,
    ),
]
TrialOption = Annotated[
    int | None,
    typer.Option(
        "--trial", metavar="N", help="This trial; the best one by default.", show_default=False
    ),
]


def evaluate(
    round: RoundName,
    top: Annotated[int, typer.Option(min=1, metavar="K", help="The K best trials.")] = 5,
    number: TrialOption = None,
    with_: WithOption = None,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Measure the selected checkpoints of the best trials properly, and record it as metrics.

    What training measures on its way is a proxy. Each trial is measured at the checkpoint of its
    best step, or the best one it kept.
    """
    project = need_project()
    store = None if store is None else anchored(store, Path.cwd())
    results = _results(project, store, round)
    trials = results.top(top) if number is None else (results.trial(number),)
    if not trials:
        results.best()  # says why there is none
    found = _measure(project, store, trials, with_, where.executor(on, workers), test=False)
    if json:
        show_json(found)
    else:
        print_measured(results, found)
    raise typer.Exit(FINE if any(one.metrics for one in found) else UNFINISHED)


def final(
    round: RoundName,
    number: TrialOption = None,
    with_: WithOption = None,
    folded: Annotated[
        str | None,
        typer.Option(
            "--fold",
            metavar="NAME",
            help="Write the round that trains it on validation data too, by NAME = true.",
            show_default=False,
        ),
    ] = None,
    no_later_launch: Annotated[
        bool, typer.Option("--no-later-launch", help="Nothing will be compared after this.")
    ] = False,
    on: where.OnOption = "inline",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Look at the test set, for the one trial that was chosen; every look is counted.

    With --fold, write the last round instead: the same configuration on training and validation
    data together, for when no later launch is planned.
    """
    project = need_project()
    store = None if store is None else anchored(store, Path.cwd())
    results = _results(project, store, round)
    trial = results.best() if number is None else results.trial(number)
    if folded is not None:
        asked = fold(results, trial, {folded: True}, no_later_launch=no_later_launch)
        path = project.round_file(asked.name)
        if path.exists():
            raise Misuse(f"{path} is there already", remedy=f"tunewright run {asked.name}")
        path.parent.mkdir(exist_ok=True)
        write_round(asked, path)
        say(f"wrote {Path(ROUNDS) / path.name}: {asked.goal}")
        say(f"next: tunewright run {words.shell_word(asked.name)}")
        return
    (found,) = _measure(project, store, (trial,), with_, where.executor(on, None), test=True)
    if not found.metrics:
        raise Misuse(
            f"trial {trial.number} could not be measured: {found.reason}",
            cause=words.printable(found.detail.strip().rpartition("\n")[2]),
        )
    with Store.open(project.store(store), create=False) as opened:
        recorded = opened.evaluations()
    verdict = final_check(recorded[-1], recorded)
    if json:
        show_json(verdict)
    else:
        print_final(verdict)


def _results(project: Project, store: str | None, name: str) -> Results:
    with Store.open(project.store(store), create=False) as opened:
        return opened.results(name)


def _measure(
    project: Project,
    store: str | None,
    trials: tuple[Trial, ...],
    with_: str | None,
    executor: Executor,
    test: bool,
) -> tuple[Measured, ...]:
    console = sidelines()

    def tell(one: Measured) -> None:
        said = words.configuration(one.metrics) if one.metrics else one.reason
        console.print(f"trial {one.trial.number}: {words.printable(said)}", markup=False)

    with project.entered():
        workload = project.workload(store, executor)
        measure = chosen_measure(project, with_, "test" if test else "evaluate")
        return measured(trials, workload, measure, test=test, tell=tell)


def chosen_measure(project: Project, given: str | None, key: str) -> Measure:
    """What measures: the option, else the entry of tunewright.toml."""
    named = given or (project.settings["test"] if key == "test" else project.settings["evaluate"])
    if named is None:
        example = '"train.py:test"' if key == "test" else '"train.py:full"'
        raise Misuse(
            f"what measures a checkpoint? Neither --with nor {key} in tunewright.toml says it",
            cause="a function full(checkpoint) that returns its metrics, or a command with "
            "{checkpoint}",
            remedy=f"[workload] {key} = {example}, or --with train.py:full",
        )
    if FUNCTION.fullmatch(named):
        return find_function(named, project.folder)
    return command(named)


def print_measured(results: Results, found: tuple[Measured, ...]) -> None:
    """One line per trial: what training said, what the evaluation says, at which step."""
    names = list(dict.fromkeys(name for one in found for name in one.metrics))
    proxy = f"{results.objective.metric} then"
    made = table("trial", "at step", proxy, *names, "", right=("trial", "at step", proxy, *names))
    for one in found:
        other = "" if one.at_best_step or one.step is None else "best kept, for "
        remark = f"{other}step {one.trial.best_step}" if other else one.reason
        made.add_row(
            cell(one.trial.number),
            cell("-" if one.step is None else one.step),
            cell(words.number(one.proxy)),
            *(cell(words.number(one.metrics.get(name))) for name in names),
            cell(remark),
        )
    screen().print(made)
    if names:
        verb = "--minimize" if results.objective.minimize else "--maximize"
        metric, round = words.shell_word(names[0]), words.shell_word(results.round.name)
        say(
            f"recorded: tunewright show {round} {verb} {metric} ranks by it; tunewright trial "
            f"{round} N shows it"
        )


def print_final(verdict: FinalCheck) -> None:
    """What the test set said, and whether it may still be believed."""
    say(words.printable(verdict.says), style="bold")
    say(words.printable(verdict.advice), style="yellow" if verdict.warns else "")
