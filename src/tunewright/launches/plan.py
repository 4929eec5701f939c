"""How often may one look, and how sure must one be? The calibrated thresholds of a launch.

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
from typing import Literal

from tunewright.errors import DesignError

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
