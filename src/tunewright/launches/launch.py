"""A launch: the decision whether the candidate becomes the baseline, with its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tunewright.launches.plan import Claim

Verdict = Literal["launch", "keep", "undecided"]
Method = Literal["one variance", "a variance each", "paired by split", "none"]


@dataclass(frozen=True)
class Launch:
    """Whether to launch the candidate, how sure that is, and why."""

    verdict: Verdict
    probability: float | None  # that the gain exceeds what it costs; None: cannot be said
    gain: float | None  # candidate over baseline as observed; positive is better, always
    interval: tuple[float, float] | None  # 90 %, of the gain
    reasons: tuple[str, ...]
    caveats: tuple[str, ...]
    runs_needed: int  # more runs per arm before there is an answer; 0: none would help

    shrunk_gain: float | None  # what to expect of it: launched gains were lucky ones on average
    claim: Claim
    threshold: float  # the probability it takes to launch
    false_launch_rate: float  # of a candidate that changes nothing (or is worse by the margin)
    metric: str
    complexity: float  # the gain it takes to be worth its cost, in the metric's units
    not_worse_by: float | None  # the margin, when the question is whether something can go
    sd: float | None  # of one run, as far as known
    sources: tuple[str, ...]  # of variance that are in the interval: trial, study, data
    method: Method
    looks: tuple[int, ...]  # runs per arm at which one decides
    candidate: str
    baseline: str
    candidate_values: tuple[float, ...]
    baseline_values: tuple[float, ...]
    history_sd: float | None = None  # what earlier repeats said of the sd
    history_dropped: bool = False  # whether these runs contradict it

    @property
    def runs(self) -> tuple[int, int]:
        """Runs that count, of the candidate and of the baseline."""
        return len(self.candidate_values), len(self.baseline_values)

    def __str__(self) -> str:
        """The verdict, the first reason and how sure it is."""
        return f"{self.verdict}: {self.reasons[0]}"
