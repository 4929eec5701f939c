"""The command `again`: a recorded trial trained anew, and compared with what the store has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli import _where as where
from tunewright.cli._answer import answer
from tunewright.cli._errors import FINE, UNFINISHED, WARNED
from tunewright.cli._options import JsonOption, RoundName, StoreOption
from tunewright.cli._project import from_here, need_project
from tunewright.errors import Misuse
from tunewright.execution.again import Again, again as train_again
from tunewright.execution.run import load
from tunewright.messages import Message, words
from tunewright.present.terminal.screen import say, sidelines
from tunewright.store.results import Results
from tunewright.store.trial import Trial


def again(
    round: RoundName,
    number: Annotated[int, typer.Argument(metavar="N", help="The trial's number in its round.")],
    repeat: Annotated[
        int | None,
        typer.Option(min=1, metavar="K", help="Its repeat K instead, from 1.", show_default=False),
    ] = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Train although the program's files have changed.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where it trains: a new folder; by default one below again/.",
            show_default=False,
        ),
    ] = None,
    on: where.OnOption = "local",
    ray_address: where.AddressOption = None,
    resources: where.ResourcesOption = None,
    slurm: where.SlurmOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Train a trial anew under its own seed and settings, and compare it with the recorded one.

    It is not stored in the round: with the same seed it is no independent repeat. `repeat` trains
    under new seeds. Exits with 1 if the values differ, with 3 if it ends in another way.
    """
    project = need_project()
    store = from_here(store)
    results = load(project.store(store), round)
    trial = chosen_trial(results, number, repeat)
    executor = where.executor(on, 1 if on == "local" else None, ray_address, resources, slurm)
    place = None if folder is None else folder.absolute()
    with project.entered():
        workload = project.workload(store, executor, results.round.name)
        found = train_again(trial, workload, anyway=anyway, folder=place)
    remark(found)
    differs = WARNED if found.status == found.trial.status else UNFINISHED
    code = FINE if found.equal else differs
    answer(json, found, lambda: print_again(found), code)


def chosen_trial(results: Results, number: int, repeat: int | None) -> Trial:
    """The trial of this number, or one of its repeats."""
    trial = results.trial(number)
    if repeat is None:
        return trial
    repeats = results.repeats(trial)
    if repeat > len(repeats):
        raise Misuse(
            "again.no_such_repeat",
            round=results.round.name,
            trial=number,
            there=len(repeats),
            repeat=repeat,
        )
    return repeats[repeat - 1]


def remark(found: Again) -> None:
    """What may explain a difference, beside the answer."""
    if found.changed:
        sidelines().print(Message("again.changed", {"files": list(found.changed)}).text)
    elif not found.code_known:
        sidelines().print(Message("again.code_unknown").text)
    if found.trial.attempts > 1:
        sidelines().print(Message("again.resumed", {"attempts": found.trial.attempts}).text)


def print_again(found: Again) -> None:
    """What came of it, and where its files are."""
    say(found.headline, style="bold")
    say(f"took {words.duration(found.seconds)}; its log and files: {found.folder}")
    if found.status == "failed" and found.detail:
        say(words.printable_lines(found.detail))
