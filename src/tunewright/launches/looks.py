"""Train candidate and baseline again, look by look, until the runs decide.

What the findings forbid is known before anything runs. Repeats that exist already count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tunewright.errors import DesignError
from tunewright.execution.repeat import repeated
from tunewright.execution.workload import Workload
from tunewright.finding import Finding
from tunewright.launches.arm import Arm
from tunewright.launches.decide import decide
from tunewright.launches.launch import Launch
from tunewright.launches.lineage import Place, keep_launch
from tunewright.launches.plan import FIVE_LOOKS, Plan
from tunewright.launches.replicate import resplit
from tunewright.launches.terms import LaunchTerms
from tunewright.messages import Message
from tunewright.progress.watcher import Summary, Watcher
from tunewright.stats.gain import History
from tunewright.stats.spread import Spread
from tunewright.store.results import Repeats, Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

OnLook = Callable[[Launch], None]


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


def known(results: Results, trial: Trial) -> Repeats:
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
        candidate, summary = _repeated(candidate, workload, look, watch)
        if _seedless(question, _first(candidate, look), _first(baseline, 0)) is not None:
            pass  # the baseline's runs would be as little use
        elif summary.why == "finished":
            baseline, summary = _repeated(baseline, workload, look + skip, watch)
        own, other = _first(candidate, look), _first(baseline, look, skip)
        launch = question.answer(own, other)
        if won_with > skip and launch.method != "none":
            reused = Message("launch.reused_runs", {"runs": min(look, won_with - skip)})
            launch = replace(launch, caveats=(reused, *launch.caveats))
        found = Decided(launch, own, other, summary)
        if on_look is not None:
            on_look(launch)
        if launch.verdict != "undecided" or not launch.runs_needed or found.interrupted:
            return found
        if not own.values or not other.values:  # every run failed: more would fail too
            return found
        further = plan.next_look(look)
        if further is None:
            return found
        look = further


def _exactly(candidate: Repeats, baseline: Repeats, question: Question) -> Decided:
    """The decision about a program without chance: its trials are what repeats would be."""
    own, other = (exact_arm(repeats) for repeats in (candidate, baseline))
    done = Summary("finished")
    return Decided(question.answer(own, other), candidate, baseline, done)


def exact_arm(repeats: Repeats) -> Arm:
    """A deterministic arm: without repeats the trial itself counts, since no seed favours it."""
    arm = Arm.of(repeats)
    if arm.values or repeats.of.value is None:
        return arm
    return replace(arm, values=(repeats.of.value,), splits=(repeats.results.round.seed,))


def _seedless(question: Question, candidate: Repeats, baseline: Repeats) -> Launch | None:
    """The refusal, where repeats show that the program does not use its seed."""
    found = question.answer(candidate, baseline)
    refused = any(reason.code == "launch.identical_repeats" for reason in found.reasons)
    return found if refused else None


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
        own, summary = resplit(
            arm.results,
            arm.of,
            workload,
            question.terms.splits,
            watch,
            seed=candidate.results.round.seed,  # both train on the splits of the candidate's round
        )
        if summary.why != "finished":
            return Decided(forbidden, candidate, baseline, summary)
        arms.append(own)
    return Decided(question.answer(arms[0], arms[1]), candidate, baseline, summary)


def record(
    store: Store, found: Decided, why: str = "", more: Mapping[str, Any] | None = None
) -> int:
    """Record the decision; one to launch makes the candidate the baseline. Its key.

    `more` is recorded with it: what it was derived from.
    """
    return keep_launch(
        store,
        {**found.launch.to_data(), **(more or {})},
        Place.of(found.candidate.results, found.candidate.of),
        Place.of(found.baseline.results, found.baseline.of),
        why=why,
    )


def _repeated(
    arm: Repeats, workload: Workload, times: int, watch: Watcher | None
) -> tuple[Repeats, Summary]:
    """At least so many repeats, those there are already included."""
    ended = sum(trial.ended for trial in arm)
    if ended >= times:
        return arm, Summary("finished")
    repeats, summary, _ = repeated(arm.of, workload, times, watch)
    return repeats.judged_by(arm.objective), summary


def _first(arm: Repeats, count: int, skip: int = 0) -> Repeats:
    """The first so many repeats: both arms are compared at equal numbers."""
    return Repeats(arm.of, arm.trials[skip : skip + count], arm.results)
