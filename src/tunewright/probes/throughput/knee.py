"""Up to which batch size does a larger one pay? The knee of the throughput curve.

While the device is not full, doubling the batch nearly doubles the throughput. The knee is the end
of the last doubling that surely gains 10 %: beyond it a step only takes longer, and nothing is won
(playbook, "Determining the feasible batch sizes and estimating training throughput").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tunewright.messages import Message

GAIN = 1.10  # a doubling must surely gain this much to be worth it
FREE = 1.8  # above this, the larger batch is nearly free
Scaling = Literal["unsaturated", "diminishing", "saturated"]


@dataclass(frozen=True)
class Rate:
    """The throughput at one batch size, with a 95 % interval."""

    batch_size: int
    examples_per_s: float
    low: float
    high: float


def gain(small: Rate, large: Rate) -> tuple[float, float]:
    """The ratio of two throughputs per doubling, and its lower 95 % bound.

    >>> [round(x, 2) for x in gain(Rate(8, 100, 98, 102), Rate(16, 150, 147, 153))]
    [1.5, 1.46]
    """
    doublings = math.log2(large.batch_size / small.batch_size)
    log_ratio = math.log(large.examples_per_s / small.examples_per_s)
    below = math.hypot(
        math.log(large.examples_per_s / large.low), math.log(small.high / small.examples_per_s)
    )
    return math.exp(log_ratio / doublings), math.exp((log_ratio - below) / doublings)


def pays(small: Rate, large: Rate) -> bool:
    """Whether the larger size surely gains 10 % per doubling."""
    return gain(small, large)[1] >= GAIN


def scaling(small: Rate, large: Rate) -> Scaling:
    """What a doubling brings, in a word."""
    ratio = gain(small, large)[0]
    if ratio >= FREE:
        return "unsaturated"
    return "diminishing" if ratio >= GAIN else "saturated"


def knee(rates: Sequence[Rate]) -> int:
    """The end of the last doubling that pays, scanning upward from the smallest size.

    One size that fails is passed over if the next makes up for it: sizes that suit the device badly
    exist, and so do neighbours that take the machine for a while.

    >>> rates = [Rate(b, r, 0.99 * r, 1.01 * r) for b, r in ((8, 100), (16, 190), (32, 195))]
    >>> knee(rates)
    16
    """
    at = 0
    while at + 1 < len(rates):
        further = [n for n in (at + 1, at + 2) if n < len(rates) and pays(rates[at], rates[n])]
        if not further:
            break
        at = further[0]
    return rates[at].batch_size


def passed(rates: Sequence[Rate]) -> bool:
    """Whether two sizes beyond the knee have been seen, so that no more are needed."""
    return sum(rate.batch_size > knee(rates) for rate in rates) >= 2


# ---- what holds a step up: its input, its launches, the exchange between processes, or nothing?
#
# The time per step should be constant while the batch is small. Where it grows from the smallest
# sizes on, something other than arithmetic limits it (playbook, "If the training throughput does
# not double, there is a bottleneck").


Kind = Literal["none", "input", "launch", "communication"]
_SLOWER = 1.1  # real over cached input, from which the input is the bottleneck
IDLE = 0.6  # a device busy for less than this share waits for the host
_EFFICIENT = 0.8  # throughput of n processes over n times that of one


@dataclass(frozen=True)
class Bottleneck:
    """What to speed up first."""

    kind: Kind
    message: Message | None = None  # what holds it up and what helps; None: nothing does


@dataclass(frozen=True)
class Seen:
    """What the verdict is made from, at one batch size."""

    real: Rate
    cached: Rate | None  # without the input pipeline; None where it was not waited for
    busy_share: float | None  # of the device; CUDA only
    host_waits: float | None  # per step


def judge(
    seen: Sequence[Seen], knee: int, processes: int = 1, efficiency: float | None = None
) -> Bottleneck:
    """The verdict from all sizes measured, smallest first."""
    if efficiency is not None and efficiency < _EFFICIENT:
        return Bottleneck(
            "communication",
            Message(
                "probe.bottleneck.communication",
                {
                    "processes": processes,
                    "times": efficiency * processes,
                    "efficiency": efficiency,
                },
            ),
        )
    at_knee = next(each for each in seen if each.real.batch_size == knee)
    for each in (at_knee, seen[0]):
        if each.cached is not None and _slower(each):
            ratio = each.cached.examples_per_s / each.real.examples_per_s
            facts = {"batch_size": each.real.batch_size, "ratio": ratio}
            return Bottleneck("input", Message("probe.bottleneck.input", facts))
    if at_knee.busy_share is not None and at_knee.busy_share < IDLE:
        return _launch(at_knee)
    slow_from_the_start = len(seen) > 1 and gain(_best(seen[0]), _best(seen[1]))[0] < FREE
    if slow_from_the_start and seen[0].busy_share is not None and seen[0].busy_share < IDLE:
        return _launch(seen[0])
    return Bottleneck("none")


def _slower(each: Seen) -> bool:
    assert each.cached is not None
    return each.cached.low / each.real.high > 1 and (
        each.cached.examples_per_s / each.real.examples_per_s > _SLOWER
    )


def _best(each: Seen) -> Rate:
    return each.cached or each.real


def _launch(each: Seen) -> Bottleneck:
    facts = {
        "batch_size": each.real.batch_size,
        "busy_share": each.busy_share or 0.0,
        "host_waits": each.host_waits or 0.0,
    }
    return Bottleneck("launch", Message("probe.bottleneck.launch", facts))
