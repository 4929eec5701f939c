"""How long will the rest take? A range, because one number would be a promise."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def time_left(
    pending: int, running_for_s: Sequence[float], slots: int, ended_s: Sequence[float]
) -> tuple[float, float] | None:
    """The seconds left as (low, high), or None before the first trial has ended.

    `running_for_s` holds the age of every running trial, `ended_s` how long each ended one took.
    Its ends are two standard deviations of the sum of what is left away, counting that the mean
    itself comes from few trials; the last trials of a round leave slots empty: that only adds time.

    >>> time_left(pending=10, running_for_s=[5.0, 5.0], slots=2, ended_s=[10.0] * 50)
    (55.0, 60.0)
    >>> time_left(pending=3, running_for_s=[], slots=2, ended_s=[]) is None
    True
    """
    if not ended_s:
        return None
    mean = statistics.fmean(ended_s)
    # of one trial nothing is known about the spread: take half its length
    spread = statistics.stdev(ended_s) if len(ended_s) > 1 else mean / 2
    left = pending + len(running_for_s)
    work = left * mean - sum(min(age, mean) for age in running_for_s)
    doubt = 2 * math.sqrt(left * spread**2 + (left * spread) ** 2 / len(ended_s))
    slots = max(1, min(slots, left))
    idle = mean / 2 if slots > 1 else 0.0
    factor = 1 + doubt / work if work > 0 else 1.0  # as a factor it can never promise nothing
    return work / factor / slots, work * factor / slots + idle
