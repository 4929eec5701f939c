"""Choose candidate and baseline, and train both again, look by look, until the runs decide.

What the findings forbid is known before anything runs. Repeats that exist already count.

Without a named one the baseline is the trial launched last. Before the first launch it is the best
trial of the round's own starting point: the setting of its scientific hyperparameters that
switches the feature off (`off=` of the workload), else the first one listed.

A round is read together with those it continues, as `tw.load` reads it: the best trial may be one
of theirs. Each of the two trials then stands in the round that ran it, where its repeats are.

A replicate of a round has separate points, seeds and a separate data split, and so shows all that
chance does to a search. One configuration on several splits, each a separate small round, shows
what the data do; candidate and baseline on the same splits are compared one by one.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tunewright.actions import TrainAgain
from tunewright.design.ranges import same_value
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.errors import DesignError, NotFound
from tunewright.execution.repeat import round_of, run_repeats
from tunewright.execution.run import run_round
from tunewright.execution.workload import Workload
from tunewright.finding import Finding
from tunewright.launches import lineage
from tunewright.launches.arm import Arm
from tunewright.launches.decide import decide
from tunewright.launches.launch import FIVE_LOOKS, Launch, LaunchTerms, Plan
from tunewright.launches.lineage import Place, keep_launch
from tunewright.messages import Message
from tunewright.nearest import nearest
from tunewright.progress.watcher import Summary, Watcher
from tunewright.seeds import derive_seed
from tunewright.stats.gain import History
from tunewright.stats.spread import Spread
from tunewright.store.joined import with_earlier
from tunewright.store.results import Repeats, Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

OnLook = Callable[[Launch], None]
Named = Trial | Results | str | int  # how a baseline is named


def replicate_round(round: Round, number: int) -> Round:
    """The same round under other seeds; the number counts from 2, since the round itself is 1."""
    return replace(
        round,
        name=f"{round.name}.study{number}",
        goal=Message("goal.replicate", {"round": round.name}),
        seed=derive_seed(round.seed, "study", number),
    )


def replicates(store: Store, round: Round) -> tuple[Results, ...]:
    """The replicates of a round that a store has, as far as they were finished."""
    names = {record.name for record in store.rounds()}
    finished = []
    number = 2
    while (name := replicate_round(round, number).name) in names:
        results = store.results(name)
        if not results.unfinished:
            finished.append(results)
        number += 1
    return tuple(finished)


def replicate(
    results: Results, workload: Workload, studies: int, watch: Watcher | None = None
) -> tuple[tuple[Results, ...], Summary]:
    """Run a round again until there are this many of it, itself included."""
    if isinstance(studies, bool) or studies < 2:
        raise DesignError("variance.bad_studies", studies=studies)
    replicas: list[Results] = []
    summary = Summary("finished")
    for number in range(2, studies + 1):
        again = replicate_round(results.round, number)
        results_again, summary, _ = run_round(again, workload, watch=watch)
        if summary.why != "finished":
            break
        replicas.append(results_again)
    return tuple(replicas), summary


def _split_round(results: Results, trial: Trial, number: int, seed: int | None = None) -> Round:
    """One configuration on the data split of this number, from 1.

    The splits follow from `seed`, by default the round's: trials of one round share them.
    """
    return Round(
        f"{results.round.name}.trial{trial.number}.split{number}",
        goal=Message("goal.split", {"round": results.round.name, "trial": trial.number}),
        fixed=dict(trial.configuration),
        trials_per_study=1,
        seed=derive_seed(results.round.seed if seed is None else seed, "split", number),
    )


def resplit(
    results: Results,
    trial: Trial,
    workload: Workload,
    splits: int,
    watch: Watcher | None = None,
    seed: int | None = None,
) -> tuple[Arm, Summary]:
    """Train a trial's configuration once on each of these many data splits."""
    if isinstance(splits, bool) or splits < 1:
        raise DesignError("variance.bad_splits", splits=splits)
    runs = []
    summary = Summary("finished")
    for number in range(1, splits + 1):
        run, summary, _ = run_round(
            _split_round(results, trial, number, seed), workload, watch=watch
        )
        if summary.why != "finished":
            break
        runs.append(run)
    return _split_arm(results, trial, runs), summary


def arm_on_splits(store: Store, results: Results, trial: Trial) -> Arm | None:
    """A trial's configuration on the data splits that a store has; None without any."""
    names = {record.name for record in store.rounds()}
    runs = []
    number = 1
    while (name := _split_round(results, trial, number).name) in names:
        runs.append(store.results(name))
        number += 1
    return _split_arm(results, trial, runs) if runs else None


