"""The objective changed afterwards: options by which recorded trials are judged anew."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import Annotated

import typer
from rich.text import Text

from tunewright.actions import RunTrials
from tunewright.cli._options import chosen
from tunewright.design.objective import PLACES, Objective
from tunewright.errors import Misuse
from tunewright.messages import Message, words
from tunewright.present.terminal.screen import sidelines
from tunewright.remedies import use
from tunewright.store.results import Results

MinimizeOption = Annotated[
    str | None,
    typer.Option(
        "--minimize",
        metavar="METRIC",
        help="Judge the recorded trials anew: this logged metric, made small.",
        show_default=False,
    ),
]
MaximizeOption = Annotated[
    str | None,
    typer.Option(
        "--maximize",
        metavar="METRIC",
        help="Judge the recorded trials anew: this logged metric, made large.",
        show_default=False,
    ),
]
AtOption = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="WHEN",
        help=f"Judge by the best value over training, or by the last one: {' or '.join(PLACES)}.",
        show_default=False,
    ),
]


def judged_by(
    results: Results,
    minimize: str | None,
    maximize: str | None,
    at: str | None,
    aloud: bool = True,
) -> Results:
    """The same trials under the objective asked for, with a note of it; else as recorded.

    What is not asked for stays as the round has it, its constraints too. `aloud`: the note is
    printed, on the side, for pages that do not show notes.
    """
    objective = objective_asked(results, minimize, maximize, at)
    if objective == results.objective:
        return results
    facts = {"now": str(objective), "before": str(results.objective)}
    note = Message("note.judged_by", facts)
    if aloud:
        sidelines().print(Text(f"note: {words.printable(note.text)}"), soft_wrap=True)
    return replace(results.with_objective(objective), notes=(*results.notes, note))


def objective_asked(
    results: Results, minimize: str | None, maximize: str | None, at: str | None
) -> Objective:
    """The objective of these options; refuses a metric that no trial has logged."""
    if minimize is not None and maximize is not None:
        raise Misuse(
            "objective.two_directions",
            minimize=minimize,
            maximize=maximize,
            remedy=use("--minimize", minimize),
        )
    asked = results.objective
    if at is not None:
        asked = replace(asked, at=chosen(at, {place: place for place in PLACES}, "--at"))
    metric = minimize if minimize is not None else maximize
    if metric is None:
        return asked
    option = "--minimize" if minimize is not None else "--maximize"
    if metric not in results.metrics:
        raise _never_logged(results, option, metric)
    return replace(asked, metric=metric, minimize=minimize is not None)


def nearest_first(name: str, known: tuple[str, ...]) -> list[str]:
    """The known names, those most like this one first.

    >>> nearest_first("valid_eror", ("train_loss", "valid_loss", "valid_error"))
    ['valid_error', 'valid_loss', 'train_loss']
    """

    def unlike(other: str) -> float:
        return -difflib.SequenceMatcher(None, name.lower(), other.lower()).ratio()

    return sorted(known, key=unlike)


def _never_logged(results: Results, option: str, metric: str) -> Misuse:
    round = results.round.name
    if not results.metrics:
        return Misuse(
            "objective.nothing_logged",
            option=option,
            metric=metric,
            round=round,
            remedy=RunTrials(round),
        )
    nearest = nearest_first(metric, results.metrics)
    return Misuse(
        "objective.not_logged",
        option=option,
        metric=metric,
        round=round,
        cause=Message("objective.logged_were", {"metrics": list(nearest)}),
        remedy=use(option, nearest[0]),
    )
