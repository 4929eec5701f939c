"""How long will the rest take? A range, because one number would be a promise."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

Under = tuple[float, float | None]  # the age of a running trial, and its length by its step rate


def time_left(
    pending: int, running: Sequence[Under], slots: int, ended_s: Sequence[float]
) -> tuple[float, float] | None:
    """The seconds left as (low, high); None while neither an end nor a step rate is known.

    `running` holds the age of every running trial and its whole length, if its steps show it;
    `ended_s` how long each ended one took. The ends of the range are two standard deviations of the
    sum of what is left away, counting that the mean itself comes from few trials; the last trials
    of a round leave slots empty: that only adds time. Of a trial that is older than those before it
    and counts no steps nothing is known: if only such trials are left, the answer is None.

    >>> time_left(pending=10, running=[(5.0, None), (5.0, None)], slots=2, ended_s=[10.0] * 50)
    (55.0, 60.0)
    >>> low, high = time_left(pending=0, running=[(10.0, 40.0)], slots=1, ended_s=[])
    >>> low < 30 < high
    True
    >>> time_left(pending=0, running=[(17.0, None)], slots=1, ended_s=[10.0]) is None
    True
    """
    projected = [length for age, length in running if length is not None and length > age]
    lengths = [*ended_s, *projected]
    if not lengths:
        return None
    mean = statistics.fmean(lengths)
    # one ended trial does not show the spread: take half its length; steps are more regular
    lone = mean / 2 if ended_s or pending else mean / 8
    spread = statistics.stdev(lengths) if len(lengths) > 1 else lone
    rest = [_rest(age, length, mean) for age, length in running]
    if not pending and not any(rest):
        return None
    left = pending + len(running)
    # an overdue trial may take as long as trials differ
    work = pending * mean + sum(spread if one is None else one for one in rest)
    doubt = 2 * math.sqrt(left * spread**2 + (left * spread) ** 2 / len(lengths))
    slots = max(1, min(slots, left))
    idle = mean / 2 if slots > 1 else 0.0
    # as a factor it can never promise nothing
    factor = 1 + doubt / work if work > 0 else 1.0
    return work / factor / slots, work * factor / slots + idle


def _rest(age: float, length: float | None, mean: float) -> float | None:
    """What a running trial has before it; None when it is overdue."""
    if length is not None and length > age:
        return length - age
    return mean - age if length is None and mean > age else None
