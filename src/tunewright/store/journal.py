"""What was concluded, as files beside the trials: a lost store is made again with its history.

Launches, baselines, campaigns, evaluations (every look at the test set), probes and people's notes
are rows of the store. Once committed, each is also left in the folder of trials, one file each,
whole and with its checksum. What could not be written is written with the next one. Rounds and
trials are named there by their folders, since a store that is made again numbers them anew.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select

from tunewright.errors import Damaged, StoreError
from tunewright.store import plain_json
from tunewright.store.curves import pack
from tunewright.store.database import Database, beside
from tunewright.store.schema import curve, documents, note, round_table, trial
from tunewright.store.spool import read_checked, write_checked

FOLDER = "conclusions"  # inside the folder of trials
NOTE = "note"
EVALUATION = "evaluation"  # the payload's kind of those that name a trial
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Conclusion:
    """One document or note, as its file has it."""

    kind: str  # the table it belongs to
    key: int  # in the store that wrote it
    written: float
    round: str | None  # the folder of its round
    trial: str | None  # the folder of the trial that was evaluated
    payload: Mapping[str, Any]


def leave(database: Database) -> None:
    """Write the files of all that was concluded and has none yet."""
    try:
        for path, one in _missing(database):
            write_checked(path, vars(one))
    except StoreError as error:  # the store has it: the next one tries again
        log.warning("a conclusion was not written beside the trials: %s", error)


def read(folder: Path) -> tuple[list[Conclusion], list[Path]]:
    """What a folder of trials has, oldest first, and the files that are torn or altered."""
    found, unreadable = [], []
    for path in sorted((folder / FOLDER).glob("*.json")):
        try:
            found.append(_checked(path))
        except (Damaged, OSError):
            unreadable.append(path)
    return sorted(found, key=lambda one: one.written), unreadable


def restore(
    database: Database,
    connection: Connection,
    found: list[Conclusion],
    rounds: Mapping[str, int],
    trials: Mapping[str, int],
) -> None:
    """Put conclusions back; `rounds` and `trials` are the new keys by folder."""
    launches: dict[int, int] = {}  # old key -> new: a baseline names the launch that made it
    for one in found:
        payload, round_id = dict(one.payload), rounds.get(one.round or "")
        if one.kind == NOTE:
            if round_id is not None:
                row = {"round": round_id, "written": one.written, "text": payload["text"]}
                connection.execute(insert(note).values(row))
            continue
        if payload.get("kind") == EVALUATION:
            payload["trial"] = trials.get(one.trial or "", 0)
            if payload["trial"]:
                _measured(database, connection, payload)
        if one.kind == "baseline":
            payload["launch"] = launches.get(payload.get("launch", 0), 0)
        values = {
            "round": round_id,
            "written": one.written,
            "payload": plain_json.dumps(payload),
        }
        made = connection.execute(insert(documents[one.kind]).values(values))
        if one.kind == "launch":
            launches[one.key] = int((made.inserted_primary_key or (0,))[0])


def _measured(database: Database, connection: Connection, payload: Mapping[str, Any]) -> None:
    """The metrics of an evaluation join the curves of its trial again."""
    metrics = {n: float("nan") if v is None else v for n, v in payload["metrics"].items()}
    points = pack({name: ([payload["step"]], [value]) for name, value in metrics.items()})
    attempt = connection.execute(
        select(trial.c.attempt).where(trial.c.id == payload["trial"])
    ).scalar_one()
    last = select(func.coalesce(func.max(curve.c.sequence) + 1, 0)).where(
        curve.c.trial == payload["trial"], curve.c.attempt == attempt
    )
    row = {
        "trial": payload["trial"],
        "attempt": attempt,
        "sequence": connection.execute(last).scalar_one(),
        "points": points,
        "revision": database.revision(),
    }
    connection.execute(insert(curve).values(row))


def _missing(database: Database) -> Iterator[tuple[Path, Conclusion]]:
    """Every document and note of the store that has no file, with the path for it."""
    with database.reading() as connection:
        chosen = select(round_table.c.id, round_table.c.directory, round_table.c.folder)
        rounds = {row.id: row for row in connection.execute(chosen.order_by(round_table.c.id))}
        own = database.address.path
        default = None if own is None else beside(own, ".trials")
        if default is None:  # of a server: where its newest round keeps its trials
            default = next((Path(r.folder) for r in reversed(rounds.values()) if r.folder), None)
        for kind, table in {**documents, NOTE: note}.items():
            all_of = select(table.c.id, table.c.round, table.c.written).order_by(table.c.id)
            for row in connection.execute(all_of).all():
                about = rounds.get(row.round)
                root = Path(about.folder) if about is not None and about.folder else default
                if root is None:
                    continue
                # by its time alone: in a store that was made again it is the same file
                path = root / FOLDER / f"{kind}-{row.written:.6f}.json"
                if not path.exists():
                    directory = None if about is None else about.directory
                    whole = connection.execute(select(table).where(table.c.id == row.id)).one()
                    yield path, _conclusion(connection, kind, table, whole, directory)


def _conclusion(
    connection: Connection, kind: str, table: Table, row: Any, directory: str | None
) -> Conclusion:
    if table is note:
        return Conclusion(kind, row.id, row.written, directory, None, {"text": row.text})
    payload = plain_json.loads(row.payload, f"{kind} {row.id} of the store")
    place = None
    if payload.get("kind") == EVALUATION:
        chosen = select(trial.c.folder).where(trial.c.id == payload["trial"])
        place = connection.execute(chosen).scalar_one_or_none()
    return Conclusion(kind, row.id, row.written, directory, place, payload)


def _checked(path: Path) -> Conclusion:
    """A conclusion out of its file; Damaged if it is torn, altered or none of ours."""
    try:
        one = Conclusion(**read_checked(path))
    except TypeError as error:
        raise Damaged(f"{path}: not a conclusion ({error}).") from None
    right = (
        one.kind in (*documents, NOTE)
        and isinstance(one.written, int | float)
        and isinstance(one.key, int)
        and isinstance(one.payload, dict)
        and (one.kind != NOTE or isinstance(one.payload.get("text"), str))
        and all(name is None or isinstance(name, str) for name in (one.round, one.trial))
    )
    if right and one.payload.get("kind") == EVALUATION:
        metrics = one.payload.get("metrics")
        right = (
            isinstance(one.payload.get("step"), int)
            and isinstance(metrics, dict)
            and all(v is None or isinstance(v, int | float) for v in metrics.values())
        )
    if not right:
        raise Damaged(f"{path}: not a conclusion of ours.")
    return one
