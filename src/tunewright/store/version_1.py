"""Version 1 of the store: what its documents mean in the tables of version 2.

Version 1 kept probes, launches and baselines as JSON documents, and campaigns, their steps and
evaluations as documents of a table called `finding`. A round belonged to a campaign by its name,
the answer of a probe to every campaign that ran at the time. Here each document becomes the row of
version 2 with the same content, for the migration and for conclusion files in folders of trials.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select, update

from tunewright.errors import Damaged
from tunewright.messages import Message
from tunewright.store import outcome, plain_json
from tunewright.store.schema import campaign, campaign_step, round_table

_KINDS = {"evaluation": "evaluation", "campaign": "campaign", "campaign step": "campaign_step"}
_TABLES = ("finding", "probe", "launch", "baseline", "note")
_PROBE = "probe"  # the kind of a step that asks for one
_LEGACY = "campaign.legacy"  # the code of a sentence of version 1


@dataclass(frozen=True)
class Conclusion:
    """One conclusion; references are by what outlives a store (see `store.journal`)."""

    kind: str  # the table it belongs to
    key: int  # in the store that wrote it
    written: float
    row: Mapping[str, Any]
    version: int = 2  # of the store that wrote it


def conclusion(data: Mapping[str, Any], path: Path) -> Conclusion:
    """A conclusion out of a file of version 1; Damaged if it is none."""
    kind, payload = data.get("kind"), data.get("payload")
    right = (
        kind in _TABLES
        and isinstance(data.get("written"), int | float)
        and isinstance(data.get("key"), int)
        and isinstance(payload, dict)
        and all(data.get(n) is None or isinstance(data.get(n), str) for n in ("round", "trial"))
    )
    if not right:
        raise Damaged("journal.not_a_conclusion", path=path)
    about = {"folder": data["round"]} if data.get("round") else None
    place = {"folder": data["trial"]} if data.get("trial") else None
    assert isinstance(kind, str) and isinstance(payload, dict)
    try:
        return document(kind, data["key"], data["written"], payload, about, place)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Damaged("journal.conclusion_unreadable", path=path, error=error) from None


def document(
    kind: str,
    key: int,
    written: float,
    payload: Mapping[str, Any],
    about: Mapping[str, Any] | None,
    place: Mapping[str, Any] | None,
) -> Conclusion:
    """The conclusion of a document: `about` is its round, `place` the evaluated trial."""
    told = _KINDS[payload["kind"]] if kind == "finding" else kind
    made = _ROWS[told](payload)
    if told in ("launch", "evaluation", "note"):
        made["round"] = about
    if told == "evaluation":
        made["trial"] = place
    if told == "campaign":
        made["created"] = written
    return Conclusion(told, key, written, made, version=1)


def _note(told: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": _text(told["text"])}


def _campaign(told: Mapping[str, Any]) -> dict[str, Any]:
    definition = {n: v for n, v in told.items() if n not in ("kind", "name")}
    able = definition.get("able", {})
    definition["able"] = {what: _why_not(why) for what, why in able.items()}
    return {"name": _text(told["name"]), "definition": plain_json.dumps(definition)}


def _why_not(told: str) -> dict[str, Any] | None:
    """Why a probe cannot be asked; version 1 had an empty text where it can."""
    return Message(_LEGACY, {"text": told}).to_data() if told else None


def _step(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "campaign": _text(told["name"]),
        "number": 0,  # by their order, see `completed`
        "kind": _text(told["step"]),
        "reason": outcome.encode(Message(_LEGACY, {"text": _text(told["reason"])})),
        "round": {"name": told["round"]} if told.get("round") else None,
        "probe": None,
    }


def _evaluation(told: Mapping[str, Any]) -> dict[str, Any]:
    metrics = told["metrics"]
    if not all(value is None or isinstance(value, int | float) for value in metrics.values()):
        raise TypeError("a metric is no number")
    return {
        "step": int(told["step"]),
        "metrics": plain_json.dumps(dict(metrics)),
        "measured_by": _text(told["with_"]),
        "workload": _text(told["workload"]),
        "objective": _text(told["objective"]),
        "value": None if told["value"] is None else float(told["value"]),
        "look": int(told["look"]),
    }


def _probe(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": _text(told.get("probe", "")),
        # the probes that time steps wrote what they timed; the others did not
        "workload": _text(told.get("subject", "")),
        "metric": "",
        "campaign": None,
        "settings": plain_json.dumps(told.get("settings") or {}),
        "answer": plain_json.dumps(dict(told)),
    }


def _launch(told: Mapping[str, Any]) -> dict[str, Any]:
    decision = told.get("decision") or {}
    return {
        "candidate": _place(told.get("candidate")),
        "baseline": _place(told.get("baseline")),
        "verdict": _text(decision.get("verdict", "")),
        "method": _text(decision.get("method", "")),
        "decision": plain_json.dumps(dict(decision)),
        **{name: _text(told.get(name, "")) for name in ("who", "why", "goal", "commit")},
    }


def _baseline(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "trial": _place(told),
        "launch": int(told.get("launch", 0)),
        "runs": int(told.get("runs", 0)),
    }


def _place(told: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if told is None:
        return None
    return {name: told.get(name) for name in ("round", "trial", "configuration")}


def _text(told: Any) -> str:
    if not isinstance(told, str):
        raise TypeError(f"{told!r} is no text")
    return told


_ROWS = {
    "note": _note,
    "campaign": _campaign,
    "campaign_step": _step,
    "evaluation": _evaluation,
    "probe": _probe,
    "launch": _launch,
    "baseline": _baseline,
}


def completed(found: Iterable[Conclusion]) -> list[Conclusion]:
    """Conclusions by time, those of version 1 with what only their order shows.

    Their steps are numbered within each campaign. The answer of a probe belongs to a campaign that
    had asked for a probe and not yet taken its next step.
    """
    told = sorted(found, key=lambda one: one.written)
    spans = _probing((str(o.row["campaign"]), o.row["kind"], o.written) for o in _steps(told))
    last: dict[str, int] = {}
    made = []
    for one in told:
        changed: dict[str, Any] = {}
        if one.kind == "campaign_step":
            name = str(one.row["campaign"])
            changed["number"] = one.row["number"] or last.get(name, 0) + 1
            last[name] = max(changed["number"], last.get(name, 0))
        elif one.kind == "probe" and one.version == 1:
            changed["campaign"] = _asked_by(one.written, spans)
        made.append(replace(one, row={**one.row, **changed}) if changed else one)
    return made


def adopt_rounds(connection: Connection, only: Collection[int] | None = None) -> None:
    """Give rounds to the campaign that version 1 counted them to; `only` limits it to these.

    A round belongs by its name, that of a probe by its time.
    """
    rounds = connection.execute(
        select(round_table.c.id, round_table.c.name, round_table.c.created).where(
            round_table.c.campaign.is_(None)
        )
    ).all()
    campaigns = {row.name: row.id for row in connection.execute(select(campaign))}
    taken = (
        select(campaign.c.name, campaign_step.c.kind, campaign_step.c.written)
        .join(campaign, campaign.c.id == campaign_step.c.campaign)
        .order_by(campaign_step.c.campaign, campaign_step.c.number)
    )
    spans = _probing((row.name, row.kind, row.written) for row in connection.execute(taken))
    for row in rounds:
        if only is not None and row.id not in only:
            continue
        own, purpose = None, ""
        if row.name.startswith("probe_"):
            own, purpose = _asked_by(row.created, spans), _PROBE
        for name in campaigns:
            found = re.fullmatch(re.escape(name) + r"_\d+_([a-z]+)", row.name)
            if found:
                own, purpose = name, found[1]
        if own is not None:
            belongs = update(round_table).where(round_table.c.id == row.id)
            connection.execute(belongs.values(campaign=campaigns[own], purpose=purpose))


def _steps(told: Iterable[Conclusion]) -> list[Conclusion]:
    return [one for one in told if one.kind == "campaign_step"]


def _probing(taken: Iterable[tuple[str, str, float]]) -> dict[str, list[tuple[float, float]]]:
    """When each campaign had asked for a probe and not yet gone on; of (campaign, kind, time)."""
    steps: dict[str, list[tuple[str, float]]] = {}
    for name, kind, written in taken:
        steps.setdefault(name, []).append((kind, written))
    return {
        name: [
            (at, then) for (kind, at), (_, then) in pairwise([*own, ("", inf)]) if kind == _PROBE
        ]
        for name, own in steps.items()
    }


def _asked_by(moment: float, spans: Mapping[str, list[tuple[float, float]]]) -> str | None:
    """The campaign that had asked for a probe at this moment."""
    for name, own in spans.items():
        if any(begun <= moment < over for begun, over in own):
            return name
    return None
