"""Takes this machine out of a store of version 0.1: its paths, its names, its clock, its luck.

What differs from one making to the next becomes a function of the order in which it was written:
times, durations, the random letters of folders. Paths become those of nobody's home. The store ends
as one file without neighbours.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

BEGINNING = 1_767_600_000.0  # seconds since 1970 of the first thing that was written
IDENTITY = hashlib.md5(b"golden version 1").hexdigest()  # of the store, as wide as a real one
HOME = "/home/user"
TIMES = {
    "round": ("created",),
    "attempt": ("began", "ended"),
    "snapshot": ("saved",),
    "worker": ("registered", "retired"),
    **{name: ("written",) for name in ("note", "probe", "finding", "launch", "baseline")},
}
WITH_SNAPSHOTS = 3  # trials of the round `optimizer` that keep theirs: those that were evaluated
CHANGED_FROM = 6  # the trial of `rate` from which on its code was another
LEFT_OVER = ("log*.txt", "evaluation", "config.json")


def neutralise(folder: Path, store: str) -> None:
    """Make the store of a project the same wherever and whenever it is made."""
    root = folder / f"{store}.trials"
    with closing(sqlite3.connect(folder / store)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        _settle_times(database, _clock(database))
        _settle_directories(database, root)
        _settle_machine(database)
        _settle_provenance(database)
        _replace_paths(database, folder)
        _drop_files(database, root)
        _settle_files(database, root, folder)
        database.commit()
    _leave_conclusions(folder / store, root)
    with closing(sqlite3.connect(folder / store)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("VACUUM")
    for ending in ("-wal", "-shm", ".lock"):
        (folder / f"{store}{ending}").unlink(missing_ok=True)
    shutil.rmtree(folder / f"{store}.backups", ignore_errors=True)


def _clock(database: sqlite3.Connection) -> Mapping[float, float]:
    """Every time of the store -> one second after the one before it."""
    found: set[float] = set()
    for table, columns in TIMES.items():
        for column in columns:
            rows = database.execute(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL")
            found |= {float(value) for (value,) in rows}
    return {then: BEGINNING + place for place, then in enumerate(sorted(found))}


def _settle_times(database: sqlite3.Connection, clock: Mapping[float, float]) -> None:
    database.create_function("settled", 1, lambda then: None if then is None else clock[then])
    for table, columns in TIMES.items():
        for column in columns:
            database.execute(f"UPDATE {table} SET {column} = settled({column})")
    database.create_function("took", 2, lambda key, n: 0.25 + 0.01 * ((7 * key + n) % 10))
    database.execute("UPDATE attempt SET seconds = took(trial, n) WHERE seconds > 0")
    total = "SELECT SUM(seconds) FROM attempt WHERE attempt.trial = trial.id"
    database.execute(f"UPDATE trial SET seconds = COALESCE(({total}), 0)")
    database.create_function("held", 1, _held)
    database.execute("UPDATE trial SET peak_memory_mb = held(peak_memory_mb)")
    database.execute("UPDATE worker SET beaten = registered")


def _held(megabytes: float | None) -> float | None:
    """Memory as the same number every time: of a usual trial, or of the one that is too large."""
    return None if megabytes is None else 40.0 if megabytes < 100 else 650.0


def _settle_directories(database: sqlite3.Connection, root: Path) -> None:
    """The random letters of a round's folder become those of its name."""
    rounds = database.execute("SELECT id, name, directory FROM round").fetchall()
    for key, name, directory in rounds:
        new = f"r{key}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
        database.execute("UPDATE round SET directory = ? WHERE id = ?", (new, key))
        database.execute(
            "UPDATE trial SET folder = ? || substr(folder, ?) WHERE round = ?",
            (new, len(directory) + 1, key),
        )
        if (root / directory).exists():
            (root / directory).rename(root / new)
    database.execute("UPDATE about SET value = ? WHERE key = 'identity'", (IDENTITY,))
    (root / "store.json").write_text(json.dumps({"store": IDENTITY}))


def _settle_machine(database: sqlite3.Connection) -> None:
    database.execute(
        "UPDATE worker SET host = 'host', boot = '', pid = 1000 + id, started = '', beat = 0"
    )
    database.execute("UPDATE attempt SET place = 'host pid ' || (1000 + worker) WHERE place != ''")
    for key, payload in database.execute("SELECT id, payload FROM launch").fetchall():
        told = {**json.loads(payload), "who": "user@host", "commit": "a" * 40}
        database.execute("UPDATE launch SET payload = ? WHERE id = ?", (_compact(told), key))


