"""What was concluded, as files beside the trials: a lost store is rebuilt with its history.

Campaigns and their steps, probes, launches, baselines, evaluations (every look at the test set) and
notes are rows of the store. Once committed, each is also left in the folder of trials, one file
each, whole and with its checksum. What could not be written is written with the next one. A
reference to another row is written by what outlives a store: a round by its name, a trial by its
folder and its place, a campaign by its name, a launch or a probe by the key that its own file has.

Files of version 1 are read too (`store.version_1`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Table, func, insert, select

from tunewright.errors import Damaged, StoreError
from tunewright.store import plain_json, version_1
from tunewright.store.curves import metrics_from, packed_metrics
from tunewright.store.database import Database
from tunewright.store.schema import CONCLUSIONS, campaign, curve, round_table, trial
from tunewright.store.spool import read_checked, write_checked
from tunewright.store.version_1 import Conclusion

FOLDER = "conclusions"  # inside the folder of trials
FORMAT = 2
_ELSEWHERE = "elsewhere"  # the column with places whose trials a store lacks
log = logging.getLogger(__name__)


def leave(database: Database) -> None:
    """Write the files of all that was concluded and has none yet."""
    _leave(database, lambda path, kind, key: not path.exists())


def leave_again(database: Database, kind: str, key: int) -> None:
    """Write the file of a row that has changed."""
    _leave(database, lambda path, *row: row == (kind, key))


def leave_all_again(database: Database) -> None:
    """Write every file anew, after a round has got another name."""
    _leave(database, lambda path, kind, key: True)


def _leave(database: Database, due: Callable[[Path, str, int], bool]) -> None:
    """Write the files of the rows, by their table and key, that are due."""
    try:
        with database.reading() as connection:
            for path, table, key in _files(database, connection):
                if due(path, table.name, key):
                    _write(connection, path, table, key)
    except StoreError as error:  # the store has it: the next one tries again
        log.warning("a conclusion was not written beside the trials: %s", error)


def read(folder: Path) -> tuple[list[Conclusion], list[Path]]:
    """What a folder of trials has, oldest first, and the files that are torn or altered."""
    conclusions, unreadable = [], []
    for path in sorted((folder / FOLDER).glob("*.json")):
        try:
            conclusions.append(_read_file(path))
        except (Damaged, OSError):
            unreadable.append(path)
    return sorted(conclusions, key=lambda conclusion: conclusion.written), unreadable


def restore(
    connection: Connection, conclusions: Iterable[Conclusion], *, measured: bool = True
) -> None:
    """Put conclusions back, by the rounds and trials that the store has.

    With `measured`, the metrics of evaluations join the curves of their trials again.
    """
    keys = _Keys.of(connection)
    ordered = version_1.complete(conclusions)
    for kind, table in CONCLUSIONS.items():
        for conclusion in (each for each in ordered if each.kind == kind):
            row = _row(table, conclusion, keys)
            if row is None:
                continue
            if table is campaign and row["name"] in keys.campaigns:
                _amend(connection, keys.campaigns[row["name"]], row)
                continue
            inserted = connection.execute(insert(table).values(row)).inserted_primary_key
            key = int((inserted or (0,))[0])
            keys.restored[kind, conclusion.key] = key
            if table is campaign:
                keys.campaigns[row["name"]] = key
            if kind == "evaluation" and measured and row["trial"] is not None:
                _add_metrics(connection, row)


def add_batch(connection: Connection, trial_id: int, attempt: int, points: bytes) -> None:
    """Add packed points to an attempt, after those that it has."""
    last = select(func.coalesce(func.max(curve.c.sequence) + 1, 0)).where(
        curve.c.trial == trial_id, curve.c.attempt == attempt
    )
    values = {"trial": trial_id, "attempt": attempt, "points": points}
    values["sequence"] = connection.execute(last).scalar_one()
    connection.execute(insert(curve).values(values))


def place_data(connection: Connection, key: int | None) -> dict[str, Any] | None:
    """A trial's folder, round, number (of its parent, for a repeat) and configuration."""
    if key is None:
        return None
    parent = trial.alias()
    chosen = (
        select(trial.c.folder, trial.c.configuration, round_table.c.name, trial.c.number)
        .add_columns(parent.c.number.label("of"))
        .join(round_table, round_table.c.id == trial.c.round)
        .outerjoin(parent, parent.c.id == trial.c.parent)
        .where(trial.c.id == key)
    )
    row = connection.execute(chosen).first()
    if row is None:
        return None
    settings = plain_json.loads(row.configuration, f"trial {key}") if row.configuration else {}
    number = row.of if row.number is None else row.number
    return {"folder": row.folder, "round": row.name, "trial": number, "configuration": settings}


