"""Commands that read: ls, show, trial, note, export, check, believe, plot, report."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from tunewright import stores
from tunewright.checks.checklist import check as check_results
from tunewright.cli._errors import FINE, WARNED
from tunewright.cli._grouped import flatten_groups
from tunewright.cli._groups import Answering, Judging
from tunewright.cli._options import (
    RoundName,
    choose,
    read_round,
    store_address,
)
from tunewright.messages import worded, words
from tunewright.present import envelope as facts
from tunewright.present.envelope import each_without
from tunewright.present.figures.figure import Figure
from tunewright.present.next_step import next_steps
from tunewright.present.report import report as report_on
from tunewright.present.report_parts import CHAPTERS, chapters
from tunewright.present.terminal.plan_page import print_beliefs
from tunewright.present.terminal.report_page import print_checklist, print_report
from tunewright.present.terminal.round_page import print_round, print_tracking
from tunewright.present.terminal.screen import say, screen
from tunewright.present.terminal.trial_page import print_trial
from tunewright.progress.tally import standing
from tunewright.search.bayesian.belief import believe as learnt
from tunewright.store.tables import Table

_TABLES: dict[str, Table] = {"trials": "trials", "curves": "curves"}
_KINDS = {kind: kind for kind in CHAPTERS}
_FORMATS = {"png": ".png", "svg": ".svg", "pdf": ".pdf"}


@flatten_groups
def ls(
    answering: Answering,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Objective, notes, files and the command of each."),
    ] = False,
) -> None:
    """List the rounds, one line each; `-v` shows how to find the best trial again."""
    rows = stores.rounds(store_address(answering.store))
    answering.show({"rounds": rows}, lambda: print_tracking(rows, screen(), details=verbose))


@flatten_groups
def show(
    round: RoundName,
    judging: Judging,
    answering: Answering,
    curves: Annotated[
        bool, typer.Option("--curves", help="With --json: every point of every curve too.")
    ] = False,
) -> None:
    """Show one round: goal, roles, the best per study, why trials did not complete, what next."""
    results = read_round(round, answering.store, earlier=False)
    results = judging.apply(results, aloud=False)
    data = partial(facts.of_round, results, curves=curves)  # every declared trial is in it
    answering.show(data, lambda: print_round(results, screen()))


@flatten_groups
def trial(
    round: RoundName,
    judging: Judging,
    answering: Answering,
    number: Annotated[int, typer.Argument(metavar="N", help="The trial's number in its round.")],
) -> None:
    """Show one trial: configuration, curves, attempts, log, where it comes from."""
    results = judging.apply(read_round(round, answering.store))
    chosen_trial = results.trial(number)
    history = stores.history(store_address(answering.store), chosen_trial)
    data = {
        "round": results.round.name,
        "root": results.root,
        "trial": facts.of_trial(results, chosen_trial, curves=True),
        "repeats": [
            facts.of_trial(results, repeat, repeat=k)
            for k, repeat in enumerate(results.repeats(chosen_trial), start=1)
        ],
        "history": history,
        "standing": standing(results, chosen_trial, history.attempts),
    }
    answering.show(data, lambda: print_trial(results, chosen_trial, history, screen()))


@flatten_groups
def note(
    round: RoundName,
    answering: Answering,
    text: Annotated[str, typer.Argument(help="What to remember about the round.")],
) -> None:
    """Write a note about a round; `show` and `ls` print it."""
    notes = stores.note(store_address(answering.store), round, text)
    answering.show(
        {"round": round, "notes": notes},
        lambda: say(worded("noted", round=words.printable(round), notes=len(notes))),
    )


@flatten_groups
def export(
    round: RoundName,
    judging: Judging,
    answering: Answering,
    path: Annotated[Path, typer.Argument(help="A .csv, .parquet or .json file to write.")],
    table: Annotated[
        str,
        typer.Option(metavar="TABLE", help="trials: one row each; curves: one row per point."),
    ] = "trials",
) -> None:
    """Write a round's trials or curves to a file for other programs."""
    rows = choose(table, _TABLES, "--table")
    results = judging.apply(read_round(round, answering.store, earlier=False))
    written = results.export(path, rows)
    trials = results.size
    answering.show(
        {"round": results.round.name, "path": written, "table": rows, "trials": trials},
        lambda: say(worded("exported", path=path, trials=trials, round=words.printable(round))),
    )


