"""Launching: candidate and baseline are trained again, look by look, until there is an answer.

    found = settle(known(results, results.best(layers=2)), known(results, results.best(layers=1)),
                   workload, Question(findings=tuple(check(results))))
    keep(store, found, why="two layers, and no slower")

What the findings forbid is said before anything is run. Repeats that are there already count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from tunewright.errors import DesignError
from tunewright.execution.repeat import repeated
from tunewright.execution.watcher import Summary, Watcher
from tunewright.execution.workload import Workload
from tunewright.launches.launch import Launch
from tunewright.launches.lineage import Place, keep_launch
from tunewright.launches.plan import FIVE_LOOKS
from tunewright.launches.terms import Question
from tunewright.store.repeats import Repeats
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

REUSED = (
    "of the baseline's runs {} won its own launch: a lucky winner is harder to beat, so the error "
    "is on the safe side"
)


@dataclass(frozen=True)
class Settled:
    """What came of a launch: the decision, and the repeats it rests on."""

    launch: Launch
    candidate: Repeats
    baseline: Repeats
    summary: Summary | None = None  # how the last repeats ended; None: nothing was run

    @property
    def interrupted(self) -> bool:
        """Whether somebody stopped it before there was an answer."""
        return self.summary is not None and self.summary.why != "finished"


def known(results: Results, trial: Trial) -> Repeats:
    """A trial with the repeats that the record has of it."""
    return Repeats(trial, results.repeats(trial), results)


def settle(
    candidate: Repeats,
    baseline: Repeats,
    workload: Workload,
    question: Question | None = None,
    *,
    skip: int = 0,
    won_with: int = 0,
    watch: Watcher | None = None,
    told: Callable[[Launch], None] | None = None,
) -> Settled:
    """Repeat both until the question has an answer, or its plan has no look left.

    `skip` leaves out the first repeats of the baseline, for those who want fresh ones of both;
    `won_with` says that so many of them made it the baseline. `told` hears of every look.
    """
    question = question or Question()
    if (candidate.results.round.name, candidate.of.number) == (
        baseline.results.round.name,
        baseline.of.number,
    ):
        raise DesignError(
            f"trial {candidate.of.number} of {candidate.results.round.name} is the baseline "
            "already: there is nothing to launch."
        )
    forbidden = question.answer(_first(candidate, 0), _first(baseline, 0))
    if not forbidden.runs_needed:
        return Settled(forbidden, candidate, baseline)
    if question.looked and not question.plan.sequential:
        question = replace(question, plan=FIVE_LOOKS)  # as `decide` would judge it
    there = min(len(candidate), len(baseline) - skip)
    look = max((n for n in question.plan.looks if n <= there), default=question.plan.looks[0])
    while True:
        candidate, summary = _repeated(candidate, workload, look, watch)
        if summary.why == "finished":
            baseline, summary = _repeated(baseline, workload, look + skip, watch)
        own, other = _first(candidate, look), _first(baseline, look, skip)
        launch = question.answer(own, other)
        if won_with > skip and launch.method != "none":
            reused = REUSED.format(min(look, won_with - skip))
            launch = replace(launch, caveats=(reused, *launch.caveats))
        found = Settled(launch, own, other, summary)
        if told is not None:
            told(launch)
        if launch.verdict != "undecided" or not launch.runs_needed or found.interrupted:
            return found
        if not own.values or not other.values:  # every run failed: more would fail too
            return found
        further = question.plan.next_look(look)
        if further is None:
            return found
        look = further


def keep(store: Store, found: Settled, why: str = "") -> int:
    """Record the decision; one that says launch makes the candidate the baseline."""
    return keep_launch(
        store,
        asdict(found.launch),
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
        return arm, Summary("finished", "they were there already")
    repeats, summary, _ = repeated(arm.of, workload, times, watch)
    return repeats.judged_by(arm.objective), summary


def _first(arm: Repeats, count: int, skip: int = 0) -> Repeats:
    """The first so many repeats: both arms are compared at equal numbers."""
    return Repeats(arm.of, arm.trials[skip : skip + count], arm.results)
