"""The commands `plot` and `report`: a round as figures and pages. They never train anything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from tunewright.cli._answer import answer
from tunewright.cli._objective_options import AtOption, MaximizeOption, MinimizeOption, judged_by
from tunewright.cli._options import JsonOption, RoundName, StoreOption, chosen
from tunewright.cli._project import read_round
from tunewright.messages import words
from tunewright.present import envelope as facts
from tunewright.present.figures.figure import Figure
from tunewright.present.next_step import next_steps
from tunewright.present.report import report as report_on
from tunewright.present.report_parts import CHAPTERS, chapters
from tunewright.present.terminal.report_page import print_report
from tunewright.present.terminal.screen import say, screen

KINDS = {kind: kind for kind in CHAPTERS}
FORMATS = {"png": ".png", "svg": ".svg", "pdf": ".pdf"}


def plot(
    round: RoundName,
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
    minimize: MinimizeOption = None,
    maximize: MaximizeOption = None,
    at: AtOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Draw a round: every trial, the best so far, settings, curves, budgets, importance."""
    kinds = [chosen(kind, KINDS, "--only") for kind in only or KINDS]
    ending = chosen(format, FORMATS, "--format")
    results = judged_by(read_round(round, store), minimize, maximize, at)
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
            say(f"wrote {path}")
            say(f"  {figure.says}")
    data = {"round": results.round.name, "figures": written, "missing": missing}
    answer(json, data, lambda: None)


def report(
    round: RoundName,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An .html or .txt file; by default ROUND.html."),
    ] = None,
    minimize: MinimizeOption = None,
    maximize: MaximizeOption = None,
    at: AtOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Report on a round: verdict first, then plots and trials, in one HTML file and on screen."""
    results = judged_by(read_round(round, store), minimize, maximize, at, aloud=json)
    made = report_on(results, reader="shell")
    path = out or (None if json else Path(f"{file_name(round)}.html"))
    if path is not None:
        made.save(path)
    data = {
        "round": results.round,
        "answer": made.answer.headline,
        "path": path,
        "counts": results.counts,
        "best": facts.best_of(results),
        "findings": made.findings,
        "next": next_steps(results, reported=True),
    }

    def page() -> None:
        print_report(results, made.answer, made.chapters, screen())
        say()
        say(f"wrote {path}")

    answer(json, data, page)


def file_name(round: str) -> str:
    """A round's name as the name of a file in this folder.

    >>> file_name("weight_decay"), file_name("../a b/c")
    ('weight_decay', 'a_b_c')
    """
    return re.sub(r"[^\w.-]+", "_", round).strip("._")[:100] or "round"


def _stem(figure: Figure[Any], place: int) -> str:
    return figure.name if place == 0 else f"{figure.name}_{place + 1}"
