"""Commands that decide: launch compares with the baseline on fresh seeds, history shows how."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from tunewright.campaigns.replicate import replicates, resplit
from tunewright.checks.checklist import check
from tunewright.cli import _where as where
from tunewright.cli._errors import FINE, INTERRUPTED, UNFINISHED, Misuse
from tunewright.cli._objective_options import AtOption, MaximizeOption, MinimizeOption, judged_by
from tunewright.cli._options import JsonOption, RoundName, StoreOption, WorkersOption, chosen
from tunewright.cli._project import anchored, need_project, open_store
from tunewright.cli._rivals import Rivals, rivals
from tunewright.execution.watcher import Summary
from tunewright.execution.workload import Workload
from tunewright.launches import lineage
from tunewright.launches.arm import Arm
from tunewright.launches.data_variance import examples_of, of_gain
from tunewright.launches.grounds import claim_of
from tunewright.launches.launch import Launch
from tunewright.launches.lineage import Place
from tunewright.launches.looks import Settled, keep, settle
from tunewright.launches.pipeline_history import Pipeline, read_history
from tunewright.launches.plan import FIVE_LOOKS, Claim, fixed
from tunewright.launches.study_variance import luck_of_gain
from tunewright.launches.terms import Question
from tunewright.messages import words
from tunewright.present.terminal.launch_page import (
    Intent,
    look_line,
    print_history,
    print_intent,
    print_launch,
)
from tunewright.present.terminal.progress import watcher
from tunewright.present.terminal.screen import say, screen, show_json, sidelines
from tunewright.stats.gain import History
from tunewright.store.repeats import Repeats
from tunewright.store.results import Results
from tunewright.store.store import Store

KINDS: dict[str, Claim] = {"feature": "feature", "hyperparameters": "hyperparameters"}


def launch(
    round: RoundName,
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
    first: Annotated[
        bool,
        typer.Option("--first", help="No comparison: make the trial the first baseline."),
    ] = False,
    why: Annotated[str, typer.Option(metavar="TEXT", help="A word for the history.")] = "",
    minimize: MinimizeOption = None,
    maximize: MaximizeOption = None,
    at: AtOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen and what it costs, no more.")
    ] = False,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    ray_address: where.AddressOption = None,
    resources: where.ResourcesOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Decide whether a round's best becomes the baseline: train both again on fresh seeds.

    The trial that tuning found never counts, since it was picked for its luck. Runs until it is
    clear; a launch is kept in the history and becomes the baseline of the next one.
    """
    project = need_project()
    address = project.store(None if store is None else anchored(store, Path.cwd()))
    with Store.open(address, create=False) as opened:
        if first:
            results = judged_by(opened.results(round), minimize, maximize, at)
            _make_first(opened, results, number, why)
            return
        results = judged_by(opened.results(round), minimize, maximize, at)
        pair = rivals(opened, results, number, baseline)
        past = History.declared(sd) if sd is not None else _history(opened, pair)
        question = Question(
            plan=FIVE_LOOKS if times is None and splits is None else fixed(times or splits or 5),
            complexity=complexity,
            findings=tuple(check(results)),
            not_worse_by=not_worse_by,
            sd=sd,
            claim=None if claim is None else chosen(claim, KINDS, "--claim"),
            looked=lineage.looked(opened, *pair.places, by_split=splits is not None),
            candidates=1 + lineage.tried(opened, *pair.places),
            history=past,
        )
        if in_general:
            question = _in_general(opened, pair, question)
    if dry_run:
        print_intent(_intent(pair, question), screen())
        return
    left = sum(not trial.ended for trial in results.trials)
    if left:
        trials = words.count(left, "trial")
        sidelines().print(f"{trials} of {words.printable(round)} to come: the best may change")
    executor = where.executor(on, workers, ray_address, resources)
    with project.entered():
        workload = project.workload(address, executor)
        if splits is not None:
            found = _by_split(pair, workload, splits, question)
        else:
            found = settle(
                pair.candidate,
                pair.baseline,
                workload,
                question,
                skip=pair.won_with if fresh else 0,
                won_with=pair.won_with,
                watch=watcher(sidelines()),
                told=lambda launch: sidelines().print(look_line(launch)),
            )
    with Store.open(address, create=False) as opened:
        if not found.interrupted and found.summary is not None:
            keep(opened, found, why)
        now = lineage.baseline(opened)
    _show(found, now.place if now else None, json)
    raise typer.Exit(_exit_code(found))


def history(store: StoreOption = None, json: JsonOption = False) -> None:
    """Show every launch decision, oldest first, and the baseline that came of them."""
    with open_store(store) as opened:
        decided, made = lineage.launches(opened), lineage.baselines(opened)
    if json:
        show_json({"launches": decided, "baselines": made})
    else:
        print_history(decided, made, screen())


