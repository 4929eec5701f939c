"""A round in a receipt and back: trials with their curves, and where they come from.

What is written holds on any machine. Folders and hosts are left out, so that no check can look for
a program or a repository there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from tunewright.checks.same_code import SameCodeEvidence, same_code
from tunewright.design.round_file import as_data, from_data
from tunewright.messages import Message
from tunewright.receipts._curves import curves_data, curves_from
from tunewright.store.outcome import decode, encode
from tunewright.store.plain_json import meaning_data, meaning_from, objective_data, objective_from
from tunewright.store.provenance import Provenance
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_AS_THEY_ARE = (
    *("number", "study", "index", "configuration", "unit", "status", "value", "best_step", "seed"),
    *("attempts", "seconds", "parent", "identity", "search", "peak_memory_mb", "applied"),
    *("command", "started", "folder"),
)
_LEFT_OUT = ("folder", "host")  # of a provenance: of one machine only


def round_data(results: Results) -> dict[str, Any]:
    """A round alone, without the rounds that are joined with it."""
    return {
        "round": as_data(results.round),
        "objective": objective_data(results.objective),
        "meaning": meaning_data(results.meaning),
        "search": results.search,
        "imported": results.imported,
        "trials": [
            *(map(trial_data, results.recorded, results.rows)),
            *(trial_data(trial, trial) for trial in results.waiting),
        ],
        "repeats": [
            {**trial_data(repeat, repeat), "repeat": count}
            for trial in results.rows
            for count, repeat in enumerate(results.repeats(trial), start=1)
        ],
        "notes": [note if isinstance(note, str) else note.to_data() for note in results.notes],
    }


def trial_data(recorded: Trial, judged: Trial) -> dict[str, Any]:
    """A trial: how its training ended, what it is worth under the objective, its curves."""
    data = {name: getattr(judged, name) for name in _AS_THEY_ARE}
    applied = data["applied"]
    return {
        **data,
        "configuration": dict(judged.configuration),
        "unit": dict(judged.unit),
        "applied": None if applied is None else dict(applied),
        "ended_as": recorded.status,
        "reason": encode(recorded.reason),
        "origin": None if judged.origin is None else list(judged.origin),
        "curves": curves_data(recorded.curves),
    }


def _trial_from(data: Mapping[str, Any]) -> Trial:
    """The trial of a receipt as it was recorded, not judged yet."""
    known = {name: data[name] for name in _AS_THEY_ARE}
    known |= {"status": data["ended_as"], "value": None, "best_step": None}
    origin = data["origin"]
    return Trial(
        **known,
        reason=decode(data["reason"]),
        origin=None if origin is None else (str(origin[0]), int(origin[1])),
        curves=curves_from(data["curves"]),
    )


def origins_data(results: Results) -> dict[str, Any]:
    """Where trials come from: each provenance once by its hash, and which trial has which."""
    alike = _same_commits(results)
    kept: dict[str, Any] = {}
    of: dict[str, str] = {}
    for identity, provenance in results.origins.items():
        data = {k: v for k, v in asdict(provenance).items() if k not in _LEFT_OUT}
        data["compared_as"] = alike.get(provenance.commit, provenance.commit)
        key = hashlib.sha256(provenance.payload.encode()).hexdigest()[:16]
        kept[key] = data
        of[str(identity)] = key
    return {"provenance": kept, "of": of}


def origins_from(data: Mapping[str, Any]) -> dict[int, Provenance]:
    """The provenance of each trial by its identity."""
    names = {field.name for field in fields(Provenance)}
    provenances: dict[str, Provenance] = {}
    for key, recorded in data["provenance"].items():
        given = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in recorded.items()
            if name in names
        }
        folder = f"recorded:{key}"  # no folder of this machine
        provenances[key] = Provenance(
            **{**given, "folder": folder, "commit": recorded["compared_as"]}
        )
    return {int(identity): provenances[key] for identity, key in data["of"].items()}


def _same_commits(results: Results) -> dict[str, str]:
    """Commits that differ in nothing the program reads, each as the first of them.

    Only the machine with the repository can tell; the receipt carries its answer.
    """
    commits = [provenance.commit for provenance in results.origins.values() if provenance.commit]
    if len(set(commits)) < 2:
        return {}
    for finding in same_code(results):
        evidence = finding.evidence
        if isinstance(evidence, SameCodeEvidence) and any(
            difference.part == "commit" for difference in evidence.differences
        ):
            return {}
    return dict.fromkeys(commits, commits[0])


def results_from(
    data: Mapping[str, Any], origins: Mapping[int, Provenance], earlier: tuple[Results, ...] = ()
) -> Results:
    """The results that a receipt's round means; repeats of a trial that is gone are left out."""
    there = {trial["number"] for trial in data["trials"]}
    return Results(
        round=from_data(data["round"]),
        objective=objective_from(data["objective"]),
        meaning=meaning_from(data["meaning"]),
        recorded=tuple(_trial_from(trial) for trial in data["trials"]),
        recorded_repeats=tuple(
            _trial_from(repeat) for repeat in data["repeats"] if repeat["parent"] in there
        ),
        search=data["search"],
        imported=data["imported"],
        notes=tuple(_note(note) for note in data["notes"]),
        origins=origins,
        earlier=earlier,
    )


def _note(data: Any) -> str | Message:
    if isinstance(data, str):
        return data
    return Message(data["code"], {name: fact for name, fact in data.items() if name != "code"})
