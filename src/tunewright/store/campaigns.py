"""Campaigns in the store: what was asked for, steps with reasons, rounds, answers of probes.

A round belongs to a campaign by a foreign key and has a purpose in it. Both are written in the
transaction that begins the round, which also gives the campaign's newest step its round.

A probe's answer about one workload does not hold for another: answers are looked up by the workload
(the training function, the command or the factory of steps) or by the campaign that asked.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from tunewright.errors import Damaged, NotFound
from tunewright.messages import Message
from tunewright.store import outcome as reasons, plain_json
from tunewright.store.database import Database, when
from tunewright.store.journal import leave, leave_again
from tunewright.store.plain_json import LONGEST_TEXT, storable
from tunewright.store.schema import campaign, campaign_step, probe, round_table

PROBE = "probe"  # the purpose of a round that a probe of the campaign runs


@dataclass(frozen=True)
class CampaignRecord:
    """A campaign as the store has it."""

    id: int
    name: str
    definition: Mapping[str, Any]  # what it was asked for, by its newest definition
    created: datetime


@dataclass(frozen=True)
class CampaignStep:
    """One step of a campaign, with its reason."""

    number: int  # from 1
    kind: str
    reason: Message
    round: str  # the name of the round that it is about; empty for none
    probe: int | None  # the key of the answer that it led to
    written: datetime


def add(database: Database, name: str, definition: Mapping[str, Any]) -> int:
    """Write what a campaign is asked for, or change it for one that is there; its key."""
    now = time.time()
    values = {"definition": plain_json.dumps(plain_json.finite(dict(definition))), "written": now}
    with database.writing() as connection:
        database.alone(connection)
        key = connection.execute(select(campaign.c.id).where(campaign.c.name == name)).scalar()
        if key is None:
            new_row = insert(campaign).values(name=name, created=now, **values)
            (key,) = connection.execute(new_row).inserted_primary_key or (0,)
        else:
            connection.execute(update(campaign).where(campaign.c.id == key).values(values))
        database.afterwards(lambda: leave(database))
    return int(key)


def find(database: Database, name: str) -> CampaignRecord | None:
    """The campaign of this name; None: there is none."""
    return next((campaign for campaign in every(database) if campaign.name == name), None)


def every(database: Database) -> list[CampaignRecord]:
    """All campaigns, oldest first."""
    with database.reading() as connection:
        rows = connection.execute(select(campaign).order_by(campaign.c.id)).all()
    with plain_json.as_written("a campaign of the store"):
        return [
            CampaignRecord(
                row.id,
                row.name,
                plain_json.loads_object(row.definition, f"campaign {row.id} of the store"),
                when(row.created),
            )
            for row in rows
        ]


def _key_of(connection: Connection, name: str) -> int:
    """The key of a campaign that must be there."""
    key = connection.execute(select(campaign.c.id).where(campaign.c.name == name)).scalar()
    if key is None:
        raise NotFound("campaign.not_in_store", name=name)
    return int(key)


def add_step(
    database: Database, campaign_id: int, kind: str, reason: Message, round: str = ""
) -> int:
    """Add a step; one about a round that is still to begin gets it when that begins."""
    with database.writing() as connection:
        database.alone(connection)
        here = campaign_step.c.campaign == campaign_id
        last = connection.execute(select(func.max(campaign_step.c.number)).where(here)).scalar()
        named = select(round_table.c.id).where(round_table.c.name == round)
        values = {
            "campaign": campaign_id,
            "number": (last or 0) + 1,
            "kind": kind,
            "reason": reasons.encode(reason),
            "round": connection.execute(named).scalar() if round else None,
            "written": time.time(),
        }
        connection.execute(insert(campaign_step).values(values))
        database.afterwards(lambda: leave(database))
    return (last or 0) + 1


def steps(database: Database, campaign_id: int) -> list[CampaignStep]:
    """The steps of a campaign, in order."""
    chosen = (
        select(campaign_step, round_table.c.name.label("of_round"))
        .outerjoin(round_table, round_table.c.id == campaign_step.c.round)
        .where(campaign_step.c.campaign == campaign_id)
        .order_by(campaign_step.c.number)
    )
    with database.reading() as connection:
        rows = connection.execute(chosen).all()
    with plain_json.as_written("a campaign's step of the store"):
        return [
            CampaignStep(
                row.number, row.kind, _reason(row), row.of_round or "", row.probe, when(row.written)
            )
            for row in rows
        ]


def rounds_of(database: Database, campaign_id: int) -> list[tuple[str, str]]:
    """The name and the purpose of each round of a campaign, oldest first."""
    chosen = (
        select(round_table.c.name, round_table.c.purpose)
        .where(round_table.c.campaign == campaign_id)
        .order_by(round_table.c.created, round_table.c.id)  # a rebuilt store has other keys
    )
    with database.reading() as connection:
        return [(row.name, row.purpose) for row in connection.execute(chosen)]


def adopt(
    database: Database, connection: Connection, round_id: int, name: str, purpose: str
) -> None:
    """Make a round that begins one of a campaign's, unless it belongs to one already."""
    key = _key_of(connection, name)
    free = (round_table.c.id == round_id) & round_table.c.campaign.is_(None)
    done = connection.execute(update(round_table).where(free).values(campaign=key, purpose=purpose))
    if purpose != PROBE and done.rowcount == 1:
        _link(database, connection, key, purpose, {"round": round_id})


