"""The family of commands `tunewright judge ...`: keep or discard one change after another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli import _options as where
from tunewright.cli._errors import answer
from tunewright.cli._options import JsonOption, WorkersOption
from tunewright.design.objective import maximize as up, minimize as down
from tunewright.errors import Misuse
from tunewright.execution.command import command as as_command
from tunewright.execution.executors.executor import Executor
from tunewright.messages import Message
from tunewright.present.terminal import referee_page as page
from tunewright.present.terminal.screen import say, screen
from tunewright.referee.referee import (
    FRESH,
    LEAST_AUDITED,
    MOST_AUDITED,
    NAME,
    Referee,
    Terms,
    begin as begun,
)

judge = typer.Typer(
    name="judge",
    help="Keep or discard one change of a program after another, by runs of both.",
    invoke_without_command=True,
    add_completion=False,
)
STORE = "tuning.db"
NameOption = Annotated[
    str, typer.Option("--name", metavar="NAME", help="Of the lineage: several may be judged.")
]
StoreOption = Annotated[
    str,
    typer.Option("--store", metavar="STORE", help="The lineage is kept in STORE.judge beside it."),
]


@judge.callback()
def first(context: typer.Context) -> None:
    """Keep or discard one change of a program after another, by runs of both."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


def _open(name: str, store: str, on: str = "local", workers: int | None = None) -> Referee:
    executor: Executor | None = None
    if on != "local" or workers is not None:
        executor = where.executor(on, workers)
    return Referee(store=store, name=name, executor=executor)


@judge.command("begin")
def begin(
    command: Annotated[
        str, typer.Argument(metavar="COMMAND", help="The training program, with {run.seed}.")
    ],
    minimize: Annotated[
        str | None, typer.Option(metavar="METRIC", help="Made small.", show_default=False)
    ] = None,
    maximize: Annotated[
        str | None, typer.Option(metavar="METRIC", help="Made large.", show_default=False)
    ] = None,
    at: Annotated[str, typer.Option(metavar="WHEN", help="best or last of the curve.")] = "best",
    read: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Of lines that are measurements, beside JSON."),
    ] = None,
    budget_hours: Annotated[
        float | None,
        typer.Option(metavar="H", help="Of training, for the lineage.", show_default=False),
    ] = None,
    budget_trials: Annotated[
        int | None,
        typer.Option(metavar="N", help="Trainings, for the lineage.", show_default=False),
    ] = None,
    protect: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="No change may touch it: evaluation, data split, seed."),
    ] = None,
    worth: Annotated[
        float, typer.Option(metavar="SD", help="A smaller expected gain is not kept.")
    ] = 0.1,
    per_line: Annotated[
        float, typer.Option(metavar="SD", help="What each added line must gain beyond that.")
    ] = 0.0,
    confirm: Annotated[
        float,
        typer.Option(metavar="SD", help="A smaller expected gain is not kept after one run."),
    ] = 0.0,
    folder: Annotated[Path, typer.Option(metavar="DIR", help="Of the git repository.")] = Path("."),
    name: NameOption = NAME,
    store: StoreOption = STORE,
    json: JsonOption = False,
) -> None:
    """Begin a lineage at the commit that is checked out; nothing is trained yet."""
    if (minimize is None) == (maximize is None):
        raise Misuse("referee.one_metric")
    if at not in ("best", "last"):
        raise Misuse("referee.bad_term", name="at", value=at)
    objective = down(minimize, at) if minimize is not None else up(str(maximize), at)  # type: ignore[arg-type]
    terms = Terms(
        budget_hours=budget_hours,
        budget_trials=budget_trials,
        protect=tuple(protect or ()),
        worth=worth,
        per_line=per_line,
        confirm=confirm,
    )
    lineage = begun(
        as_command(command, read=tuple(read or ())),
        objective,
        terms=terms,
        folder=folder,
        store=store,
        name=name,
    )
    status = lineage.status()
    facts = {"name": name, "first": status.first[:12], "command": status.command}
    answer(json, status, lambda: say(Message("referee.begun", facts).text))


@judge.command("try")
def attempt(
    change: Annotated[
        str | None,
        typer.Option(
            "--change",
            metavar="COMMIT",
            help='A commit, or "working tree"; by default what is checked out.',
            show_default=False,
        ),
    ] = None,
    name: NameOption = NAME,
    store: StoreOption = STORE,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    json: JsonOption = False,
) -> None:
    """Judge a change: run it as often as it deserves, then keep it, discard it, or leave it."""
    decision = _open(name, store, on, workers).attempt(change)
    answer(json, decision, lambda: page.print_decision(decision, screen()))


@judge.command("status")
def status(name: NameOption = NAME, store: StoreOption = STORE, json: JsonOption = False) -> None:
    """Show where the lineage stands, what was spent, and the newest quoted total."""
    state = _open(name, store).status()
    answer(json, state, lambda: page.print_status(state, screen()))


@judge.command("history")
def history(name: NameOption = NAME, store: StoreOption = STORE, json: JsonOption = False) -> None:
    """Show every decision, oldest first."""
    decisions = _open(name, store).history()
    answer(json, {"decisions": decisions}, lambda: page.print_decisions(decisions, screen()))


@judge.command("quote")
def quote(
    runs: Annotated[int, typer.Option(min=FRESH, metavar="N", help="Fresh runs of each.")] = FRESH,
    name: NameOption = NAME,
    store: StoreOption = STORE,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    json: JsonOption = False,
) -> None:
    """Run the first and the current commit again, in turn: the total gain with its interval."""
    lineage = _open(name, store, on, workers)
    offer = lineage.quote(runs)
    answer(json, offer, lambda: page.print_quote(offer, lineage.objective.metric, screen()))


@judge.command("audit")
def audit(
    margin: Annotated[
        float, typer.Option(metavar="SD", help="A loss below it is none, in sd of one run.")
    ] = 0.25,
    runs: Annotated[
        int,
        typer.Option(min=LEAST_AUDITED, metavar="N", help="With and without each change, at most."),
    ] = MOST_AUDITED,
    name: NameOption = NAME,
    store: StoreOption = STORE,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    json: JsonOption = False,
) -> None:
    """Remove kept changes one by one, newest first, where nothing is lost without them."""
    outcome = _open(name, store, on, workers).audit(margin, runs)
    answer(json, outcome, lambda: page.print_audit(outcome, screen()))
