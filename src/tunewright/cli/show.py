"""Commands that read what happened: ls, show, trial, note, export. They never train anything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright import stores
from tunewright.cli._answer import answer
from tunewright.cli._objective_options import AtOption, MaximizeOption, MinimizeOption, judged_by
from tunewright.cli._options import JsonOption, RoundName, StoreOption, chosen
from tunewright.cli._project import read_round, store_address
from tunewright.messages import words
from tunewright.present import envelope as facts
from tunewright.present.terminal.round_page import print_round, print_tracking
from tunewright.present.terminal.screen import say, screen
from tunewright.present.terminal.trial_page import print_trial
from tunewright.progress.standing import standing
from tunewright.store.tables import Table

TABLES: dict[str, Table] = {"trials": "trials", "curves": "curves"}


def ls(
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Objective, notes, files and the command of each."),
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """List the rounds, one line each; `-v` shows how to find the best trial again."""
    rows = stores.rounds(store_address(store))
    answer(json, {"rounds": rows}, lambda: print_tracking(rows, screen(), details=verbose))


def show(
    round: RoundName,
    minimize: MinimizeOption = None,
    maximize: MaximizeOption = None,
    at: AtOption = None,
    curves: Annotated[
        bool, typer.Option("--curves", help="With --json: every point of every curve too.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show one round: goal, roles, the best per study, why trials did not complete, what next."""
    results = read_round(round, store, earlier=False)
    results = judged_by(results, minimize, maximize, at, aloud=False)
    answer(json, facts.of_round(results, curves=curves), lambda: print_round(results, screen()))


def trial(
    round: RoundName,
    number: Annotated[int, typer.Argument(metavar="N", help="The trial's number in its round.")],
    minimize: MinimizeOption = None,
    maximize: MaximizeOption = None,
    at: AtOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show one trial: configuration, curves, attempts, log, where it comes from."""
    results = judged_by(read_round(round, store), minimize, maximize, at)
    own = results.trial(number)
    history = stores.history(store_address(store), own)
    data = {
        "round": results.round.name,
        "root": results.root,
        "trial": facts.of_trial(results, own, curves=True),
        "repeats": [
            facts.of_trial(results, repeat, repeat=k)
            for k, repeat in enumerate(results.repeats(own), start=1)
        ],
        "history": history,
        "standing": standing(results, own, history.attempts),
    }
    answer(json, data, lambda: print_trial(results, own, history, screen()))


def note(
    round: RoundName,
    text: Annotated[str, typer.Argument(help="What to remember about the round.")],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Write a note about a round; `show` and `ls` print it."""
    notes = stores.note(store_address(store), round, text)
    written = words.count(len(notes), "note")
    answer(
        json,
        {"round": round, "notes": notes},
        lambda: say(f"noted: {words.printable(round)} has {written}"),
    )


def export(
    round: RoundName,
    path: Annotated[Path, typer.Argument(help="A .csv, .parquet or .json file to write.")],
    table: Annotated[
        str,
        typer.Option(metavar="TABLE", help="trials: one row each; curves: one row per point."),
    ] = "trials",
    minimize: MinimizeOption = None,
    maximize: MaximizeOption = None,
    at: AtOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Write a round's trials or curves to a file for other programs."""
    rows = chosen(table, TABLES, "--table")
    results = judged_by(read_round(round, store, earlier=False), minimize, maximize, at)
    written = results.export(path, rows)
    trials = len(results.trials)
    answer(
        json,
        {"round": results.round.name, "path": written, "table": rows, "trials": trials},
        lambda: say(f"wrote {path}: {words.count(trials, 'trial')} of {words.printable(round)}"),
    )