@dataclass
class _Keys:
    """The keys of what conclusions refer to, by what outlives a store."""

    rounds: dict[str, int]  # by name
    directories: dict[str, int]
    trials: dict[str, int]  # by folder
    places: dict[tuple[str, int], int]  # (round, number)
    campaigns: dict[str, int] = field(default_factory=dict)
    restored: dict[tuple[str, int], int] = field(default_factory=dict)  # (kind, old key)

    @classmethod
    def of(cls, connection: Connection) -> _Keys:
        """Those of a store as it is now."""
        rounds = connection.execute(
            select(round_table.c.id, round_table.c.name, round_table.c.directory)
        ).all()
        names = {row.id: row.name for row in rounds}
        trials = connection.execute(
            select(trial.c.id, trial.c.round, trial.c.number, trial.c.folder)
        ).all()
        campaigns = connection.execute(select(campaign.c.name, campaign.c.id))
        return cls(
            {row.name: row.id for row in rounds},
            {row.directory: row.id for row in rounds},
            {row.folder: row.id for row in trials},
            {(names[t.round], t.number): t.id for t in trials if t.number is not None},
            {row.name: row.id for row in campaigns},
        )

    def find(self, target: str, reference: Any) -> int | None:
        """The key of the row of a table that a reference means; None: this store lacks it."""
        if reference is None:
            return None
        if target == "round":
            by_name = self.rounds.get(reference.get("name", ""))
            return self.directories.get(reference.get("folder", "")) if by_name is None else by_name
        if target == "trial":
            by_folder = self.trials.get(reference.get("folder", ""))
            place = (reference.get("round", ""), reference.get("trial"))
            return self.places.get(place) if by_folder is None else by_folder
        if target == "campaign":
            return self.campaigns.get(reference)
        return self.restored.get((target, reference))


def _target(column: Column[Any]) -> str:
    """The table that a column refers to; empty for none."""
    for key in column.foreign_keys:
        return key.target_fullname.partition(".")[0]
    return ""


def _row(table: Table, conclusion: Conclusion, keys: _Keys) -> dict[str, Any] | None:
    """The row of a conclusion in a store; None where it is about nothing that the store has."""
    row: dict[str, Any] = {"written": conclusion.written}
    elsewhere: dict[str, Any] = {}
    for column in table.columns:
        if column.name in ("id", "written", _ELSEWHERE):
            continue
        value, target = conclusion.row.get(column.name), _target(column)
        if not target:
            row[column.name] = value
            continue
        row[column.name] = keys.find(target, value)
        if row[column.name] is None:
            if not column.nullable:
                return None
            if value is not None and target == "trial":
                elsewhere[column.name] = value
    if _ELSEWHERE in table.columns:
        row[_ELSEWHERE] = plain_json.dumps(elsewhere) if elsewhere else ""
    return row


def _amend(connection: Connection, key: int, row: Mapping[str, Any]) -> None:
    """A later definition of a campaign that was restored already; when it began stays."""
    values = {"definition": row["definition"], "written": row["written"]}
    connection.execute(campaign.update().where(campaign.c.id == key).values(values))


def _add_metrics(connection: Connection, row: Mapping[str, Any]) -> None:
    """The metrics of an evaluation join the curves of its trial again."""
    metrics = plain_json.loads(row["metrics"], "an evaluation of the store")
    points = packed_metrics(row["step"], metrics_from(metrics))
    chosen = select(trial.c.attempt).where(trial.c.id == row["trial"])
    attempt = connection.execute(chosen).scalar_one()
    add_batch(connection, row["trial"], attempt, points)


