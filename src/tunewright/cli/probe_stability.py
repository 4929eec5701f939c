"""The commands `probe stability`, `probe warmup` and `probe clip`: against unstable training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from tunewright.cli import _options as where
from tunewright.cli._errors import INTERRUPTED, Misuse
from tunewright.cli._options import (
    JsonOption,
    StoreOption,
    WorkersOption,
    anchored,
    need_project,
    open_store,
    round_named,
)
from tunewright.design.ranges import Value
from tunewright.design.workload_file import read_value
from tunewright.execution.executors.executor import Executor
from tunewright.execution.workload import Workload
from tunewright.messages import Message, words
from tunewright.present.terminal.proposal_page import print_answer
from tunewright.present.terminal.screen import cell, say, screen, show_json, sidelines, table
from tunewright.probes.clip import Clip, ClipTry, clip as ask_clip
from tunewright.probes.short_run import ShortRun
from tunewright.probes.stability import STEPS, Stability, stability as ask_stability
from tunewright.probes.warmup import REPEATS, Rung, Warmup, warmup as ask_warmup
from tunewright.progress.choose import on_screen
from tunewright.progress.watcher import Watcher
from tunewright.remedies import use
from tunewright.store.store import Store
from tunewright.store.trial import Trial

Found = TypeVar("Found")
RoundArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[ROUND]",
        callback=round_named,
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
StepsOption = Annotated[int, typer.Option(min=1, metavar="N", help="Steps of each short run.")]


def carried_out(
    ask: Callable[[Workload, Trial | None, Watcher], Found],
    round: str | None,
    number: int | None,
    store: str | None,
    executor: Executor,
) -> Found:
    """The answer of a probe; after an interrupt, the command that resumes it."""
    project = need_project()
    store = None if store is None else anchored(store, Path.cwd())
    known = _begin_from(project.store(store), round, number)
    with project.entered():
        workload = project.workload(store, executor)
        try:
            return ask(workload, known, on_screen())
        except KeyboardInterrupt:
            sidelines().print(Message("probe.interrupted").text)
            raise typer.Exit(INTERRUPTED) from None


def _begin_from(store: str, round: str | None, number: int | None) -> Trial | None:
    """The trial to begin from; None: the best that the store has."""
    if round is None:
        if number is not None:
            raise Misuse(
                "option.trial_without_round",
                trial=number,
                remedy=use("ROUND", "--trial", str(number)),
            )
        return None
    with Store.open(store, create=False) as opened:
        results = opened.results(round)
    return results.best() if number is None else results.trial(number)


def values(written: list[str] | None) -> dict[str, Value]:
    """Hyperparameters as they are written on the command line.

    >>> values(["learning_rate=0.01", "optimizer=adam", "nesterov=true"])
    {'learning_rate': 0.01, 'optimizer': 'adam', 'nesterov': True}
    """
    found: dict[str, Value] = {}
    for text in written or ():
        name, divider, value = text.partition("=")
        if not divider or not name.strip():
            raise Misuse(
                "option.not_name_value", text=text, remedy=use("--fixed", "learning_rate=0.01")
            )
        found[name.strip()] = read_value(value.strip())
    return found


def stability(
    round: RoundArgument = None,
    trial: TrialOption = None,
    fixed: FixedOption = None,
    steps: StepsOption = STEPS,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Is training unstable just above the best learning rate? Short runs, every step evaluated.

    The same command again finds what was run, and resumes where it was interrupted.
    """

    def ask(workload: Workload, known: Trial | None, watch: Watcher) -> Stability:
        return ask_stability(
            workload, fixed=values(fixed), trial=known, steps=steps, progress=watch
        )

    answer = carried_out(ask, round, trial, store, where.executor(on, workers))
    if json:
        show_json(answer.to_data())
        return
    _print_runs(answer.runs, answer.learning_rate)
    print_answer(answer, answer.caveats)