def link_probe(database: Database, campaign_id: int, probe_id: int) -> None:
    """Note on the campaign's newest step the answer that it led to."""
    with database.writing() as connection:
        _link(database, connection, campaign_id, PROBE, {"probe": probe_id})


def _link(
    database: Database, connection: Connection, key: int, kind: str, values: Mapping[str, int]
) -> None:
    of_campaign = campaign_step.c.campaign == key
    newest = select(func.max(campaign_step.c.number)).where(of_campaign).scalar_subquery()
    (column,) = values
    linked = connection.execute(
        update(campaign_step)
        .where(
            of_campaign,
            campaign_step.c.number == newest,
            campaign_step.c.kind == kind,
            campaign_step.c[column].is_(None),
        )
        .values(dict(values))
        .returning(campaign_step.c.id)
    ).scalar()
    if linked is not None:
        database.afterwards(lambda: leave_again(database, campaign_step.name, linked))


def _reason(row: Any) -> Message:
    reason = reasons.decode(row.reason)
    if reason is None:
        raise Damaged("campaign.step_without_reason", step=row.number, campaign=row.campaign)
    return reason


@dataclass(frozen=True)
class ProbeRecord:
    """One answer of a probe."""

    id: int
    name: str  # of the probe
    workload: str  # what it measured; empty: unknown, an answer of version 1
    metric: str  # the objective, where the answer depends on it
    campaign: int | None  # the key of the campaign that asked
    settings: Mapping[str, Any]  # what to put into the configuration
    answer: Mapping[str, Any]  # all of it, as plain data
    written: datetime


def add_probe(
    database: Database,
    name: str,
    workload: str,
    answer: Mapping[str, Any],
    *,
    metric: str = "",
    campaign: str = "",
) -> int:
    """Keep an answer about a workload, asked by the campaign of this name or by nobody; its key."""
    plain = plain_json.finite(dict(answer))
    values = {
        "name": name,
        "workload": storable(workload, LONGEST_TEXT),
        "metric": storable(metric),
        "settings": plain_json.dumps(plain.get("settings") or {}),
        "answer": plain_json.dumps(plain),
        "written": time.time(),
    }
    with database.writing() as connection:
        values["campaign"] = _key_of(connection, campaign) if campaign else None
        inserted = connection.execute(insert(probe).values(values))
        (key,) = inserted.inserted_primary_key or (0,)
        database.afterwards(lambda: leave(database))
    return int(key)


def read_probes(
    database: Database,
    *,
    workload: str | None = None,
    campaign: int | None = None,
    name: str | None = None,
) -> list[ProbeRecord]:
    """The answers about a workload, of a campaign, of one probe, or all; oldest first."""
    chosen = select(probe).order_by(probe.c.id)
    about = None if workload is None else storable(workload, LONGEST_TEXT)
    wanted = {"workload": about, "campaign": campaign, "name": name}
    for column, value in wanted.items():
        if value is not None:
            chosen = chosen.where(probe.c[column] == value)
    with database.reading() as connection:
        rows = connection.execute(chosen).all()
    with plain_json.as_written("a probe of the store"):
        return [
            ProbeRecord(
                id=row.id,
                name=row.name,
                workload=row.workload,
                metric=row.metric,
                campaign=row.campaign,
                settings=plain_json.loads_object(row.settings, f"probe {row.id} of the store"),
                answer=plain_json.loads_object(row.answer, f"probe {row.id} of the store"),
                written=when(row.written),
            )
            for row in rows
        ]
