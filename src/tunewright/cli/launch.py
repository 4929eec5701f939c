"""Commands that decide: launch, history, and variance, which shows how far chance moves a value."""

from __future__ import annotations

from typing import Annotated

import typer

from tunewright.cli._errors import FINE, INTERRUPTED, UNFINISHED
from tunewright.cli._grouped import flatten_groups
from tunewright.cli._groups import Answering, Judging, Priced, Training
from tunewright.cli._options import RoundName, choose, from_here, need_project, store_address
from tunewright.execution.run import load
from tunewright.launches import lineage as histories, workflow
from tunewright.launches.launch import Claim, LaunchTerms
from tunewright.launches.variance import variance as variance_of
from tunewright.launches.workflow import LaunchReport
from tunewright.present.terminal.launch_page import (
    look_line,
    print_history,
    print_report,
    print_variances,
)
from tunewright.present.terminal.screen import screen, sidelines
from tunewright.present.terminal.spent_line import print_spent
from tunewright.progress.choose import on_screen
from tunewright.refusals import exit_code_of

_KINDS: dict[str, Claim] = {"feature": "feature", "hyperparameters": "hyperparameters"}


@flatten_groups
def launch(
    round: RoundName,
    judging: Judging,
    priced: Priced,
    training: Training,
    answering: Answering,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="ROUND|TRIAL",
            help="What to beat: a round (its best), ROUND:7, or a trial of this round. By default "
            "what was launched last, else this round's first setting.",
            show_default=False,
        ),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("--trial", metavar="N", help="The candidate; the best trial by default."),
    ] = None,
    complexity: Annotated[
        float, typer.Option(min=0.0, metavar="GAIN", help="The gain it takes to be worth its cost.")
    ] = 0.0,
    not_worse_by: Annotated[
        float | None,
        typer.Option(
            metavar="LOSS", help="Ask instead: is it worse by no more than this? To remove things."
        ),
    ] = None,
    sd: Annotated[
        float | None,
        typer.Option(
            "--sd",
            metavar="SD",
            help="The metric's standard deviation between runs, if known; with --times 1 one run "
            "each decides.",
        ),
    ] = None,
    times: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Decide once, at N runs each; by default at 3, 5, 8, 13 or 20, as soon as it is "
            "clear.",
            show_default=False,
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            min=3,
            metavar="N",
            help="Train both once on each of N data splits, and compare split by split.",
            show_default=False,
        ),
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option(
            metavar="CLAIM",
            help="feature (10 % false launches) or hyperparameters (25 %); by default a feature if "
            "the round asked about what changed.",
            show_default=False,
        ),
    ] = None,
    in_general: Annotated[
        bool,
        typer.Option(
            "--in-general",
            help="Claim that the feature helps, not only this point: adds study and data variance.",
        ),
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Do not reuse the runs that made the baseline what it is."),
    ] = False,
    any_length: Annotated[
        bool,
        typer.Option(
            "--any-length",
            help="Compare them although one trains for more steps: longer training is the claim.",
        ),
    ] = False,
    first: Annotated[
        bool,
        typer.Option("--first", help="No comparison: make the trial the first baseline."),
    ] = False,
    why: Annotated[str, typer.Option(metavar="TEXT", help="A word for the history.")] = "",
) -> None:
    """Decide whether a round's best becomes the baseline: train both again on fresh seeds.

    The trial that tuning found never counts, since it was picked partly for its noise. Runs
    until it is clear; a launch is kept in the history and becomes the baseline of the next one.
    """
    project = need_project()
    address = project.store(from_here(answering.store))
    price = priced.per_hour
    terms = LaunchTerms(
        claim=None if claim is None else choose(claim, _KINDS, "--claim"),
        complexity=complexity,
        not_worse_by=not_worse_by,
        sd=sd,
        plan=times,
        splits=splits,
        in_general=in_general,
        fresh=fresh,
        any_length=any_length,
    )
    results = judging.apply(load(address, round))
    with project.entered():
        report = workflow.launch(
            results,
            project.workload(address, training.executor, round),
            against=baseline,
            terms=terms,
            trial=number,
            first=first,
            dry_run=priced.dry_run,
            why=why,
            progress=on_screen(),
            on_look=lambda launch: sidelines().print(look_line(launch)),
        )
    report = report.priced(price)

    def page() -> None:
        print_report(report, screen())
        if not priced.dry_run:
            print_spent(load(address, round, earlier=False), price)

    answering.show(report.to_data(), page, _exit_code(report))


@flatten_groups
def history(answering: Answering) -> None:
    """Show every launch decision, oldest first, and the baseline that came of them."""
    launches = histories.history(store_address(answering.store))
    answering.show(launches.to_data(), lambda: print_history(launches, screen()))


def _exit_code(report: LaunchReport) -> int:
    if report.interrupted:
        return INTERRUPTED
    if report.refusal is not None:
        return exit_code_of(report.refusal)
    if report.decision is None or report.decision.forbidden:
        return FINE
    return FINE if all(report.decision.runs) else UNFINISHED


@flatten_groups
def variance(
    round: RoundName,
    training: Training,
    answering: Answering,
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
) -> None:
    """Show trial, study and data variance of a round together; runs nothing unless asked to.

    How far would the best value move with other seeds, another search, other data? `--times`,
    `--studies` and `--splits` train what it takes to know.
    """
    if times or studies or splits:
        project = need_project()
        address = project.store(from_here(answering.store))
        with project.entered():
            variances = variance_of(
                load(address, round, earlier=False),
                project.workload(address, training.executor, round),
                times=times,
                studies=studies,
                splits=splits,
                progress=on_screen(),
            )
    else:
        address = store_address(answering.store)
        variances = variance_of(load(address, round, earlier=False), store=address)
    code = INTERRUPTED if variances.interrupted else FINE
    answering.show(variances.to_data(), lambda: print_variances(variances, screen()), code)
