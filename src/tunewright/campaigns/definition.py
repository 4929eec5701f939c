"""What a campaign was asked for, and how the store keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.design.round_data import as_data, from_data
from tunewright.launches.lineage import Place
from tunewright.messages import Message
from tunewright.store.store import Store


@dataclass(frozen=True)
class Definition:
    """What a campaign was asked for."""

    name: str
    space: Round  # everything searched is nuisance; the rest is fixed
    trials: int | None
    hours: float | None
    default: Mapping[str, Value] | None = None  # the current default, if there is one
    incumbent: Place | None = None  # the launched baseline when it began
    incumbent_repeats: int = 0  # that it had then
    slots: int = 1  # trials at a time
    tests: bool = False  # whether a look at the test set is to end it
    # what probes could choose or fix -> why not, None if they can; without what was given
    able: Mapping[str, Message | None] = field(default_factory=dict)
    extend: float | None = None  # the best are trained so many times as long in the end
    extend_to: int | None = None  # ... or for so many steps
    deterministic: bool = False  # declared: the same value under every seed
    retrained: Place | None = None  # the launched baseline, where it trained for another length
    started: datetime | None = None


def keep_definition(store: Store, own: Definition) -> int:
    """Write what a campaign was asked for; the key of the campaign."""
    place = own.incumbent
    return store.add_campaign(
        own.name,
        {
            "space": as_data(own.space),
            "trials": own.trials,
            "hours": own.hours,
            "default": None if own.default is None else dict(own.default),
            "incumbent": None if place is None else asdict(place),
            "incumbent_repeats": own.incumbent_repeats,
            "slots": own.slots,
            "tests": own.tests,
            "able": {n: None if why is None else why.to_data() for n, why in own.able.items()},
            "extend": own.extend,
            "extend_to": own.extend_to,
            "deterministic": own.deterministic,
            "retrained": None if own.retrained is None else asdict(own.retrained),
        },
    )


def read_definition(store: Store, name: str) -> Definition | None:
    """What a campaign was asked for last, with when it began; None: no such one."""
    found = store.campaign(name)
    if found is None:
        return None
    told = found.definition
    place, retrained = told["incumbent"], told.get("retrained")
    return Definition(
        name,
        from_data(told["space"]),
        told["trials"],
        told["hours"],
        told["default"],
        None if place is None else Place(**place),
        told["incumbent_repeats"],
        told["slots"],
        told["tests"],
        {what: _message(why) for what, why in told.get("able", {}).items()},
        told.get("extend"),
        told.get("extend_to"),
        told.get("deterministic", False),
        None if retrained is None else Place(**retrained),
        found.created,
    )


def _message(data: Mapping[str, Any] | None) -> Message | None:
    if data is None:
        return None
    return Message(data["code"], {name: fact for name, fact in data.items() if name != "code"})
