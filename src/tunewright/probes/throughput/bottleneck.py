"""What holds a step up: its input, its launches, the exchange between processes, or nothing?

The time per step should be constant while the batch is small. Where it grows from the smallest
sizes on, something other than arithmetic limits it (playbook, "If the training throughput does not
double, there is a bottleneck").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tunewright.probes.throughput.knee import FREE, Rate, gain

Kind = Literal["none", "input", "launch", "communication"]
SLOWER = 1.1  # real over cached input, from which the input is the bottleneck
IDLE = 0.6  # a device busy for less than this share waits for the host
EFFICIENT = 0.8  # throughput of n processes over n times that of one


@dataclass(frozen=True)
class Bottleneck:
    """What to speed up first."""

    kind: Kind
    says: str


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
            f"{processes} processes do {efficiency * processes:.2g} times the work of one "
            f"({efficiency:.0%} each): the exchange between them is the bottleneck; a larger batch "
            "per process, a faster network or fewer processes help.",
        )
    at_knee = next(each for each in seen if each.real.batch_size == knee)
    for each in (at_knee, seen[0]):
        if each.cached is not None and _slower(each):
            ratio = each.cached.examples_per_s / each.real.examples_per_s
            return Bottleneck(
                "input",
                f"the input pipeline: at {each.real.batch_size}, steps on one cached batch are "
                f"{ratio:.2g} times as fast; `tunewright probe input` names the slow stage.",
            )
    if at_knee.busy_share is not None and at_knee.busy_share < IDLE:
        return _launch(at_knee)
    slow_from_the_start = len(seen) > 1 and gain(_best(seen[0]), _best(seen[1]))[0] < FREE
    if slow_from_the_start and seen[0].busy_share is not None and seen[0].busy_share < IDLE:
        return _launch(seen[0])
    return Bottleneck("none", "")


def _slower(each: Seen) -> bool:
    assert each.cached is not None
    return each.cached.low / each.real.high > 1 and (
        each.cached.examples_per_s / each.real.examples_per_s > SLOWER
    )


def _best(each: Seen) -> Rate:
    return each.cached or each.real


def _launch(each: Seen) -> Bottleneck:
    waits = each.host_waits or 0.0
    why = (
        f"the host waits for it {waits:.3g} times in every step"
        if waits >= 1
        else "the host cannot launch its work fast enough"
    )
    return Bottleneck(
        "launch",
        f"launches: at {each.real.batch_size} the device is busy for only "
        f"{each.busy_share or 0:.0%} of the time, as {why}; capture or compile the step "
        "(FitConfig(capture=True)), and read results seldom.",
    )
