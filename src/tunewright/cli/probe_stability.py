"""The commands `probe stability`, `probe warmup` and `probe clip`: against unstable training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from tunewright.cli import where, words
from tunewright.cli.options import JsonOption, StoreOption, WorkersOption
from tunewright.cli.probe_page import show_answer
from tunewright.cli.probe_rounds import carried_out, values
from tunewright.cli.screen import cell, say, screen, table
from tunewright.execution.watcher import Watcher
from tunewright.execution.workload import Workload
from tunewright.probes.probe import Answer
from tunewright.probes.short_run import ShortRun
from tunewright.probes.stability import STEPS, Stability, stability as ask_stability
from tunewright.record.trial import Trial

RoundArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[ROUND]",
        help="Begin from this round's best trial; by default from the best of all rounds.",
        show_default=False,
    ),
]
TrialOption = Annotated[
    int | None,
    typer.Option(
        "--trial", metavar="N", help="Begin from this trial of the round.", show_default=False
    ),
]
FixedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--fixed",
        metavar="NAME=VALUE",
        help="Set a hyperparameter, such as learning_rate=0.01; may be given several times.",
        show_default=False,
    ),
]


def stability(
    round: RoundArgument = None,
    trial: TrialOption = None,
    fixed: FixedOption = None,
    steps: Annotated[int, typer.Option(min=1, metavar="N", help="Steps of each run.")] = STEPS,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Is training unstable just above the best learning rate? Short runs, every step evaluated.

    The same command again finds what was run, and goes on where it was interrupted.
    """

    def ask(workload: Workload, known: Trial | None, watch: Watcher) -> Stability:
        return ask_stability(workload, fixed=values(fixed), trial=known, steps=steps, watch=watch)

    answer = carried_out(ask, round, trial, store, where.executor(on, workers))
    if not json:
        print_runs(answer.runs, answer.learning_rate)
    finish(answer, answer.caveats, json)


def print_runs(runs: Sequence[ShortRun], best: float) -> None:
    """A line for each learning rate that was tried."""
    if not runs:
        return
    shown = table(
        "learning rate", "of the best", "loss", "", right=("learning rate", "of the best")
    )
    for run in runs:
        final = "" if run.final_loss is None else words.number(run.final_loss)
        start = "" if run.start_loss is None else f"{words.number(run.start_loss)} to {final}"
        style = "" if run.stable else "yellow"
        rate, times = words.number(run.learning_rate), f"{run.learning_rate / best:.3g} x"
        shown.add_row(cell(rate), cell(times), cell(start), cell(run.says, style))
    screen().print(shown)


def finish(answer: Answer, caveats: Sequence[str], json: bool) -> None:
    """The answer, and what it rests on."""
    show_answer(answer, json)
    for text in caveats if not json else ():
        say(f"  caveat: {words.printable(text)}")
