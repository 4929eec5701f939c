"""A launch: its terms, fixed before any run, its looks, and the decision with its reasons.

A plan is the numbers of runs per arm at which a decision is taken. One look is the fixed rule;
looking again with its threshold would launch 16 % (two looks) to 21 % (three) of equal pairs, so
plans with several looks have stricter ones. Every threshold here was chosen so that a pipeline that
changed nothing is launched in 10 % of decisions about a feature and in 25 % of those about
hyperparameters alone, where a launch costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tunewright import messages
from tunewright.errors import DesignError
from tunewright.facts import Facts
from tunewright.messages import Message, Text, markup, words
from tunewright.refusals import refusal_by_check, refusal_of
from tunewright.stats.gain import History

Claim = Literal["feature", "hyperparameters"]
CLAIMS: tuple[Claim, ...] = ("feature", "hyperparameters")
RATE: Mapping[Claim, float] = {"feature": 0.10, "hyperparameters": 0.25}
_SMALL_DETECT = 0.75  # trial sd: below it the futility stop hardly stops, and thresholds rise
FUTILE = 0.10  # keep when a gain worth having is no likelier than this
MOST_RUNS = 20  # per arm: what needs more is smaller than we can see
FEWEST_RUNS = 3  # per arm, to know a spread
_POWER_Z = 0.84  # of power 0.8
NOT_WORSE_RATE = 0.10  # launches of what is worse by exactly the margin

# thresholds by claim: with the futility stop, with it but for a small difference, without it
_FIXED: Mapping[Claim, float] = {"feature": 0.90, "hyperparameters": 0.78}
_ONE_RUN: Mapping[Claim, float] = {"feature": 0.90, "hyperparameters": 0.75}
_FIVE: Mapping[Claim, tuple[float, float, float]] = {
    "feature": (0.965, 0.97, 0.97),
    "hyperparameters": (0.87, 0.90, 0.905),
}
_NINE: Mapping[Claim, tuple[float, float, float]] = {
    "feature": (0.97, 0.975, 0.977),
    "hyperparameters": (0.875, 0.91, 0.918),
}
_TWO: Mapping[Claim, float] = {"feature": 0.94, "hyperparameters": 0.845}
_NOT_WORSE = {1: 0.90, 2: 0.94, 5: 0.97, 9: 0.975}  # by the number of looks

# several candidates against one baseline, by their number
_CANDIDATES: Mapping[Claim, Mapping[int, float]] = {
    "feature": {2: 0.947, 3: 0.961, 5: 0.975},
    "hyperparameters": {2: 0.85, 3: 0.885, 5: 0.923},
}

# of the five looks: how often a gain of so many trial sd is launched, as measured
POWER: Mapping[Claim, Mapping[float, float]] = {
    "feature": {0.5: 0.40, 1.0: 0.82, 2.0: 1.0},
    "hyperparameters": {0.5: 0.58, 1.0: 0.87, 2.0: 1.0},
}
Verdict = Literal["launch", "keep", "undecided"]
Method = Literal["one variance", "a variance each", "paired by split", "none"]
FEWEST_SPLITS = 3  # shared by both arms, to compare them split by split


@dataclass(frozen=True)
class Plan:
    """The numbers of runs per arm at which a decision is taken, fixed in advance.

    >>> FIVE_LOOKS.next_look(5), FIVE_LOOKS.next_look(20), fixed(5).sequential
    (8, None, False)
    """

    looks: tuple[int, ...]
    gives_up: bool = True  # stops when a gain worth having has become unlikely

    def __post_init__(self) -> None:
        if len(self.looks) not in (1, 2, 5, 9):
            raise DesignError("launch.no_calibrated_plan", looks=len(self.looks))
        if list(self.looks) != sorted(set(self.looks)) or self.looks[0] < 1:
            raise DesignError("launch.looks_not_growing", looks=self.looks)

    @property
    def sequential(self) -> bool:
        """Whether there is more than one look."""
        return len(self.looks) > 1

    @property
    def stops_early(self) -> bool:
        """Whether it may end in `keep` before its last look."""
        return self.gives_up and len(self.looks) > 2

    def next_look(self, runs: int) -> int | None:
        """The number of runs at the first look after this one; None when there is none left."""
        return next((look for look in self.looks if look > runs), None)

    def threshold(
        self, claim: Claim, *, detect_in_sd: float = 1.0, candidates: int = 1, not_worse: bool
    ) -> float:
        """How sure one must be to launch."""
        if not_worse:
            sure = _NOT_WORSE[len(self.looks)]
        elif self.looks == (1,):
            sure = _ONE_RUN[claim]
        elif not self.sequential:
            sure = _FIXED[claim]
        elif len(self.looks) == 2:
            sure = _TWO[claim]
        else:
            table = _FIVE if len(self.looks) == 5 else _NINE
            sure = table[claim][2 if not self.gives_up else detect_in_sd < _SMALL_DETECT]
        if candidates == 1:
            return sure
        if not self.sequential and not not_worse and candidates <= 5:
            known = _CANDIDATES[claim]
            return known[min(n for n in known if n >= candidates)]
        return 1 - (1 - sure) / candidates


def fixed(times: int) -> Plan:
    """One look, at this many runs per arm."""
    return Plan((times,))


FIVE_LOOKS = Plan((3, 5, 8, 13, 20))


NINE_LOOKS = Plan((3, 5, 7, 9, 11, 13, 15, 17, 19))


TWO_LOOKS = Plan((5, 10))


FIXED = fixed(5)  # the plan that `decide` assumes by default


def runs_for(effect_in_sd: float, threshold: float) -> int:
    """Runs per arm that find a gain of this size in 80 % of decisions with one look.

    >>> [runs_for(effect, 0.90) for effect in (0.5, 0.75, 1, 1.5, 2)]
    [37, 17, 10, 5, 4]
    >>> [runs_for(effect, 0.78) for effect in (0.5, 0.75, 1, 1.5, 2)]
    [22, 11, 7, 4, 3]
    """
    from scipy.special import ndtri

    if effect_in_sd <= 0:
        raise ValueError(f"{effect_in_sd}: runs are planned for a gain above zero.")
    z = round(float(ndtri(threshold)), 2)
    return max(FEWEST_RUNS, math.ceil(2 * ((z + _POWER_Z) / effect_in_sd) ** 2) + 1)


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
            refusal = refusal_of([reason.code]) if check is None else refusal_by_check(str(check))
            if refusal is not None:
                return refusal.code
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
        limits = [Message("card.limits", {"text": caveat.text}).text for caveat in self.caveats]
        return markup.card(self.headline, [*self.reasons, *limits], facts=facts)


def _interval(ends: tuple[float, float]) -> str:
    return " … ".join(words.number(end) for end in ends)


@dataclass(frozen=True, kw_only=True)
class LaunchTerms(Facts):
    """What a launch asks; every field may be left out, and wrong ones are refused at once.

    `claim` is "feature" or "hyperparameters"; by default a feature if the configurations differ in
    a scientific hyperparameter. `complexity` is the gain, in the metric's units, that it takes to
    be worth its cost. `not_worse_by` asks instead whether the candidate (with a part removed)
    is worse by no more than this margin. `detect` is the smallest difference worth finding, by
    default the round's. `sd` is the metric's standard deviation between runs, if you know it; then
    one run each may be enough.

    `plan` gives the numbers of runs per arm at which one decides: a number, or a `Plan` of several
    looks. `tw.launch` looks at 3, 5, 8, 13 and 20 runs by default, `tw.decide` judges once, at
    five. `candidates` counts the rivals of this baseline; `tw.launch` counts them itself.
    `splits` trains both arms once on each of so many data splits instead. `in_general` claims that
    the feature helps however it is tuned: study and data variance count too. `fresh` does not
    reuse the runs that made the baseline what it is. `same_data` declares that the program does
    not take its data split from the seed, `deterministic` that it gives the same value under every
    seed: then a difference is reported without a probability. `any_length` compares arms that
    train for different numbers of steps, which is refused otherwise.

    >>> LaunchTerms(complexity=0.002, plan=5).looks(default=fixed(3)).looks
    (5,)
    """

    claim: Claim | None = None
    complexity: float = 0.0
    not_worse_by: float | None = None
    detect: float | None = None
    sd: float | None = None
    plan: Plan | int | None = None
    candidates: int | None = None
    splits: int | None = None
    in_general: bool = False
    fresh: bool = False
    same_data: bool = False
    deterministic: bool = False
    any_length: bool = False

    def __post_init__(self) -> None:
        if not math.isfinite(self.complexity) or self.complexity < 0:
            raise DesignError("launch.bad_complexity", complexity=self.complexity)
        if self.not_worse_by is not None:
            if self.complexity:
                raise DesignError("launch.two_questions")
            if not 0 < self.not_worse_by < math.inf:
                raise DesignError("launch.bad_not_worse_by", not_worse_by=self.not_worse_by)
        if self.claim is not None and self.claim not in CLAIMS:
            raise DesignError("launch.unknown_claim", claim=self.claim, claims=list(CLAIMS))
        if self.detect is not None and not 0 < self.detect < math.inf:
            raise DesignError("launch.bad_detect", detect=self.detect)
        if self.sd is not None:
            History.from_declaration(self.sd)  # refuses what is no standard deviation
        self.looks(default=fixed(1))  # refuses what is no plan
        if self.candidates is not None and not _whole(self.candidates, 1):
            raise DesignError("launch.bad_candidates", candidates=self.candidates)
        if self.splits is not None and not _whole(self.splits, FEWEST_SPLITS):
            raise DesignError("launch.bad_splits", splits=self.splits, fewest=FEWEST_SPLITS)

    def looks(self, *, default: Plan) -> Plan:
        """The plan of these terms; `default` where they leave it open."""
        if self.plan is None:
            return default if self.splits is None else fixed(self.splits)
        if isinstance(self.plan, Plan):
            return self.plan
        if not _whole(self.plan, 1):
            raise DesignError("launch.bad_plan", plan=self.plan)
        return fixed(self.plan)


def _whole(number: object, least: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= least
