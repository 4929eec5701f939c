"""What a campaign was asked for, and how the store keeps it: a document, the newest word counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime

from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.design.round_data import as_data, from_data
from tunewright.launches.lineage import Place
from tunewright.store.store import Store

KIND = "campaign"


@dataclass(frozen=True)
class Definition:
    """What a campaign was asked for."""

    name: str
    space: Round  # everything searched is nuisance; the rest is fixed
    trials: int | None
    hours: float | None
    default: Mapping[str, Value] | None = None  # the configuration people have today, if any
    incumbent: Place | None = None  # the launched baseline when it began
    incumbent_repeats: int = 0  # that it had then
    slots: int = 1  # trials at a time
    tests: bool = False  # whether a look at the test set is to end it
    # what probes could settle or mend -> why not, empty if they can; without what was given
    able: Mapping[str, str] = field(default_factory=dict)
    extend: float | None = None  # the best are trained so many times as long in the end
    extend_to: int | None = None  # ... or for so many steps
    started: datetime | None = None


def keep_definition(store: Store, own: Definition) -> None:
    """Write down what a campaign was asked for."""
    place = own.incumbent
    store.add_document(
        "finding",
        None,
        {
            "kind": KIND,
            "name": own.name,
            "space": as_data(own.space),
            "trials": own.trials,
            "hours": own.hours,
            "default": None if own.default is None else dict(own.default),
            "incumbent": None if place is None else asdict(place),
            "incumbent_repeats": own.incumbent_repeats,
            "slots": own.slots,
            "tests": own.tests,
            "able": dict(own.able),
            "extend": own.extend,
            "extend_to": own.extend_to,
        },
    )


def read_definition(store: Store, name: str) -> Definition | None:
    """What a campaign was asked for, by the newest word, since its first one; None: no such one."""
    own = [
        document
        for document in store.documents("finding")
        if document.payload.get("kind") == KIND and document.payload.get("name") == name
    ]
    if not own:
        return None
    told = own[-1].payload
    place = told["incumbent"]
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
        told.get("able", {}),
        told.get("extend"),
        told.get("extend_to"),
        own[0].written,
    )


def names(store: Store) -> list[str]:
    """The campaigns of a store, oldest first."""
    told = (d.payload for d in store.documents("finding") if d.payload.get("kind") == KIND)
    return list(dict.fromkeys(str(payload["name"]) for payload in told))