def _split_arm(results: Results, trial: Trial, runs: list[Results]) -> Arm:
    """One value for each data split; nothing was picked here, so that the trials count."""
    ended = [(run, run.trials[0]) for run in runs]
    valued = [(run.round.seed, t.value) for run, t in ended if t.value is not None]
    statuses = [t.status for _, t in ended]
    return Arm(
        label=f"{results.round.name} trial {trial.number}",
        values=tuple(value for _, value in valued),
        objective=results.objective,
        splits=tuple(seed for seed, _ in valued),
        infeasible=statuses.count("infeasible"),
        failed=statuses.count("failed"),
        unfinished=sum(status in ("pending", "running", "pruned") for status in statuses),
        round=results.round,
        study=results.studies[trial.study].label,
        configuration=trial.configuration,
    )


@dataclass(frozen=True)
class Question:
    """The terms of a launch with what the checklist and the store add to them."""

    terms: LaunchTerms = field(default_factory=LaunchTerms)
    findings: tuple[Finding, ...] = ()
    looked: int = 0  # earlier decisions about this pair
    history: History | None = None
    study: Spread | None = None
    data: Spread | None = None

    @property
    def plan(self) -> Plan:
        """At how many runs per arm to look; a second decision about a pair is sequential."""
        meant = self.terms.looks(default=FIVE_LOOKS)
        return FIVE_LOOKS if self.looked and not meant.sequential else meant

    def answer(self, candidate: Repeats | Arm, baseline: Repeats | Arm) -> Launch:
        """Decide on these terms."""
        return decide(
            candidate,
            baseline,
            replace(self.terms, plan=self.terms.looks(default=FIVE_LOOKS)),
            findings=self.findings,
            looked=self.looked,
            history=self.history,
            study=self.study,
            data=self.data,
        )