def _files(database: Database, connection: Connection) -> Iterator[tuple[Path, Table, int]]:
    """Where the file of every conclusion belongs."""
    chosen = select(round_table.c.id, round_table.c.folder).order_by(round_table.c.id)
    folders = {row.id: row.folder for row in connection.execute(chosen)}
    default = database.default_root
    if default is None:  # of a server: where its newest round keeps its trials
        default = next((Path(f) for f in reversed(folders.values()) if f), None)
    for table in CONCLUSIONS.values():
        about = table.c.round if "round" in table.columns else None
        columns = [table.c.id, table.c.written, *([] if about is None else [about])]
        for row in connection.execute(select(*columns).order_by(table.c.id)).all():
            folder = "" if about is None else folders.get(row.round, "")
            root = Path(folder) if folder else default
            if root is not None:
                # by its time alone: in a store that was rebuilt it is the same file
                yield root / FOLDER / f"{table.name}-{row.written:.6f}.json", table, row.id


def _write(connection: Connection, path: Path, table: Table, key: int) -> None:
    row = connection.execute(select(table).where(table.c.id == key)).mappings().one()
    values = {
        column.name: _portable(connection, column, row)
        for column in table.columns
        if column.name not in ("id", "written", _ELSEWHERE)
    }
    content = {
        "format": FORMAT,
        "kind": table.name,
        "key": key,
        "written": row["written"],
        "row": values,
    }
    write_checked(path, content)


def _portable(connection: Connection, column: Column[Any], row: Any) -> Any:
    """The value of a column; a reference by what outlives this store."""
    value, target = row[column.name], _target(column)
    if target == "trial":
        if value is None and row.get(_ELSEWHERE):
            return plain_json.loads(row[_ELSEWHERE], "a place of the store").get(column.name)
        return place_data(connection, value)
    if value is None or not target:
        return value
    if target == "round":
        name = select(round_table.c.name).where(round_table.c.id == value)
        return {"name": connection.execute(name).scalar_one()}
    if target == "campaign":
        name = select(campaign.c.name).where(campaign.c.id == value)
        return connection.execute(name).scalar_one()
    return value


def _read_file(path: Path) -> Conclusion:
    """A conclusion out of its file; Damaged if it is torn, altered or none of ours."""
    data = read_checked(path)
    if "format" not in data:
        return version_1.conclusion(data, path)
    row, kind = data.get("row"), data.get("kind")
    right = (
        data.get("format") == FORMAT
        and isinstance(kind, str)
        and kind in CONCLUSIONS
        and isinstance(data.get("written"), int | float)
        and 0 <= data["written"] < _LATEST
        and isinstance(data.get("key"), int)
        and isinstance(row, dict)
    )
    if right:
        assert isinstance(row, dict) and isinstance(kind, str)
        right = all(_fits(c, row.get(c.name)) for c in CONCLUSIONS[kind].columns if c.name in row)
        needed = {c.name for c in CONCLUSIONS[kind].columns if not (c.nullable or c.primary_key)}
        right &= needed - {"written", _ELSEWHERE} <= {n for n, v in row.items() if v is not None}
    if not right:
        raise Damaged("journal.not_a_conclusion", path=path)
    return Conclusion(str(kind), data["key"], data["written"], dict(row or {}))


def _fits(column: Column[Any], value: Any) -> bool:
    """Whether a value of a file is what its column takes."""
    if value is None:
        return bool(column.nullable)
    target = _target(column)
    if target in ("round", "trial"):
        plain = isinstance(value, dict) and [value.get(name) for name in _PLACES]
        return plain is not False and not any(isinstance(v, list | dict) for v in plain)
    if target == "campaign":
        return isinstance(value, str)
    kind: type = int if target else column.type.python_type
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) >= 2**63):
        return False
    if kind is str and column.name in JSON:
        return isinstance(value, str) and _parses(value)
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)


_PLACES = ("name", "folder", "round", "trial")  # by which a reference is looked up
_LATEST = 1e11  # seconds: no date that Python knows is later
# columns whose text is JSON: a hostile file must not make a row that cannot be read back
JSON = {"definition", "settings", "answer", "reason", "decision", "metrics"}


def _parses(text: str) -> bool:
    try:
        return isinstance(plain_json.loads(text, "a conclusion"), dict)
    except Damaged:
        return False