def warmup(
    round: RoundArgument = None,
    trial: TrialOption = None,
    fixed: FixedOption = None,
    steps: StepsOption = STEPS,
    repeats: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Seeds of the comparison of whole trainings; 0: none."
        ),
    ] = REPEATS,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """How short a warm-up allows a far higher learning rate? Then whole trainings with it.

    Finds the lowest unstable learning rate, then the shortest warm-up that makes ten times that
    rate stable (else three times; else with clipping). The same command again resumes.
    """

    def ask(workload: Workload, known: Trial | None, watch: Watcher) -> Warmup:
        return ask_warmup(
            workload,
            fixed=values(fixed),
            trial=known,
            steps=steps,
            repeats=repeats,
            progress=watch,
        )

    answer = carried_out(ask, round, trial, store, where.executor(on, workers))
    if json:
        show_json(answer.to_data())
        return
    _print_rungs(answer.rungs)
    _print_arms(answer)
    print_answer(answer, answer.caveats)


def clip(
    round: RoundArgument = None,
    trial: TrialOption = None,
    fixed: FixedOption = None,
    recorded: Annotated[
        bool,
        typer.Option("--recorded", help="Train nothing: read the norms that the round logged."),
    ] = False,
    steps: StepsOption = STEPS,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """At which norm to clip gradients? The 90th percentile, halved while training is unstable.

    Trains where it is unstable without clipping; with --recorded it only reads a round's norms.
    """
    if recorded:
        answer = _from_record(round, trial, fixed, store)
    else:

        def ask(workload: Workload, known: Trial | None, watch: Watcher) -> Clip:
            return ask_clip(workload, fixed=values(fixed), trial=known, steps=steps, progress=watch)

        answer = carried_out(ask, round, trial, store, where.executor(on, workers))
    if json:
        show_json(answer.to_data())
        return
    _print_thresholds(answer.tried)
    print_answer(answer, answer.caveats)


def _from_record(
    round: str | None, trial: int | None, fixed: list[str] | None, store: str | None
) -> Clip:
    if round is None:
        raise Misuse("probe.recorded_without_round", remedy=use("ROUND", "--recorded"))
    if fixed:
        raise Misuse("probe.recorded_and_fixed")
    with open_store(store) as opened:
        return ask_clip(opened.results(round), trial=trial)


def _print_rungs(rungs: Sequence[Rung]) -> None:
    """A line for each length of warm-up that was tried."""
    if not rungs:
        return
    shown = table(
        "warm-up steps", "up to", "clipped at", "", right=("warm-up steps", "up to", "clipped at")
    )
    for rung in rungs:
        norm = "" if rung.clip_norm is None else words.number(rung.clip_norm)
        style = "" if rung.stable else "yellow"
        peak = words.number(rung.base_learning_rate)
        shown.add_row(
            cell(f"{rung.warmup_steps:,}"), cell(peak), cell(norm), cell(rung.message, style)
        )
    screen().print(shown)


def _print_arms(answer: Warmup) -> None:
    """A line for each way of training that was compared."""
    if answer.compared is None:
        return
    compared = answer.compared
    shown = table("learning rate", "warm-up steps", compared.metric, "by seed")
    for arm in (compared.baseline, *compared.candidates):
        mean = "infeasible" if arm.mean is None else words.number(arm.mean)
        seeds = ", ".join("-" if v is None else words.number(v) for v in arm.values)
        rate = words.number(arm.learning_rate)
        shown.add_row(cell(rate), cell(f"{arm.warmup_steps:,}"), cell(mean), cell(seeds))
    say()
    screen().print(shown)


def _print_thresholds(tried: Sequence[ClipTry]) -> None:
    """A line for each threshold that was tried."""
    if not tried:
        return
    shown = table("clipped at", "updates clipped", "", right=("clipped at", "updates clipped"))
    for one in tried:
        share = "" if one.clipped is None else f"{one.clipped.share:.0%}"
        bad = next((run for run in one.runs if not run.stable), None)
        what = one.runs[0].message if bad is None else bad.message
        shown.add_row(
            cell(words.number(one.clip_norm)),
            cell(share),
            cell(what, "" if one.stable else "yellow"),
        )
    screen().print(shown)


def _print_runs(runs: Sequence[ShortRun], best: float) -> None:
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
        shown.add_row(cell(rate), cell(times), cell(start), cell(run.message, style))
    screen().print(shown)
