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
    table = _KINDS[payload["kind"]] if kind == "finding" else kind
    row = _ROWS[table](payload)
    if table in ("launch", "evaluation", "note"):
        row["round"] = about
    if table == "evaluation":
        row["trial"] = place
    if table == "campaign":
        row["created"] = written
    return Conclusion(table, key, written, row, version=1)


def _note(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": _text(data["text"])}


def _campaign(data: Mapping[str, Any]) -> dict[str, Any]:
    definition = {n: v for n, v in data.items() if n not in ("kind", "name")}
    able = definition.get("able", {})
    definition["able"] = {what: _why_not(why) for what, why in able.items()}
    return {"name": _text(data["name"]), "definition": plain_json.dumps(definition)}


def _why_not(text: str) -> dict[str, Any] | None:
    """Why a probe cannot be asked; version 1 had an empty text where it can."""
    return Message(_LEGACY, {"text": text}).to_data() if text else None


def _step(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "campaign": _text(data["name"]),
        "number": 0,  # by their order, see `complete`
        "kind": _text(data["step"]),
        "reason": outcome.encode(Message(_LEGACY, {"text": _text(data["reason"])})),
        "round": {"name": data["round"]} if data.get("round") else None,
        "probe": None,
    }


def _evaluation(data: Mapping[str, Any]) -> dict[str, Any]:
    metrics = data["metrics"]
    if not all(value is None or isinstance(value, int | float) for value in metrics.values()):
        raise TypeError("a metric is no number")
    return {
        "step": int(data["step"]),
        "metrics": plain_json.dumps(dict(metrics)),
        "measured_by": _text(data["with_"]),
        "workload": _text(data["workload"]),
        "objective": _text(data["objective"]),
        "value": None if data["value"] is None else float(data["value"]),
        "look": int(data["look"]),
    }


def _probe(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": _text(data.get("probe", "")),
        # the probes that time steps wrote what they timed; the others did not
        "workload": _text(data.get("subject", "")),
        "metric": "",
        "campaign": None,
        "settings": plain_json.dumps(data.get("settings") or {}),
        "answer": plain_json.dumps(dict(data)),
    }


def _launch(data: Mapping[str, Any]) -> dict[str, Any]:
    decision = data.get("decision") or {}
    return {
        "candidate": _place(data.get("candidate")),
        "baseline": _place(data.get("baseline")),
        "verdict": _text(decision.get("verdict", "")),
        "method": _text(decision.get("method", "")),
        "decision": plain_json.dumps(dict(decision)),
        **{name: _text(data.get(name, "")) for name in ("who", "why", "goal", "commit")},
    }


def _baseline(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "trial": _place(data),
        "launch": int(data.get("launch", 0)),
        "runs": int(data.get("runs", 0)),
    }


def _place(data: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if data is None:
        return None
    return {name: data.get(name) for name in ("round", "trial", "configuration")}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


_ROWS = {
    "note": _note,
    "campaign": _campaign,
    "campaign_step": _step,
    "evaluation": _evaluation,
    "probe": _probe,
    "launch": _launch,
    "baseline": _baseline,
}


def complete(conclusions: Iterable[Conclusion]) -> list[Conclusion]:
    """Conclusions by time, those of version 1 with what only their order shows.

    Their steps are numbered within each campaign. The answer of a probe belongs to a campaign that
    had asked for a probe and not yet taken its next step.
    """
    ordered = sorted(conclusions, key=lambda conclusion: conclusion.written)
    taken = [each for each in ordered if each.kind == "campaign_step"]
    spans = _probing((str(s.row["campaign"]), s.row["kind"], s.written) for s in taken)
    last: dict[str, int] = {}
    numbered = []
    for conclusion in ordered:
        changed: dict[str, Any] = {}
        if conclusion.kind == "campaign_step":
            name = str(conclusion.row["campaign"])
            changed["number"] = conclusion.row["number"] or last.get(name, 0) + 1
            last[name] = max(changed["number"], last.get(name, 0))
        elif conclusion.kind == "probe" and conclusion.version == 1:
            changed["campaign"] = _asking_campaign(conclusion.written, spans)
        numbered.append(
            replace(conclusion, row={**conclusion.row, **changed}) if changed else conclusion
        )
    return numbered


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
        campaign_name, purpose = None, ""
        if row.name.startswith("probe_"):
            campaign_name, purpose = _asking_campaign(row.created, spans), _PROBE
        for name in campaigns:
            match = re.fullmatch(re.escape(name) + r"_\d+_([a-z]+)", row.name)
            if match:
                campaign_name, purpose = name, match[1]
        if campaign_name is not None:
            belongs = update(round_table).where(round_table.c.id == row.id)
            connection.execute(belongs.values(campaign=campaigns[campaign_name], purpose=purpose))


def _probing(taken: Iterable[tuple[str, str, float]]) -> dict[str, list[tuple[float, float]]]:
    """When each campaign had asked for a probe and not yet gone on; of (campaign, kind, time)."""
    steps: dict[str, list[tuple[str, float]]] = {}
    for name, kind, written in taken:
        steps.setdefault(name, []).append((kind, written))
    return {
        name: [
            (at, then) for (kind, at), (_, then) in pairwise([*moves, ("", inf)]) if kind == _PROBE
        ]
        for name, moves in steps.items()
    }


def _asking_campaign(moment: float, spans: Mapping[str, list[tuple[float, float]]]) -> str | None:
    """The campaign that had asked for a probe at this moment."""
    for name, spans_of_one in spans.items():
        if any(start <= moment < over for start, over in spans_of_one):
            return name
    return None
