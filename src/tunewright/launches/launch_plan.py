"""A launch before anything runs: who against whom, on which terms, at what cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tunewright.facts import Facts, plain
from tunewright.launches.arm import Arm
from tunewright.launches.grounds import claim_of
from tunewright.launches.lineage import Place
from tunewright.launches.looks import Question
from tunewright.launches.plan import POWER, Claim, Plan, runs_for
from tunewright.launches.rivals import Rivals
from tunewright.messages import Message
from tunewright.store.results import Results

EFFECTS = (0.5, 1.0, 2.0)  # trial standard deviations, for a plan's power


@dataclass(frozen=True)
class LaunchPlan(Facts):
    """What a launch would do, what it costs, and what it could find."""

    candidate: Place
    baseline: Place
    why_baseline: Message
    claim: Claim
    why_claim: Message
    plan: Plan
    threshold: float
    not_worse_by: float | None
    complexity: float
    history_sd: float | None  # of earlier repeats, or declared; None: nothing is known
    history_runs: int  # repeats it comes from; 0: declared
    there: tuple[int, int]  # repeats of candidate and baseline that exist already
    run_seconds: float  # of one run
    metric: str
    unfinished: int = 0  # trials of the candidate's round that have not ended

    @property
    def runs(self) -> tuple[int, int]:
        """How many runs it takes, at the first look and at the last one."""
        looks = (self.plan.looks[0], self.plan.looks[-1])
        first, last = (sum(max(0, look - there) for there in self.there) for look in looks)
        return first, last

    @property
    def seconds(self) -> tuple[float, float]:
        """How long that takes on one worker."""
        return self.runs[0] * self.run_seconds, self.runs[1] * self.run_seconds

    @property
    def finds(self) -> tuple[tuple[float, float], ...]:
        """What it could find, by the gain in standard deviations between runs.

        Of several looks the share of launches that find it, of one look the runs per arm it takes.
        """
        if self.plan.sequential:
            return tuple(POWER[self.claim].items())
        return tuple((effect, runs_for(effect, self.threshold)) for effect in EFFECTS)

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        derived = {"runs": self.runs, "seconds": self.seconds, "finds": self.finds}
        return {**super().to_data(), **{name: plain(one) for name, one in derived.items()}}


def planned(pair: Rivals, question: Question, results: Results) -> LaunchPlan:
    """The plan for a pair on these terms."""
    terms, plan = question.terms, question.plan
    own, other = Arm.of(pair.candidate), Arm.of(pair.baseline)
    claim, why = claim_of(own, other, terms.claim)
    worth = terms.detect
    if worth is None and own.round is not None:
        worth = own.round.detect
    past = question.history
    sd = float(past.sd) if past is not None and past.weight > 0 else None
    timed = [t.seconds for arm in (pair.candidate, pair.baseline) for t in (arm.of, *arm)]
    return LaunchPlan(
        candidate=pair.places[0],
        baseline=pair.places[1],
        why_baseline=pair.why,
        claim=claim,
        why_claim=why,
        plan=plan,
        threshold=plan.threshold(
            claim,
            not_worse=terms.not_worse_by is not None,
            candidates=terms.candidates or 1,
            detect_in_sd=worth / sd if worth and sd else 1.0,
        ),
        not_worse_by=terms.not_worse_by,
        complexity=terms.complexity,
        history_sd=sd,
        history_runs=0 if past is None else past.runs,
        there=(len(pair.candidate), len(pair.baseline)),
        run_seconds=sum(timed) / len(timed),
        metric=own.objective.metric,
        unfinished=sum(not trial.ended for trial in results.trials),
    )
