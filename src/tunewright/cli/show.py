"""Commands that read what happened: ls, show, trial, note, export. They never train anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli._objective_options import AtOption, MaximizeOption, MinimizeOption, judged_by
from tunewright.cli._options import JsonOption, RoundName, StoreOption, chosen
from tunewright.cli._project import open_store
from tunewright.messages import words
from tunewright.present.terminal.round_page import print_round
from tunewright.present.terminal.screen import say, screen, show_json
from tunewright.present.terminal.tracking_page import print_tracking
from tunewright.present.terminal.trial_page import History, print_trial
from tunewright.store.curves import Curves
from tunewright.store.joined import with_earlier
from tunewright.store.tables import Table
from tunewright.store.tracking import Tracked, tracking_table

TABLES: dict[str, Table] = {"trials": "trials", "curves": "curves"}


def ls(store: StoreOption = None, json: JsonOption = False) -> None:
    """List the rounds: the tracking table, with trials, the best value and notes."""
    with open_store(store) as opened:
        rows = tracking_table(opened)
    if json:
        show_json([_without_curves(row) for row in rows])
    else:
        print_tracking(rows, screen())


def _without_curves(row: Tracked) -> Tracked:
    """A line of the table without the best trial's curves, which `trial --json` gives."""
    return row if row.best is None else replace(row, best=replace(row.best, curves=Curves(())))


def show(
    round: RoundName,
    minimize: MinimizeOption = None,
    maximize: MaximizeOption = None,
    at: AtOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show one round: goal, roles, the best per study, why trials did not complete, what next."""
    with open_store(store) as opened:
        results = opened.results(round)
    results = judged_by(results, minimize, maximize, at, aloud=False)
    if json:
        show_json(
            {
                "round": results.round,
                "objective": results.objective,
                "search": results.search,
                "counts": results.counts,
                "studies": results.studies,
                "trials": results.trials,
                "repeats": results.recorded_repeats,
                "caveats": results.round.caveats,
                "notes": results.notes,
            }
        )
    else:
        print_round(results, screen())


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
    with open_store(store) as opened:
        results = judged_by(with_earlier(opened, round), minimize, maximize, at)
        chosen = results.trial(number)
        history = History(
            opened.attempts(chosen.identity),
            opened.snapshots(chosen.identity),
            opened.provenance(chosen.identity),
        )
    if json:
        show_json({"trial": chosen, "repeats": results.repeats(chosen), "history": history})
    else:
        print_trial(results, chosen, history, screen())


def note(
    round: RoundName,
    text: Annotated[str, typer.Argument(help="What to remember about the round.")],
    store: StoreOption = None,
) -> None:
    """Write a note about a round; `show` and `ls` print it."""
    with open_store(store) as opened:
        opened.note(round, text)
        written = len(opened.notes(round))
    say(f"noted: {words.printable(round)} has {words.count(written, 'note')}")


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
) -> None:
    """Write a round's trials or curves to a file for other programs."""
    rows = chosen(table, TABLES, "--table")
    with open_store(store) as opened:
        results = opened.results(round)
    results = judged_by(results, minimize, maximize, at)
    results.export(path, rows)
    say(f"wrote {path}: {words.count(len(results.trials), 'trial')} of {words.printable(round)}")
