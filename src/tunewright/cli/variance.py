"""The command that shows how far chance moves a round's best value: variance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tunewright.campaigns.replicate import known_splits, replicate, replicates, resplit
from tunewright.cli import _where as where
from tunewright.cli._errors import FINE, INTERRUPTED
from tunewright.cli._options import JsonOption, RoundName, StoreOption, WorkersOption
from tunewright.cli._project import anchored, need_project, open_store
from tunewright.execution.repeat import repeated
from tunewright.execution.watcher import Summary
from tunewright.launches.variance import Variances, variance as variances_of
from tunewright.messages import words
from tunewright.present.terminal.plain_table import cell, table
from tunewright.present.terminal.progress import watcher
from tunewright.present.terminal.screen import say, screen, show_json, sidelines
from tunewright.stats.spread import Spread
from tunewright.store.store import Store

WHAT = {
    "trial": "the same configuration, other seeds",
    "study": "the best, if the search were done again",
    "data": "the best value, on other examples",
    "gap": "its lead over the next, on other examples",
    "splits": "the same configuration, other data splits",
}


def variance(
    round: RoundName,
    times: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Train the best again until it has N repeats.",
            show_default=False,
        ),
    ] = None,
    studies: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Run the whole search again, with other points, until there are N of it.",
            show_default=False,
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            min=3, metavar="N", help="Train the best on each of N data splits.", show_default=False
        ),
    ] = None,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    ray_address: where.AddressOption = None,
    resources: where.ResourcesOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show trial, study and data variance of a round together; runs nothing unless asked to.

    How far would the best value move with other seeds, another search, other data? `--times`,
    `--studies` and `--splits` train what it takes to know.
    """
    summary: Summary | None = None
    if times or studies or splits:
        project = need_project()
        address = project.store(None if store is None else anchored(store, Path.cwd()))
        with Store.open(address, create=False) as opened:
            results = opened.results(round)
        watch = watcher(sidelines())
        with project.entered():
            workload = project.workload(
                address, where.executor(on, workers, ray_address, resources)
            )
            if times:
                _, summary, _ = repeated(results.best(), workload, times, watch)
            if studies and not _stopped(summary):
                _, summary = replicate(results, workload, studies, watch)
            if splits and not _stopped(summary):
                _, summary = resplit(results, results.best(), workload, splits, watch)
        opened_again = Store.open(address, create=False)
    else:
        opened_again = open_store(store)
    with opened_again as opened:
        results = opened.results(round)
        best = results.top(1)
        arm = known_splits(opened, results, best[0]) if best else None
        found = variances_of(results, replicates(opened, results.round), arm)
    if json:
        show_json(found)
    else:
        print_variances(found, screen())
    raise typer.Exit(INTERRUPTED if _stopped(summary) else FINE)


def print_variances(found: Variances, console: Console) -> None:
    """One line for each source of chance, largest question first, and how to learn the rest."""
    say(f"standard deviation of {words.printable(found.metric)} in {words.printable(found.round)}")
    shown = table("from", "sd", "90 % interval", "known", "what moves", right=("sd",))
    lines: list[tuple[str, str, Spread | None]] = [("trial", WHAT["trial"], found.trial)]
    for label, own in found.study.items():
        about = "" if label == "all" else f" ({label})"
        lines.append(("study", f"{WHAT['study']}{about}", own))
    lines += [
        ("data", WHAT["data"], found.data),
        ("data", WHAT["gap"], found.data_of_gain),
        ("data", WHAT["splits"], found.splits),
    ]
    for source, what, spread in lines:
        if spread is not None:
            within = f"{words.number(spread.low)} to {words.number(spread.high)}"
            shown.add_row(
                cell(source),
                cell(words.number(spread.sd)),
                cell(within),
                cell(spread.how),
                cell(what),
            )
    if shown.row_count:
        console.print(shown)
    if found.optimism is not None and found.optimism > 0:
        say(
            "the best value was picked for being best: probably optimistic by at least "
            f"{words.number(found.optimism)}"
        )
    for name, how in found.missing.items():
        say(f"not known: {name:<7} -> {words.printable(how)}", style="dim")


def _stopped(summary: Summary | None) -> bool:
    return summary is not None and summary.why != "finished"
