"""What a sweep of constant learning rates trains, fixed before any compute, or what it lacks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tunewright.design.ranges import Value, is_number
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.starting_point import best_known, configuration
from tunewright.probes.switched_off import switched_off
from tunewright.store.trial import Trial

EPOCHS = 20  # of the first training length, where the length of an epoch is known


@dataclass(frozen=True)
class Plan:
    """All that the sweep needs to know, fixed before any compute."""

    learning_rate: float  # the middle of the sweep
    length: int  # max_train_steps of the first trainings
    fixed: Mapping[str, Value]  # everything else, with what is switched off
    off: Mapping[str, Value]  # what is switched off
    caveats: tuple[Message, ...]
    returns: tuple[str, ...] = ()  # of what is off: adds gradient noise when it comes back


def plan_sweep(
    workload: Workload,
    learning_rate: float | None,
    max_train_steps: int | None,
    fixed: dict[str, Value],
    trial: Trial | None = None,
) -> tuple[Plan | None, list[Message]]:
    """What to train, or what is missing for it."""
    meaning = workload.meaning
    rate_name, steps_name = meaning.name("learning_rate"), meaning.name("max_train_steps")
    known = best_known(workload) if trial is None else trial
    base = configuration(workload, known, fixed)
    off, missing = switched_off(workload, base)
    off = {name: value for name, value in off.items() if name not in fixed}
    accepts = workload.accepts
    for name, meant in ((rate_name, "learning_rate"), (steps_name, "max_train_steps")):
        if name not in accepts.names and not accepts.takes_anything:
            facts = {"meaning": meant, "takes": sorted(accepts.names)}
            missing.append(Message("probe.train_steps.no_name", facts))
    centre = learning_rate if learning_rate is not None else base.get(rate_name)
    if not is_number(centre) or centre <= 0:  # type: ignore[operator]
        missing.append(Message("probe.train_steps.no_rate"))
    elif learning_rate is None:  # one of few, so that a slightly better trial changes nothing
        centre = 10.0 ** (round(2 * math.log10(centre)) / 2)  # type: ignore[arg-type]
    length = max_train_steps or _length(workload, base.get(steps_name))
    if length is None:
        missing.append(Message("probe.train_steps.no_length"))
    rest = {n: v for n, v in base.items() if n not in (rate_name, steps_name)} | off
    for name in sorted(accepts.required - rest.keys() - {rate_name, steps_name}):
        missing.append(Message("probe.train_steps.no_value", {"name": name}))
    if missing or length is None:
        return None, missing
    quiet = (meaning.name("schedule"), meaning.name("warmup_steps"))
    returns = tuple(name for name in off if name not in quiet)
    caveats = _caveats(workload, rest, off, fixed)
    return Plan(float(centre), length, rest, off, caveats, returns), []  # type: ignore[arg-type]


def _length(workload: Workload, known: Value | None) -> int | None:
    """The first length: 20 epochs where an epoch is known, else as the program has it."""
    if "epoch" in workload.meaning.name("max_train_steps").lower():
        return EPOCHS
    per_epoch = workload.meaning.number("steps_per_epoch")
    if per_epoch is not None:
        return max(2, math.ceil(EPOCHS * per_epoch))
    return int(known) if is_number(known) and known >= 2 else None  # type: ignore[operator,arg-type]


def _caveats(
    workload: Workload,
    rest: Mapping[str, Value],
    off: Mapping[str, Value],
    fixed: Mapping[str, Value],
) -> tuple[Message, ...]:
    found = []
    if workload.meaning.name("schedule") not in rest:
        found.append(Message("probe.no_schedule"))
    left = {name: value for name, value in rest.items() if name not in off}
    if left:
        found.append(Message("probe.holds_for", {"settings": dict(sorted(left.items()))}))
    kept = [name for name in switched_off(workload, rest)[0] if name in fixed]
    if kept:
        found.append(Message("probe.stayed_on", {"names": kept}))
    return tuple(found)