def _make_first(store: Store, results: Results, number: int | None, why: str) -> None:
    """Record the first baseline, or refuse a second first one."""
    now, round = lineage.baseline(store), results.round.name
    if now is not None:
        raise Misuse(
            f"--first: {now.place} is the baseline already",
            remedy=f"tunewright launch {words.shell_word(round)}",
        )
    trial = results.best() if number is None else results.trial(number)
    lineage.first_baseline(store, Place.of(results, trial), why)
    name = words.printable(f"{round} trial {trial.number}")
    say(f"{name} is the first baseline: what comes next has to beat it", style="bold green")


def _history(store: Store, pair: Rivals) -> History | None:
    own, other = pair.places
    pipeline = Pipeline.of(pair.candidate.results, pair.candidate.of)
    both = ((own.round, own.trial), (other.round, other.trial))
    return read_history(store, pipeline, both)


def _in_general(store: Store, pair: Rivals, question: Question) -> Question:
    """The question with the luck of tuning and of the data in it."""
    own, other = pair.candidate, pair.baseline
    again: tuple[Results, ...] = ()
    if own.results.round.name == other.results.round.name:
        again = replicates(store, own.results.round)
    luck = luck_of_gain(
        own.results,
        own.of.study,
        other.results,
        other.of.study,
        (own.results, *again) if again else (),
    )
    if luck is None:
        raise Misuse(
            "--in-general: what tuning luck does to the gain is not known",
            cause="it takes eight feasible trials in each of the two studies, or three replicates",
            remedy=f"tunewright variance {words.shell_word(own.results.round.name)} --studies 3",
        )
    kept = [examples_of(arm.results, arm.trials or (arm.of,)) for arm in (own, other)]
    data = None
    if kept[0] is not None and kept[1] is not None:
        data = of_gain(kept[0], kept[1])
    return replace(question, study=luck, data=data)


def _intent(pair: Rivals, question: Question) -> Intent:
    own, other = Arm.of(pair.candidate), Arm.of(pair.baseline)
    claim, why = claim_of(own, other)
    if question.claim is not None:
        claim, why = question.claim, "as declared"
    plan = FIVE_LOOKS if question.looked else question.plan
    worth = own.round.detect if own.round is not None else None
    past_sd = 0.0 if question.history is None else float(question.history.sd)
    timed = [t.seconds for arm in (pair.candidate, pair.baseline) for t in (arm.of, *arm)]
    return Intent(
        *pair.places,
        pair.why,
        claim,
        why,
        plan,
        plan.threshold(
            claim,
            not_worse=question.not_worse_by is not None,
            candidates=question.candidates,
            detect_in_sd=worth / past_sd if worth and past_sd else 1.0,
        ),
        question.not_worse_by,
        question.complexity,
        question.history,
        (len(pair.candidate), len(pair.baseline)),
        sum(timed) / len(timed),
        own.objective.metric,
    )


def _by_split(pair: Rivals, workload: Workload, splits: int, question: Question) -> Settled:
    """Both arms once on each data split; what the findings forbid is said before."""
    empty = [Repeats(arm.of, (), arm.results) for arm in (pair.candidate, pair.baseline)]
    forbidden = question.answer(*empty)
    if not forbidden.runs_needed:
        return Settled(forbidden, pair.candidate, pair.baseline)
    watch = watcher(sidelines())
    arms: list[Arm] = []
    summary: Summary | None = None
    for arm in (pair.candidate, pair.baseline):
        # the splits are those of the candidate's round, for both
        own, summary = resplit(
            arm.results, arm.of, workload, splits, watch, seed=pair.candidate.results.round.seed
        )
        if summary.why != "finished":
            return Settled(forbidden, pair.candidate, pair.baseline, summary)
        arms.append(own)
    return Settled(question.answer(arms[0], arms[1]), pair.candidate, pair.baseline, summary)


def _show(found: Settled, now: Place | None, json: bool) -> None:
    if json:
        show_json({**asdict(found.launch), "runs": found.launch.runs, "now": now})
        return
    print_launch(found.launch, screen())
    if found.interrupted:
        again = words.shell_word(found.candidate.results.round.name)
        say(f"interrupted: nothing was recorded; tunewright launch {again} goes on", style="yellow")
    elif _forbidden(found.launch):
        say("no run was spent. To ship this point as it is: --claim hyperparameters", style="dim")
    elif found.launch.verdict == "launch" and now is not None:
        say(f"kept in the history: tunewright history. Baseline: {words.printable(str(now))}")


def _forbidden(launch: Launch) -> bool:
    return launch.verdict == "undecided" and not any(launch.runs) and not launch.runs_needed


def _exit_code(found: Settled) -> int:
    if found.interrupted:
        return INTERRUPTED
    if _forbidden(found.launch):
        return FINE
    nothing: list[Any] = [arm for arm in found.launch.runs if not arm]
    return UNFINISHED if nothing else FINE
