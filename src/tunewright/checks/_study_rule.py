"""What do single trials show about their study? From flags on curves to one verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np

from tunewright.checks._better_half import TOP
from tunewright.store.trial import Trial

IMMATERIAL = -9.0  # the z of an effect too small to matter, however certain
_FALSE_ALARMS = 0.02  # per trial: every single-curve rule is below it on average


# which trials carry a verdict: the best one, the five best together, several or one of them, or
# more of the better half than chance explains; nobody where nothing was found
Because = Literal["", "best", "median", "several", "one", "many"]


@dataclass(frozen=True)
class TrialFacts:
    """What one trial's curve shows; each check adds what it measured."""

    trial: int | None


F = TypeVar("F", bound=TrialFacts)


@dataclass(frozen=True)
class Reading(Generic[F]):
    """What one trial's curve answers to one question."""

    trial: Trial
    z: float  # the effect in standard errors, or IMMATERIAL
    flagged: bool  # by the rule for a single curve
    points: int  # of the curve
    facts: F


@dataclass(frozen=True)
class Statement(Generic[F]):
    """What a study's curves answer to one question."""

    verdict: Literal["ok", "note", "warn"]
    because: Because
    top: tuple[Reading[F], ...]  # of the five best trials
    flagged: tuple[Reading[F], ...]  # best trial first
    judged: int  # how many curves were read
    median_z: float | None = None  # of the five best trials; None with fewer

    @property
    def speakers(self) -> tuple[Reading[F], ...]:
        """The readings that carry the verdict: the flagged, or the five that agree."""
        if self.because == "median":
            return tuple(r for r in self.top if r.z > IMMATERIAL)
        return self.flagged

    @property
    def flagged_of_top(self) -> int:
        """How many of the five best trials are flagged."""
        return sum(reading.flagged for reading in self.top)


def statement(
    readings: Sequence[Reading[F]],
    median_limit: float | None = None,
    many: Literal["note", "warn"] = "warn",
) -> Statement[F]:
    """The verdict over readings ordered from the best trial down.

    Warns when the best trial is flagged, when the five best agree (their median z passes the
    limit), when two or more of them are flagged, or (unless `many` is "note") when more of all
    trials are than chance explains; notes a single one of the five. The median gives a verdict at
    20 evaluations, where no single curve can; its limits are 98 % quantiles over worlds without an
    effect.
    """
    top = readings[:TOP]
    flagged = tuple(r for r in readings if r.flagged)
    of_top = sum(r.flagged for r in top)
    median = float(np.median([r.z for r in top])) if len(top) == TOP else None
    because: Because = ""
    if top and top[0].flagged:
        because = "best"
    elif median is not None and median_limit is not None and median > median_limit:
        because = "median"
    elif of_top >= 2:
        because = "several"
    elif len(flagged) > expected_flags(len(readings)):
        because = "many"
    elif of_top == 1:
        because = "one"
    verdict: Literal["ok", "note", "warn"] = "warn" if because else "ok"
    if because == "one" or (because == "many" and many == "note"):
        verdict = "note"
    return Statement(verdict, because, tuple(top), flagged, len(readings), median)


def in_rank_order(readings: Iterable[Reading[F]], trials: Sequence[Trial]) -> list[Reading[F]]:
    """The readings in the order of the trials, which is best first."""
    rank = {id(trial): position for position, trial in enumerate(trials)}
    return sorted(readings, key=lambda reading: rank[id(reading.trial)])


def expected_flags(trials: int) -> int:
    """How many of so many trials chance may flag: the 99 % quantile at 2 % each.

    >>> [expected_flags(trials) for trials in (16, 30, 50)]
    [2, 3, 4]
    """
    from scipy.special import bdtr

    return next(k for k in range(trials + 1) if bdtr(k, trials, _FALSE_ALARMS) >= 0.99)
