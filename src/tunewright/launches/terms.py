"""The terms of a launch: what is asked and how sure one must be, fixed before any run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tunewright.errors import DesignError
from tunewright.facts import Facts
from tunewright.launches.plan import CLAIMS, Claim, Plan, fixed
from tunewright.stats.gain import History

FEWEST_SPLITS = 3  # shared by both arms, to compare them split by split


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
            History.declared(self.sd)  # refuses what is no standard deviation
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
