"""The lineage: every launch decision of a store, and the baselines that came of them.

A launch is a document with who, when, why, the evidence and the code. One that says `launch` makes
its candidate the baseline in the same transaction, so that every baseline has its proof.
"""

from __future__ import annotations

import getpass
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tunewright.design.ranges import Value
from tunewright.store.notes import Document
from tunewright.store.provenance import capture
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

BY_SPLIT = "paired by split"  # how `decision.decide` calls that way to compare


@dataclass(frozen=True)
class Place:
    """A trial by its round and number, with what was trained."""

    round: str
    trial: int
    configuration: Mapping[str, Value]

    @classmethod
    def of(cls, results: Results, trial: Trial) -> Place:
        """Where a trial stands."""
        return cls(results.round.name, trial.number or 0, trial.configuration)

    def __str__(self) -> str:
        return f"{self.round} trial {self.trial}"


@dataclass(frozen=True)
class Launched:
    """One decision as it was recorded."""

    key: int
    written: datetime
    candidate: Place
    baseline: Place | None  # none: the first baseline, which had nothing to be compared with
    verdict: str
    decision: Mapping[str, Any]  # the Launch as plain data: probability, gain, values, reasons
    who: str
    why: str
    goal: str  # of the round that found the candidate
    commit: str

    @property
    def compared(self) -> bool:
        """Whether it rests on runs of both, rather than on what forbade to run them."""
        return all(self.decision.get(f"{arm}_values") for arm in ("candidate", "baseline"))

    @property
    def pair(self) -> tuple[tuple[str, int], ...]:
        """The (round, trial) pairs that were compared."""
        places = [self.candidate, self.baseline]
        return tuple((place.round, place.trial) for place in places if place is not None)


@dataclass(frozen=True)
class Baseline:
    """What the next candidate has to beat."""

    written: datetime
    place: Place
    launch: int  # the key of the decision that made it so
    runs: int  # repeats of it that decided: a lucky winner is harder to beat


def who() -> str:
    """The person and machine a decision is recorded under."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container without a user of this number
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def keep_launch(
    store: Store,
    decision: Mapping[str, Any],
    candidate: Place,
    baseline: Place | None,
    *,
    why: str = "",
) -> int:
    """Record a decision; if it says launch, its candidate is the baseline from now on."""
    record = store.round(candidate.round)
    payload = {
        "candidate": _as_data(candidate),
        "baseline": None if baseline is None else _as_data(baseline),
        "decision": dict(decision),
        "who": who(),
        "why": why,
        "goal": record.round.goal,
        "commit": capture().commit,
    }
    with store.transaction():
        key = store.add_document("launch", record.id, payload)
        if decision.get("verdict") == "launch":
            runs = len(decision.get("candidate_values") or ())
            place = {**_as_data(candidate), "launch": key, "runs": runs}
            store.add_document("baseline", record.id, place)
    return key


def first_baseline(store: Store, candidate: Place, why: str = "") -> int:
    """Make a trial the baseline without a comparison: there is nothing yet to compare it with."""
    return keep_launch(store, {"verdict": "launch"}, candidate, None, why=why)


def launches(store: Store) -> list[Launched]:
    """Every decision of the store, oldest first."""
    return [_launched(document) for document in store.documents("launch")]


def baselines(store: Store) -> list[Baseline]:
    """Every baseline of the store, oldest first: the lineage of the best configuration."""
    return [
        Baseline(
            document.written,
            _place(document.payload),
            int(document.payload.get("launch", 0)),
            int(document.payload.get("runs", 0)),
        )
        for document in store.documents("baseline")
    ]


def baseline(store: Store) -> Baseline | None:
    """The present baseline; None before the first launch."""
    found = baselines(store)
    return found[-1] if found else None


def looked(store: Store, candidate: Place, against: Place, by_split: bool = False) -> int:
    """How often this pair was decided on before, from runs: on one data split, or split by split.

    The two are other runs, so that the one is no look at the other.
    """
    pair = ((candidate.round, candidate.trial), (against.round, against.trial))
    own = [one for one in launches(store) if one.pair == pair and one.compared]
    return sum((one.decision.get("method") == BY_SPLIT) == by_split for one in own)


def tried(store: Store, candidate: Place, against: Place) -> int:
    """How many other trials of the candidate's round were compared with this baseline before."""
    baseline = (against.round, against.trial)
    others = {
        one.candidate.trial
        for one in launches(store)
        if one.compared and one.candidate.round == candidate.round and one.pair[1:] == (baseline,)
    }
    return len(others - {candidate.trial})


def _launched(document: Document) -> Launched:
    own = document.payload
    decision = own.get("decision") or {}
    against = own.get("baseline")
    return Launched(
        document.id,
        document.written,
        _place(own.get("candidate") or {}),
        None if against is None else _place(against),
        str(decision.get("verdict", "")),
        decision,
        str(own.get("who", "")),
        str(own.get("why", "")),
        str(own.get("goal", "")),
        str(own.get("commit", "")),
    )


def _place(data: Mapping[str, Any]) -> Place:
    return Place(
        str(data.get("round", "")), int(data.get("trial", 0)), dict(data.get("configuration") or {})
    )


def _as_data(place: Place) -> dict[str, Any]:
    return {
        "round": place.round,
        "trial": place.trial,
        "configuration": dict(place.configuration),
    }
