"""A training without regularisation, augmentation and schedule: what to set, or what is missing."""

from __future__ import annotations

from collections.abc import Mapping

from tunewright.design.names import Meaning
from tunewright.design.ranges import Value
from tunewright.execution.workload import Workload
from tunewright.messages import Message

# what switches these off needs no declaration
NATURAL: Mapping[str, Value] = {
    "weight_decay": 0.0,
    "dropout": 0.0,
    "label_smoothing": 0.0,
    "warmup_steps": 0,
}


def switched_off(
    workload: Workload, given: Mapping[str, Value]
) -> tuple[dict[str, Value], list[Message]]:
    """The values that switch off what the program has of it, and the entries still to declare.

    Everything of `off=` goes off, and beyond it the regularisers, warm-up and schedule. `given` are
    the names of the configuration, for programs that take any name.
    """
    meaning, accepts = workload.meaning, workload.accepts
    taken = accepts.names | set(given)
    # a workload refuses names that its program does not take
    off = meaning.off_by_name
    missing = list[Message]()
    for key in _features(meaning):
        name = meaning.name(key)
        if name not in taken or name in off:
            continue
        known = key if key in NATURAL else meaning.of(name)
        if known is not None and known in NATURAL:
            off[name] = NATURAL[known]
        else:
            value_of = {"name": name, "schedule": key == "schedule"}
            missing.append(Message("probe.off_value", value_of))
    return off, missing


def _features(meaning: Meaning) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*meaning.regularisers, "schedule", "warmup_steps")))
