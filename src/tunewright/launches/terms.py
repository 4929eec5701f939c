"""What a launch asks: the terms of `decide`, settled before any run and asked at every look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tunewright.finding import Finding
from tunewright.launches.arm import Arm
from tunewright.launches.decide import decide
from tunewright.launches.launch import Launch
from tunewright.launches.plan import FIVE_LOOKS, Claim, Plan
from tunewright.stats.gain import History
from tunewright.stats.spread import Spread
from tunewright.store.repeats import Repeats


@dataclass(frozen=True)
class Question:
    """The terms of a decision; see `decide`, whose arguments they are."""

    plan: Plan = FIVE_LOOKS
    complexity: float = 0.0
    findings: Sequence[Finding] = ()
    not_worse_by: float | None = None
    sd: float | None = None
    claim: Claim | None = None
    looked: int = 0
    candidates: int = 1
    detect: float | None = None
    history: History | None = None
    study: Spread | None = None
    data: Spread | None = None
    same_data: bool = False

    def answer(self, candidate: Repeats | Arm, baseline: Repeats | Arm) -> Launch:
        """Decide on these terms."""
        return decide(
            candidate,
            baseline,
            complexity=self.complexity,
            findings=self.findings,
            not_worse_by=self.not_worse_by,
            sd=self.sd,
            claim=self.claim,
            plan=self.plan,
            looked=self.looked,
            candidates=self.candidates,
            detect=self.detect,
            history=self.history,
            study=self.study,
            data=self.data,
            same_data=self.same_data,
        )