@dataclass(frozen=True)
class Decided:
    """A decision, and the repeats it rests on."""

    launch: Launch
    candidate: Repeats
    baseline: Repeats
    summary: Summary | None = None  # how the last repeats ended; None: nothing was run

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it before there was an answer."""
        return self.summary is not None and self.summary.why != "finished"


def with_repeats(results: Results, trial: Trial) -> Repeats:
    """A trial with the repeats that the database has of it."""
    return Repeats(trial, results.repeats(trial), results)


def look_until_decided(
    candidate: Repeats,
    baseline: Repeats,
    workload: Workload,
    question: Question | None = None,
    *,
    skip: int = 0,
    won_with: int = 0,
    watch: Watcher | None = None,
    on_look: OnLook | None = None,
) -> Decided:
    """Repeat both until the question has an answer, or its plan has no look left.

    `skip` leaves out the first repeats of the baseline, for those who want fresh ones of both;
    `won_with` is how many of them made it the baseline. `on_look` receives the decision of every
    look.
    """
    question = question or Question()
    if (candidate.results.round.name, candidate.of.number) == (
        baseline.results.round.name,
        baseline.of.number,
    ):
        raise DesignError(
            "launch.already_baseline", trial=candidate.of.number, round=candidate.results.round.name
        )
    terms = question.terms
    if terms.deterministic or (candidate.deterministic and baseline.deterministic):
        return _exactly(candidate, baseline, question)
    seedless = _seedless(question, candidate, baseline)  # known before anything runs
    if seedless is not None:
        return Decided(seedless, candidate, baseline)
    forbidden = question.answer(_first(candidate, 0), _first(baseline, 0))
    if not forbidden.runs_needed:
        return Decided(forbidden, candidate, baseline)
    plan = question.plan
    question = replace(question, terms=replace(question.terms, plan=plan))
    there = min(len(candidate), len(baseline) - skip)
    look = max((n for n in plan.looks if n <= there), default=plan.looks[0])
    while True:
        candidate, summary = _repeat_until(candidate, workload, look, watch)
        if _seedless(question, _first(candidate, look), _first(baseline, 0)) is not None:
            pass  # the baseline's runs would be as little use
        elif summary.why == "finished":
            baseline, summary = _repeat_until(baseline, workload, look + skip, watch)
        candidate_runs, baseline_runs = _first(candidate, look), _first(baseline, look, skip)
        launch = question.answer(candidate_runs, baseline_runs)
        if won_with > skip and launch.method != "none":
            reused = Message("launch.reused_runs", {"runs": min(look, won_with - skip)})
            launch = replace(launch, caveats=(reused, *launch.caveats))
        decided = Decided(launch, candidate_runs, baseline_runs, summary)
        if on_look is not None:
            on_look(launch)
        if launch.verdict != "undecided" or not launch.runs_needed or decided.interrupted:
            return decided
        if (
            not candidate_runs.values or not baseline_runs.values
        ):  # every run failed: more would fail too
            return decided
        further = plan.next_look(look)
        if further is None:
            return decided
        look = further


def _exactly(candidate: Repeats, baseline: Repeats, question: Question) -> Decided:
    """The decision about a program without chance: its trials are what repeats would be."""
    candidate_arm, baseline_arm = (exact_arm(repeats) for repeats in (candidate, baseline))
    done = Summary("finished")
    return Decided(question.answer(candidate_arm, baseline_arm), candidate, baseline, done)


def exact_arm(repeats: Repeats) -> Arm:
    """A deterministic arm: without repeats the trial itself counts, since no seed favours it."""
    arm = Arm.of(repeats)
    if arm.values or repeats.of.value is None:
        return arm
    return replace(arm, values=(repeats.of.value,), splits=(repeats.results.round.seed,))


def _seedless(question: Question, candidate: Repeats, baseline: Repeats) -> Launch | None:
    """The refusal, where repeats show that the program does not use its seed."""
    launch = question.answer(candidate, baseline)
    refused = any(reason.code == "launch.identical_repeats" for reason in launch.reasons)
    return launch if refused else None


def decide_by_split(
    candidate: Repeats,
    baseline: Repeats,
    workload: Workload,
    question: Question,
    *,
    watch: Watcher | None = None,
) -> Decided:
    """Train both once on each data split; what the findings forbid is known before."""
    assert question.terms.splits is not None
    forbidden = question.answer(_first(candidate, 0), _first(baseline, 0))
    if not forbidden.runs_needed:
        return Decided(forbidden, candidate, baseline)
    arms: list[Arm] = []
    summary: Summary | None = None
    for arm in (candidate, baseline):
        split_arm, summary = resplit(
            arm.results,
            arm.of,
            workload,
            question.terms.splits,
            watch,
            seed=candidate.results.round.seed,  # both train on the splits of the candidate's round
        )
        if summary.why != "finished":
            return Decided(forbidden, candidate, baseline, summary)
        arms.append(split_arm)
    return Decided(question.answer(arms[0], arms[1]), candidate, baseline, summary)


def record(
    store: Store, decided: Decided, why: str = "", more: Mapping[str, Any] | None = None
) -> int:
    """Record the decision; one to launch makes the candidate the baseline. Its key.

    `more` is recorded with it: what it was derived from.
    """
    return keep_launch(
        store,
        {**decided.launch.to_data(), **(more or {})},
        Place.of(decided.candidate.results, decided.candidate.of),
        Place.of(decided.baseline.results, decided.baseline.of),
        why=why,
    )


def _repeat_until(
    arm: Repeats, workload: Workload, times: int, watch: Watcher | None
) -> tuple[Repeats, Summary]:
    """At least so many repeats, those there are already included."""
    ended = sum(trial.ended for trial in arm)
    if ended >= times:
        return arm, Summary("finished")
    repeats, summary, _ = run_repeats(arm.of, workload, times, watch)
    return repeats.with_objective(arm.objective), summary


def _first(arm: Repeats, count: int, skip: int = 0) -> Repeats:
    """The first so many repeats: both arms are compared at equal numbers."""
    return Repeats(arm.of, arm.trials[skip : skip + count], arm.results)


@dataclass(frozen=True)
class Rivals:
    """Candidate and baseline, with their repeats so far."""

    candidate: Repeats
    baseline: Repeats
    why: Message  # why this is the baseline
    won_with: int = 0  # of its repeats, so many made it the baseline

    @property
    def places(self) -> tuple[Place, Place]:
        """Where the two stand."""
        candidate, baseline = self.candidate, self.baseline
        return Place.of(candidate.results, candidate.of), Place.of(baseline.results, baseline.of)


def rivals(store: Store, results: Results, number: int | None, against: Named | None) -> Rivals:
    """The two trials a launch compares; `number` is the candidate's, by default the best."""
    if against is not None:
        theirs, trial = _resolve(store, results, against)
        other = _where_it_ran(store, results, trial)
        return _pair(store, results, number, other, Message("launch.baseline_named"))
    now = lineage.baseline(store)
    if now is not None:
        theirs = _by_same_objective(store, results, now.place.round)
        other = with_repeats(theirs, theirs.trial(now.place.trial))
        why = Message("launch.baseline_launched")
        return _pair(store, results, number, other, why, now.runs)
    start = _start(results)
    if start is None:
        command = shlex.join(["tunewright", "launch", results.round.name])
        raise DesignError("launch.no_baseline", round=results.round.name, command=command)
    theirs_best = _best(results, start.number)
    if number is None:
        others = [t for t in results.top() if t.study != start.number]
        if not others:
            raise NotFound("launch.no_other_setting", round=results.round.name, label=start.label)
        number = others[0].number
    why = Message("launch.baseline_start", {"study": start.label})
    return _pair(store, results, number, _where_it_ran(store, results, theirs_best), why)