@flatten_groups
def check(
    round: RoundName,
    judging: Judging,
    answering: Answering,
) -> None:
    """Ask whether a round can be trusted: the playbook's checklist. Exits with 1 on a warning."""
    results = judging.apply(read_round(round, answering.store))
    findings = check_results(results)
    answering.show(
        {"round": results.round.name, "findings": findings},
        lambda: print_checklist(results, findings, screen()),
        WARNED if any(finding.verdict == "warn" for finding in findings) else FINE,
    )


@flatten_groups
def believe(round: RoundName, answering: Answering) -> None:
    """Show what a model of the trials believes: the best to expect, what diverges, what is left.

    It is the model of the Bayesian search, and works for rounds of any search. Trials of the rounds
    that this one continues count too, where they fit.
    """
    results = read_round(round, answering.store)
    beliefs = learnt(results)
    answering.show(
        {"round": results.round.name, "beliefs": each_without(beliefs, "says")},
        lambda: print_beliefs(results, beliefs, screen()),
    )


@flatten_groups
def plot(
    round: RoundName,
    judging: Judging,
    answering: Answering,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help=f"One kind of figure; may be given again. {', '.join(CHAPTERS)}.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to write; by default ROUND.plots."),
    ] = None,
    format: Annotated[str, typer.Option(metavar="FORMAT", help="png, svg or pdf.")] = "png",
) -> None:
    """Draw a round: every trial, the best so far, settings, curves, budgets, importance."""
    kinds = [choose(kind, _KINDS, "--only") for kind in only or _KINDS]
    ending = choose(format, _FORMATS, "--format")
    results = judging.apply(read_round(round, answering.store))
    folder = out or Path(f"{file_name(round)}.plots")
    written: list[dict[str, Any]] = []
    missing: list[str] = []
    for chapter in chapters(results, only=kinds):
        if chapter.missing:
            missing.append(chapter.kind)
            say(f"{chapter.kind}: {words.printable(chapter.missing)}")
        for place, figure in enumerate(chapter.figures):
            path = figure.save(folder / f"{_stem(figure, place)}{ending}")
            written.append({"kind": chapter.kind, "path": path, "data": figure.data})
            say(worded("wrote", path=path))
            say(f"  {figure.says}")
    data = {"round": results.round.name, "figures": written, "missing": missing}
    answering.show(data, lambda: None)


@flatten_groups
def report(
    round: RoundName,
    judging: Judging,
    answering: Answering,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An .html or .txt file; by default ROUND.html."),
    ] = None,
) -> None:
    """Report on a round: verdict first, then plots and trials, in one HTML file and on screen."""
    results = judging.apply(read_round(round, answering.store), aloud=answering.json)
    made_report = report_on(results, reader="shell")
    path = out or (None if answering.json else Path(f"{file_name(round)}.html"))
    if path is not None:
        made_report.save(path)
    data = {
        "round": results.round,
        "answer": made_report.answer.headline,
        "path": path,
        "counts": results.counts,
        "best": facts.best_of(results),
        "findings": made_report.findings,
        "next": next_steps(results, reported=True),
    }

    def page() -> None:
        print_report(results, made_report.answer, made_report.chapters, screen())
        say()
        say(worded("wrote", path=path))

    answering.show(data, page)


def file_name(round: str) -> str:
    """A round's name as the name of a file in this folder.

    >>> file_name("weight_decay"), file_name("../a b/c")
    ('weight_decay', 'a_b_c')
    """
    return re.sub(r"[^\w.-]+", "_", round).strip("._")[:100] or "round"


def _stem(figure: Figure[Any], place: int) -> str:
    return figure.name if place == 0 else f"{figure.name}_{place + 1}"