def _settle_provenance(database: sqlite3.Connection) -> None:
    """All trials come from one commit, but some of `rate` from another, with changes."""
    one = {
        "command": "tunewright run",
        "folder": f"{HOME}/project",
        "commit": "a" * 40,
        "diff": "",
        "diff_sha256": "",
        "untracked": [],
        "packages": {"tunewright": "0.1.0.dev0", "numpy": "2.4.6", "scipy": "1.17.1"},
        "python": "3.11.7",
        "host": "host",
        "system": "Linux",
        "devices": [],
    }
    diff = "-BEST_RATE = 0.2\n+BEST_RATE = 0.1\n"
    other = {**one, "commit": "b" * 40, "diff": diff, "untracked": ["notes.txt"]}
    other["diff_sha256"] = hashlib.sha256(diff.encode()).hexdigest()
    database.execute("UPDATE attempt SET provenance = 1 WHERE provenance IS NOT NULL")
    database.execute("DELETE FROM provenance")
    for key, told in enumerate((one, other), 1):
        payload = _compact(told)
        row = (key, hashlib.sha256(payload.encode()).hexdigest(), payload)
        database.execute("INSERT INTO provenance (id, sha256, payload) VALUES (?, ?, ?)", row)
    changed = "SELECT t.id FROM trial t JOIN round r ON r.id = t.round WHERE r.name = 'rate'"
    database.execute(
        f"UPDATE attempt SET provenance = 2 WHERE trial IN ({changed} AND t.number >= ?)",
        (CHANGED_FROM,),
    )


def _without_paths(folder: Path) -> Callable[[str], str]:
    """Text in which the paths of this machine are those of nobody's home, and memory is alike."""
    import tunewright

    places = {
        str(folder.resolve()): f"{HOME}/project",
        str(folder): f"{HOME}/project",
        str(Path(tunewright.__file__).parents[1]): f"{HOME}/tunewright/src",
        sys.prefix: f"{HOME}/venv",
        sys.base_prefix: f"{HOME}/python",
    }

    def replaced(text: str) -> str:
        for path, instead in places.items():
            text = text.replace(path, instead)
        return re.sub(r"it took [0-9.]+ GB", "it took 0.65 GB", text)

    return replaced


def _replace_paths(database: sqlite3.Connection, folder: Path) -> None:
    database.create_function("replaced", 1, _without_paths(folder))
    tables = [n for (n,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        for _, column, kind, *_ in database.execute(f"PRAGMA table_info('{table}')").fetchall():
            if kind == "TEXT":
                database.execute(
                    f'UPDATE "{table}" SET "{column}" = replaced("{column}") '
                    f'WHERE "{column}" IS NOT NULL AND "{column}" != replaced("{column}")'
                )


def _drop_files(database: sqlite3.Connection, root: Path) -> None:
    """Remove what no command needs: logs, and the snapshots of all but a few trials."""
    evaluated = database.execute("SELECT payload FROM finding WHERE payload LIKE '%evaluation%'")
    keys = [json.loads(payload)["trial"] for (payload,) in evaluated][:WITH_SNAPSHOTS]
    kept = {
        folder for key, folder in database.execute("SELECT id, folder FROM trial") if key in keys
    }
    for place in [*root.glob("r*/t*")]:
        for pattern in LEFT_OVER:
            for path in place.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        pending = f"{place.parent.name}/{place.name}" in kept or _is_pending(place)
        if not pending and (place / "snapshots").exists():
            shutil.rmtree(place / "snapshots")
    shutil.rmtree(root / "conclusions", ignore_errors=True)


def _is_pending(place: Path) -> bool:
    results = sorted(place.glob("result.*.json"))
    return bool(results) and '"status": "pending"' in results[-1].read_text()


def _settle_files(database: sqlite3.Connection, root: Path, folder: Path) -> None:
    """Give the files of the trial folders the times and paths of the store."""
    from tunewright.record.spool import read_checked, write_checked

    replaced = _without_paths(folder)
    created = dict(database.execute("SELECT directory, created FROM round").fetchall())
    for path in root.glob("r*/round.json"):
        write_checked(path, {**read_checked(path), "created": created[path.parent.name]})
    seconds = {(t, n): s for t, n, s in database.execute("SELECT trial, n, seconds FROM attempt")}
    for path in root.glob("r*/t*/result.*.json"):
        told = json.loads(replaced(json.dumps(read_checked(path))))
        told["seconds"] = seconds[told["trial"], told["attempt"]]
        told["peak_memory_mb"] = _held(told["peak_memory_mb"])
        write_checked(path, told)
    for path in root.glob("r*/t*/snapshots/*/manifest.json"):
        written = re.sub(r'"created": "[^"]*"', '"created": "2026-01-05"', path.read_text())
        path.write_text(written)
        place = path.parents[2].relative_to(root).as_posix()
        database.execute(
            "UPDATE snapshot SET sha256 = ? WHERE path = ? AND trial IN "
            "(SELECT id FROM trial WHERE folder = ?)",
            (
                hashlib.sha256(written.encode()).hexdigest(),
                path.parent.relative_to(path.parents[2]).as_posix(),
                place,
            ),
        )


def _leave_conclusions(store: Path, root: Path) -> None:
    """Let version 0.1 write the files of launches, evaluations, probes and notes again."""
    from tunewright.record import conclusions
    from tunewright.record.address import parse
    from tunewright.record.database import Database

    database = Database(parse(str(store)))
    try:
        conclusions.leave(database)
    finally:
        database.close()
    if not any((root / "conclusions").glob("*.json")):
        raise SystemExit("no conclusions were written beside the trials")


def _compact(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))