def of_round(store: Store, trial: Trial) -> tuple[str, int]:
    """The name of a trial's round, and its number there."""
    if trial.number is None:
        raise DesignError("launch.trial_is_repeat", parent=trial.parent)
    if trial.origin is not None:
        return trial.origin
    return round_of(store, trial).name, trial.number


def refuse_pruned(results: Results, trial: Trial) -> None:
    """A candidate that was stopped early has no value: it is trained to its end first."""
    if trial.status == "pruned":
        name, number = trial.origin or (results.round.name, trial.number or 0)
        remedy = TrainAgain(name, number)
        raise DesignError("launch.candidate_pruned", trial=number, round=name, remedy=remedy)


def as_recorded(
    store: Store, name: str, objective: Results | None, *, earlier: bool = False
) -> Results:
    """A round as the store has it, with those it continues if asked, judged alike."""
    recorded = with_earlier(store, name) if earlier else store.results(name)
    if objective is None or objective.objective == recorded.objective:
        return recorded
    return recorded.with_objective(objective.objective)


def _pair(
    store: Store,
    results: Results,
    number: int | None,
    baseline: Repeats,
    why: Message,
    won_with: int = 0,
) -> Rivals:
    place = Place.of(baseline.results, baseline.of)
    chosen = _best_but(results, place) if number is None else results.trial(number)
    refuse_pruned(results, chosen)
    candidate = _where_it_ran(store, results, chosen)
    if Place.of(candidate.results, candidate.of) == place:
        raise DesignError("launch.already_the_baseline", trial=place.trial, round=place.round)
    return Rivals(candidate, baseline, why, won_with)


def _best_but(results: Results, baseline: Place) -> Trial:
    """The best trial; a baseline that an earlier round ran has been launched from there already."""
    for trial in results.top():
        if trial.origin != (baseline.round, baseline.trial):
            return trial
    return results.best()


def _where_it_ran(store: Store, results: Results, trial: Trial) -> Repeats:
    """A trial with its repeats in the round that ran it, which may be an earlier one."""
    name, number = of_round(store, trial)
    home = _by_same_objective(store, results, name)
    return with_repeats(home, home.trial(number))


def _by_same_objective(
    store: Store, results: Results, name: str, *, earlier: bool = False
) -> Results:
    """A round, by another objective where the candidate's is judged by another."""
    theirs = with_earlier(store, name) if earlier else store.results(name)
    changed = store.round(results.round.name).objective != results.objective
    return theirs.with_objective(results.objective) if changed else theirs


def _resolve(store: Store, results: Results, named: Named) -> tuple[Results, Trial]:
    """The trial that a trial, results (their best), `7`, `ROUND` or `ROUND:7` refers to."""
    if isinstance(named, Trial):
        name, number_there = of_round(store, named)
        theirs = _by_same_objective(store, results, name)
        return theirs, theirs.trial(number_there)
    if isinstance(named, Results):
        theirs = _by_same_objective(store, results, named.round.name, earlier=True)
        return theirs, theirs.best()
    if isinstance(named, int) or named.isdigit():
        return results, results.trial(int(named))
    name, _, number = named.rpartition(":")
    if not number.isdigit() or not name:
        name, number = named, ""
    names = [record.name for record in store.rounds()]
    if name not in names:
        near = nearest(name, names)
        near_name = near
        raise NotFound("launch.unknown_baseline", named=named, near=near_name, known=names)
    theirs = _by_same_objective(store, results, name, earlier=True)
    return theirs, theirs.trial(int(number)) if number else theirs.best()


def _start(results: Results) -> Study | None:
    """The study a round starts from: its feature off, or the first value listed."""
    if len(results.studies) < 2:
        return None
    off = results.meaning.off
    for study in results.studies:
        known_off = [name for name in study.scientific if name in off]
        if known_off and all(same_value(study.scientific[n], off[n]) for n in known_off):
            return study
    return results.studies[0]


def _best(results: Results, study: int) -> Trial:
    for trial in results.top():
        if trial.study == study:
            return trial
    raise NotFound(
        "launch.baseline_not_completed",
        round=results.round.name,
        label=results.studies[study].label,
    )
