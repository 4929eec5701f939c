"""Answers of probes in the store, each with the workload that it is about.

An answer about one workload does not hold for another: they are looked up by the workload (the
training function, the command or the factory of steps) or by the campaign that asked.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select

from tunewright.store import plain_json
from tunewright.store.campaigns import key_of
from tunewright.store.database import Database
from tunewright.store.journal import leave
from tunewright.store.schema import probe
from tunewright.store.storable import LONGEST_TEXT, storable


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


def add(
    database: Database,
    name: str,
    workload: str,
    answer: Mapping[str, Any],
    *,
    metric: str = "",
    campaign: str = "",
) -> int:
    """Keep an answer about a workload, asked by the campaign of this name or by nobody; its key."""
    told = plain_json.finite(dict(answer))
    values = {
        "name": name,
        "workload": storable(workload, LONGEST_TEXT),
        "metric": storable(metric),
        "settings": plain_json.dumps(told.get("settings") or {}),
        "answer": plain_json.dumps(told),
        "written": time.time(),
    }
    with database.writing() as connection:
        values["campaign"] = key_of(connection, campaign) if campaign else None
        made = connection.execute(insert(probe).values(values))
        (key,) = made.inserted_primary_key or (0,)
        database.afterwards(lambda: leave(database))
    return int(key)


def read(
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
                row.id,
                row.name,
                row.workload,
                row.metric,
                row.campaign,
                plain_json.loads_object(row.settings, f"probe {row.id} of the store"),
                plain_json.loads_object(row.answer, f"probe {row.id} of the store"),
                datetime.fromtimestamp(row.written, UTC),
            )
            for row in rows
        ]
