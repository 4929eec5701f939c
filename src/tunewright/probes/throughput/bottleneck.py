"""What holds a step up: its input, its launches, the exchange between processes, or nothing?

The time per step should be constant while the batch is small. Where it grows from the smallest
sizes on, something other than arithmetic limits it (playbook, "If the training throughput does not
double, there is a bottleneck").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tunewright.messages import Message
from tunewright.probes.throughput.knee import FREE, Rate, gain

Kind = Literal["none", "input", "launch", "communication"]
SLOWER = 1.1  # real over cached input, from which the input is the bottleneck
IDLE = 0.6  # a device busy for less than this share waits for the host
EFFICIENT = 0.8  # throughput of n processes over n times that of one


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
    if efficiency is not None and efficiency < EFFICIENT:
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
        each.cached.examples_per_s / each.real.examples_per_s > SLOWER
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
