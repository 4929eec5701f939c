"""The commands `probe stability`, `probe warmup` and `probe clip`: against unstable training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import typer

from tunewright.cli import _options as where
from tunewright.cli._errors import INTERRUPTED, Misuse, answer as show
from tunewright.cli._grouped import flatten_groups
from tunewright.cli._groups import Expecting, show_cost
from tunewright.cli._options import (
    JsonOption,
    StoreOption,
    WorkersOption,
    from_here,
    need_project,
    open_store,
    round_named,
)
from tunewright.costs.probes import of_probe
from tunewright.design.ranges import Value
from tunewright.design.workload_file import read_value
from tunewright.execution.run import load
from tunewright.execution.workload import Workload
from tunewright.messages import Message, words
from tunewright.present.terminal.proposal_page import print_answer
from tunewright.present.terminal.screen import cell, say, screen, sidelines, table
from tunewright.probes.clip import Clip, ClipTry, clip as ask_clip
from tunewright.probes.probe import Answer
from tunewright.probes.short_run import ShortRun
from tunewright.probes.stability import STEPS, Stability, stability as ask_stability
from tunewright.probes.warmup import REPEATS, Rung, Warmup, warmup as ask_warmup
from tunewright.progress.choose import on_screen
from tunewright.progress.watcher import Watcher
from tunewright.remedies import use
from tunewright.store.store import Store
from tunewright.store.trial import Trial

ProbeAnswer = TypeVar("ProbeAnswer")
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


@dataclass(frozen=True)
class Start:
    """The configuration that a probe begins from."""

    round: RoundArgument = None
    trial: TrialOption = None
    fixed: FixedOption = None

    @property
    def values(self) -> dict[str, Value]:
        """The hyperparameters that were set."""
        return values(self.fixed)


@dataclass(frozen=True)
class Carrying(Expecting):
    """Where a probe trains, what it would cost, and how it answers."""

    workers: WorkersOption = None
    on: where.OnOption = "local"
    store: StoreOption = None
    json: JsonOption = False

    def answers(self, answer: Answer, page: Callable[[], None]) -> None:
        """Print an answer as JSON, or a page of what was tried and then the answer."""

        def whole() -> None:
            page()
            print_answer(answer, getattr(answer, "caveats", ()))

        show(self.json, answer.to_data(), whole)


def carry_out(
    probe: str,
    ask: Callable[[Workload, Trial | None, Watcher], ProbeAnswer],
    start: Start,
    carrying: Carrying,
    **terms: Any,
) -> ProbeAnswer:
    """The answer of a probe; its cost instead, if only that is asked for.

    After an interrupt, the command that resumes it. `terms` are the arguments that decide the cost.
    """
    carrying.check()
    project = need_project()
    store = from_here(carrying.store)
    known = _begin_from(project.store(store), start.round, start.trial)
    with project.entered():
        workload = project.workload(store, where.executor(carrying.on, carrying.workers))
        if carrying.dry_run:
            if probe == "longer":  # it reads the round that it branches from
                terms["results"] = load(workload.store, start.round or "")
            given = {"fixed": start.values, "trial": known, "progress": on_screen(), **terms}
            cost = of_probe(probe, workload, measure=carrying.measure, **given)
            show_cost(carrying.with_price(cost), carrying.json, probe=probe)
            raise typer.Exit
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
    by_name: dict[str, Value] = {}
    for text in written or ():
        name, divider, value = text.partition("=")
        if not divider or not name.strip():
            raise Misuse(
                "option.not_name_value", text=text, remedy=use("--fixed", "learning_rate=0.01")
            )
        by_name[name.strip()] = read_value(value.strip())
    return by_name


@flatten_groups
def stability(
    start: Start,
    carrying: Carrying,
    steps: StepsOption = STEPS,
) -> None:
    """Is training unstable just above the best learning rate? Short runs, every step evaluated.

    The same command again finds what was run, and resumes where it was interrupted.
    """

    def ask(workload: Workload, known: Trial | None, watch: Watcher) -> Stability:
        return ask_stability(workload, fixed=start.values, trial=known, steps=steps, progress=watch)

    answer = carry_out("stability", ask, start, carrying, steps=steps)
    carrying.answers(answer, lambda: _print_runs(answer.runs, answer.learning_rate))


@flatten_groups
def warmup(
    start: Start,
    carrying: Carrying,
    steps: StepsOption = STEPS,
    repeats: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Seeds of the comparison of whole trainings; 0: none."
        ),
    ] = REPEATS,
) -> None:
    """How short a warm-up allows a far higher learning rate? Then whole trainings with it.

    Finds the lowest unstable learning rate, then the shortest warm-up that makes ten times that
    rate stable (else three times; else with clipping). The same command again resumes.
    """

    def ask(workload: Workload, known: Trial | None, watch: Watcher) -> Warmup:
        return ask_warmup(
            workload,
            fixed=start.values,
            trial=known,
            steps=steps,
            repeats=repeats,
            progress=watch,
        )

    answer = carry_out("warmup", ask, start, carrying, steps=steps, repeats=repeats)

    def page() -> None:
        _print_rungs(answer.rungs)
        _print_arms(answer)

    carrying.answers(answer, page)


@flatten_groups
def clip(
    start: Start,
    carrying: Carrying,
    recorded: Annotated[
        bool,
        typer.Option("--recorded", help="Train nothing: read the norms that the round logged."),
    ] = False,
    steps: StepsOption = STEPS,
) -> None:
    """At which norm to clip gradients? The 90th percentile, halved while training is unstable.

    Trains where it is unstable without clipping; with --recorded it only reads a round's norms.
    """
    if recorded:
        answer = _from_record(start, carrying.store)
    else:

        def ask(workload: Workload, known: Trial | None, watch: Watcher) -> Clip:
            return ask_clip(workload, fixed=start.values, trial=known, steps=steps, progress=watch)

        answer = carry_out("clip", ask, start, carrying, steps=steps)
    carrying.answers(answer, lambda: _print_thresholds(answer.tried))


def _from_record(start: Start, store: str | None) -> Clip:
    if start.round is None:
        raise Misuse("probe.recorded_without_round", remedy=use("ROUND", "--recorded"))
    if start.fixed:
        raise Misuse("probe.recorded_and_fixed")
    with open_store(store) as opened:
        return ask_clip(opened.results(start.round), trial=start.trial)


def _print_rungs(rungs: Sequence[Rung]) -> None:
    """A line for each length of warm-up that was tried."""
    if not rungs:
        return
    rows = table(
        "warm-up steps", "up to", "clipped at", "", right=("warm-up steps", "up to", "clipped at")
    )
    for rung in rungs:
        norm = "" if rung.clip_norm is None else words.number(rung.clip_norm)
        style = "" if rung.stable else "yellow"
        peak = words.number(rung.base_learning_rate)
        rows.add_row(
            cell(f"{rung.warmup_steps:,}"), cell(peak), cell(norm), cell(rung.message, style)
        )
    screen().print(rows)


def _print_arms(answer: Warmup) -> None:
    """A line for each way of training that was compared."""
    if answer.compared is None:
        return
    compared = answer.compared
    rows = table("learning rate", "warm-up steps", compared.metric, "by seed")
    for arm in (compared.baseline, *compared.candidates):
        mean = "infeasible" if arm.mean is None else words.number(arm.mean)
        seeds = ", ".join("-" if v is None else words.number(v) for v in arm.values)
        rate = words.number(arm.learning_rate)
        rows.add_row(cell(rate), cell(f"{arm.warmup_steps:,}"), cell(mean), cell(seeds))
    say()
    screen().print(rows)


def _print_thresholds(tried: Sequence[ClipTry]) -> None:
    """A line for each threshold that was tried."""
    if not tried:
        return
    rows = table("clipped at", "updates clipped", "", right=("clipped at", "updates clipped"))
    for threshold in tried:
        share = "" if threshold.clipped is None else f"{threshold.clipped.share:.0%}"
        bad = next((run for run in threshold.runs if not run.stable), None)
        what = threshold.runs[0].message if bad is None else bad.message
        rows.add_row(
            cell(words.number(threshold.clip_norm)),
            cell(share),
            cell(what, "" if threshold.stable else "yellow"),
        )
    screen().print(rows)


def _print_runs(runs: Sequence[ShortRun], best: float) -> None:
    """A line for each learning rate that was tried."""
    if not runs:
        return
    rows = table("learning rate", "of the best", "loss", "", right=("learning rate", "of the best"))
    for run in runs:
        final = "" if run.final_loss is None else words.number(run.final_loss)
        start = "" if run.start_loss is None else f"{words.number(run.start_loss)} to {final}"
        style = "" if run.stable else "yellow"
        rate, times = words.number(run.learning_rate), f"{run.learning_rate / best:.3g} x"
        rows.add_row(cell(rate), cell(times), cell(start), cell(run.message, style))
    screen().print(rows)
