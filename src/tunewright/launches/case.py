"""One comparison: two arms, the plan that applies to them, and the posterior of the gain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tunewright.launches.arm import Arm
from tunewright.launches.launch import Method
from tunewright.launches.plan import FIVE_LOOKS, FIXED, Claim, Plan, fixed
from tunewright.launches.terms import FEWEST_SPLITS, LaunchTerms
from tunewright.messages import Message
from tunewright.stats.gain import Gain, History, gain, paired_gain


@dataclass(frozen=True)
class Case:
    """Everything a verdict depends on."""

    candidate: Arm
    baseline: Arm
    claim: Claim
    plan: Plan
    looked: int
    must_exceed: float  # complexity, or minus the margin
    not_worse: bool
    detect: float | None
    candidates: int
    history: History
    posterior: Gain | None
    method: Method
    exact: bool = False  # declared deterministic

    @property
    def runs(self) -> int:
        """Runs of the arm that has fewer."""
        if self.method == "paired by split" and self.posterior is not None:
            return self.posterior.runs[0]
        return min(len(self.candidate.values), len(self.baseline.values))

    @property
    def sd(self) -> float:
        """The standard deviation of one run."""
        return float("nan") if self.posterior is None else float(self.posterior.sd)

    @property
    def difference(self) -> float:
        """Of the means; positive: the candidate is better."""
        return float(self.candidate.oriented.mean() - self.baseline.oriented.mean())

    @property
    def worth(self) -> float:
        """The difference worth finding: the declared one, else one standard deviation."""
        return self.sd if self.detect is None else self.detect

    @property
    def threshold(self) -> float:
        """The probability it takes to launch."""
        ratio = self.worth / self.sd if self.sd > 0 else math.inf
        return self.plan.threshold(
            self.claim, detect_in_sd=ratio, candidates=self.candidates, not_worse=self.not_worse
        )

    def probability(self, above: float | None = None) -> float:
        """That the gain exceeds what it costs, or this much."""
        assert self.posterior is not None
        return float(self.posterior.probability(self.must_exceed if above is None else above))


def plan_for(
    asked: set[int], terms: LaunchTerms, looked: int, history: History
) -> tuple[Plan, Message | None]:
    """The plan for arms of these numbers of runs, and why it is not the one that was meant."""
    if terms.plan is None and min(asked) == 1 and history.weight > 0 and not looked:
        return fixed(1), None
    meant = terms.looks(default=FIXED)
    if meant.sequential or (asked == set(meant.looks) and not looked):
        return meant, None
    looks = list(FIVE_LOOKS.looks)
    if looked:
        return FIVE_LOOKS, Message("launch.looked_before", {"looks": looks})
    facts = {"asked": sorted(asked), "planned": meant.looks[0], "looks": looks}
    return FIVE_LOOKS, Message("launch.other_runs", facts)


def posterior_of(
    candidate: Arm, baseline: Arm, history: History, same_data: bool
) -> tuple[Gain | None, Method, list[Message]]:
    """The posterior, how it was made, and why the arms' data cannot be compared."""
    b, a = candidate.oriented, baseline.oriented
    apart: list[Message] = []
    here, there = set(candidate.splits), set(baseline.splits)
    if not same_data and here and there and (len(here) > 1 or len(there) > 1 or here != there):
        own, other = candidate.by_split(), baseline.by_split()
        shared = sorted(here & there)
        if len(shared) >= FEWEST_SPLITS:
            d = [own[split].mean() - other[split].mean() for split in shared]
            sizes = [1 / (0.5 / len(own[s]) + 0.5 / len(other[s])) for s in shared]
            found = paired_gain(d, history, repeats=float(np.mean(sizes)))
            return found, "paired by split", []
        drawn = (
            len(here) == len(b) and len(there) == len(a) and not shared and min(len(b), len(a)) > 1
        )
        if not drawn:
            apart = [Message("launch.different_splits")]
    if not len(b) or not len(a) or (len(b) + len(a) == 2 and not history.weight > 0):
        return None, "none", apart
    found = gain(b, a, history)
    if not found.freedom > 0:
        return None, "none", apart
    shared_variance = len(a) == len(b) or min(len(a), len(b)) == 1
    return found, "one variance" if shared_variance else "a variance each", apart
