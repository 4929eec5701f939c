"""How does a schedule continue when training gets longer? The playbook's round 1 to round 2.

The trap is to spend all the extra steps at a tiny learning rate (playbook, "Deciding how long to
train when training is compute-bound"): what is lengthened is the time at the base rate, except for
the cosine, which is stretched as a whole. Warm-up keeps its length in steps. A lengthened training
starts afresh, or from a checkpoint taken before the decay began.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from tunewright.design.schedule import (
    Constant,
    Cosine,
    Linear,
    Piecewise,
    Rsqrt,
    Schedule,
    Warmup,
    WarmupStableDecay,
)
from tunewright.errors import DesignError
from tunewright.messages import Message


@dataclass(frozen=True)
class Stretched:
    """A schedule for the longer training, and the rule that made it."""

    schedule: Schedule
    rule: Message
    changed_family: bool = False  # True: not the schedule that was tuned, so tune it again


def stretch(schedule: Schedule, old_steps: int, new_steps: int) -> Stretched:
    """The schedule for `new_steps` that continues what was tuned at `old_steps`.

    >>> stretch(Linear(), 1000, 5000).schedule
    Linear(decay_steps=1000, end_factor=0.0)
    >>> stretch(Piecewise((600, 900), (1.0, 0.1, 0.01)), 1000, 5000).schedule.boundaries
    (4600, 4900)
    """
    if new_steps < old_steps:
        raise DesignError("schedule.shorter", old_steps=old_steps, new_steps=new_steps)
    schedule.total_steps(old_steps)
    longer = _longer(schedule, old_steps, new_steps)
    longer.schedule.total_steps(new_steps)
    return longer


def share_at_tiny_rate(
    schedule: Schedule, old_steps: int, longer: Schedule, new_steps: int, tiny: float = 0.1
) -> float:
    """The share of the extra steps that `longer` spends below `tiny` of the base learning rate.

    Above 0.10 the extra training is mostly wasted. A stretched cosine has 0.20 by its shape,
    whatever its length; Linear as `stretched` gives it has 0.

    >>> share_at_tiny_rate(Rsqrt(1), 100, Rsqrt(1), 10_000)
    1.0
    >>> share_at_tiny_rate(Linear(), 100, stretch(Linear(), 100, 10_000).schedule, 10_000)
    0.0
    """
    extra = longer.total_steps(new_steps) - schedule.total_steps(old_steps)
    if extra <= 0:
        return 0.0
    low = _tiny_steps(longer, new_steps, tiny) - _tiny_steps(schedule, old_steps, tiny)
    return max(low / extra, 0.0)


def _longer(schedule: Schedule, old: int, new: int) -> Stretched:
    if isinstance(schedule, Warmup):
        taken = schedule.warmup_steps if schedule.mode == "within" else 0
        inner = _longer(schedule.schedule, old - taken, new - taken)
        facts = {"warmup_steps": schedule.warmup_steps, "rule": inner.rule.to_data()}
        rule = Message("stretch.warmup", facts)
        return Stretched(replace(schedule, schedule=inner.schedule), rule, inner.changed_family)
    if isinstance(schedule, Linear):
        length = old if schedule.decay_steps is None else schedule.decay_steps
        rule = Message("stretch.linear", {"decay_steps": length, "extra": new - old})
        return Stretched(replace(schedule, decay_steps=length), rule)
    if isinstance(schedule, WarmupStableDecay):
        return Stretched(schedule, Message("stretch.stable", {"extra": new - old}))
    if isinstance(schedule, Piecewise):
        moved = tuple(boundary + new - old for boundary in schedule.boundaries)
        rule = Message("stretch.piecewise", {"extra": new - old})
        return Stretched(replace(schedule, boundaries=moved), rule)
    if isinstance(schedule, Rsqrt):
        return _without_rsqrt(schedule, old)
    if isinstance(schedule, Cosine):
        return Stretched(schedule, Message("stretch.cosine", {"steps": new}))
    if isinstance(schedule, Constant):
        return Stretched(schedule, Message("stretch.constant"))
    raise DesignError("schedule.no_stretching_rule", schedule=type(schedule).__name__)


def _without_rsqrt(schedule: Rsqrt, old: int) -> Stretched:
    """Constant, then linear to the rate that rsqrt had at the old end: longer rsqrt only fades."""
    if schedule.timescale >= old:
        return Stretched(schedule, Message("stretch.rsqrt_kept"))
    end = math.sqrt(schedule.timescale / old)
    length = old - schedule.timescale
    rule = Message("stretch.rsqrt_replaced", {"end_factor": end, "decay_steps": length})
    return Stretched(Linear(decay_steps=length, end_factor=end), rule, changed_family=True)


def _tiny_steps(schedule: Schedule, steps: int, tiny: float, sampled: int = 2000) -> float:
    total = schedule.total_steps(steps)
    picked = range(1, total + 1, max(total // sampled, 1))
    low = sum(schedule.factor(step, steps) < tiny for step in picked)
    return low / len(picked) * total
