"""A launch: the decision whether the candidate becomes the baseline, with its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tunewright import messages
from tunewright.facts import Facts
from tunewright.launches.plan import Claim
from tunewright.messages import Message, Text, markup, words
from tunewright.refusals import refusal_by_check, refusal_of

Verdict = Literal["launch", "keep", "undecided"]
Method = Literal["one variance", "a variance each", "paired by split", "none"]


@dataclass(frozen=True, kw_only=True)
class Launch(Facts):
    """Whether to launch the candidate, how sure that is, and why."""

    verdict: Verdict  # launch the candidate, keep the baseline, or undecided
    probability: float | None  # that the gain exceeds what it costs; None: unknown
    gain: float | None  # candidate over baseline as observed; positive is better, always
    interval: tuple[float, float] | None  # 90 %, of the gain
    reasons: tuple[Message, ...]  # for the verdict
    caveats: tuple[Message, ...]  # what the verdict does not cover
    runs_needed: int  # more runs per arm before there is an answer; 0: none would help

    shrunk_gain: float | None  # what to expect of it: noise helped launched gains on average
    shrunk_interval: tuple[float, float] | None  # 90 %, of what to expect
    claim: Claim  # about a feature, or about hyperparameters
    threshold: float  # the probability it takes to launch
    false_launch_rate: float | None  # of what changes nothing (or is worse by the margin)
    metric: str  # of the objective
    complexity: float  # the gain it takes to be worth its cost, in the metric's units
    not_worse_by: float | None  # the margin, when the question is whether something can go
    sd: float | None  # of one run, as far as known
    sources: tuple[str, ...]  # of variance that are in the interval: trial, study, data
    method: Method  # how variance is estimated
    looks: tuple[int, ...]  # runs per arm at which one decides
    candidate: str  # its name
    baseline: str  # its name
    candidate_values: tuple[float, ...]  # of its runs on fresh seeds
    baseline_values: tuple[float, ...]  # of its runs on fresh seeds
    history_sd: float | None = None  # the sd of earlier repeats
    history_dropped: bool = False  # whether these runs contradict it
    deterministic: bool = False  # declared: the difference is exact, and has no probability

    @property
    def runs(self) -> tuple[int, int]:
        """Runs that count, of the candidate and of the baseline."""
        return len(self.candidate_values), len(self.baseline_values)

    @property
    def forbidden(self) -> bool:
        """Whether something forbids the comparison, so that no run was started."""
        return self.verdict == "undecided" and not any(self.runs) and not self.runs_needed

    @property
    def refusal(self) -> str | None:
        """The stable code of what keeps it undecided: `unequal_arms`, `undecided_noise` ..."""
        if self.verdict != "undecided":
            return None
        for reason in self.reasons:
            check = reason.facts.get("check") if reason.code == "launch.finding" else None
            found = refusal_of([reason.code]) if check is None else refusal_by_check(str(check))
            if found is not None:
                return found.code
        return None

    @property
    def headline(self) -> Text:
        """Should I launch? The answer in at most twelve words."""
        codes = [reason.code for reason in self.reasons]
        facts = {
            "verdict": self.verdict,
            "probability": self.probability,
            "gain": self.gain,
            "complexity": self.complexity,
            "not_worse_by": self.not_worse_by,
            "runs_needed": self.runs_needed,
            "because": "launch.futile" if "launch.futile" in codes else codes[0],
            "check": self.reasons[0].facts.get("check"),
        }
        return messages.text("launch.headline", facts)

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data, without words."""
        return {**super().to_data(), "runs": list(self.runs)}

    def __str__(self) -> str:
        """The headline."""
        return self.headline

    def __repr__(self) -> str:
        """The headline and the two arms, on one line."""
        arms = f"{self.candidate} against {self.baseline}"
        return words.one_line(f"<{self.headline} ({arms})>")

    def _repr_html_(self) -> str:
        """A card for a notebook: the headline, the numbers, the reasons, what limits them."""
        numbers = {
            "candidate": self.candidate,
            "baseline": self.baseline,
            "probability": None
            if self.probability is None
            else words.probability(self.probability),
            "gain": self.gain,
            "interval": None if self.interval is None else _interval(self.interval),
            "runs": " + ".join(str(runs) for runs in self.runs),
        }
        facts: dict[str, Any] = {
            Message(f"card.label.{n}").text: v for n, v in numbers.items() if v is not None
        }
        limits = [Message("card.limits", {"text": one.text}).text for one in self.caveats]
        return markup.card(self.headline, [*self.reasons, *limits], facts=facts)


def _interval(ends: tuple[float, float]) -> str:
    return " … ".join(words.number(end) for end in ends)
