"""Is everything in order here? What `tunewright doctor` examines, one finding each."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from tunewright.actions import Action, Advise
from tunewright.design.round_file import read_round
from tunewright.errors import NotFound, TunewrightError
from tunewright.execution.command import Command
from tunewright.execution.executors import devices
from tunewright.messages import Message
from tunewright.project._project import ROUNDS, Project, find, store_address
from tunewright.remedies import BackUp, FirstRun, InitProject, Restore, use
from tunewright.store import backup
from tunewright.store.address import check_place, file_system, parse
from tunewright.store.database import RESERVE_MB, beside, short_of_space
from tunewright.store.store import Store

_CORE = ("numpy", "scipy", "sqlalchemy", "cloudpickle", "safetensors", "typer", "rich")
_EXTRAS = {  # extra -> the packages it brings, by their names on the package index
    "torch": ("torch",),
    "frames": ("polars", "pandas", "pyarrow"),
    "plots": ("matplotlib",),
    "ray": ("ray",),
    "postgres": ("psycopg",),
    "demo": ("torch", "scikit-learn"),
}
_FAULTS_SHOWN = 5
Verdict = Literal["ok", "note", "bad"]


@dataclass(frozen=True)
class Examined:
    """One thing that was looked at: what was found, and what to do about it."""

    what: str  # what was examined
    verdict: Verdict  # ok, note or bad
    found: Message  # what was found
    remedy: Action | None = None  # what to do about it


def doctor(
    store: str | None = None, folder: Path | str | None = None, *, deep: bool = False
) -> list[Examined]:
    """Examine versions, extras, the project of a folder, its store, locks, space and devices.

    Every checksum of the store is verified.

    Args:
        store: its path or address; None: the project's.
        folder: the project's; None: the working folder, or one above it.
        deep: compare the trials with the files in their trial folders as well.
    """
    examined = [*_versions(), *_machine()]
    try:
        project = find(folder)
    except Exception as error:  # a broken file is a finding here, not the end
        return [*examined, Examined("project", "bad", _problem(error), Advise("fix_project_file"))]
    if project is None:
        examined.append(Examined("project", "note", Message("doctor.no_project"), InitProject()))
    else:
        examined += _project(project)
    return [*examined, *_store(store or (None if project is None else project.store()), deep)]


def _message(code: str, **facts: Any) -> Message:
    return Message(f"doctor.{code}", facts)


def _problem(error: Exception) -> Message:
    return _message("problem", text=str(error))


def _versions() -> Iterator[Examined]:
    version = platform.python_version()
    yield Examined("python", "ok", _message("python", version=version, at=sys.executable))
    missing = [name for name in _CORE if _version(name) is None]
    known = {name: _version(name) for name in ("tunewright", *_CORE)}
    remedy = use("pip", "install", *missing) if missing else None
    verdict: Verdict = "bad" if missing else "ok"
    yield Examined("packages", verdict, _message("packages", versions=known), remedy)
    for extra, packages in _EXTRAS.items():
        absent = [name for name in packages if _version(name) is None]
        if absent:
            remedy = use("pip", "install", f"tunewright[{extra}]")
            yield Examined(f"extra {extra}", "note", _message("absent", packages=absent), remedy)
        else:
            known = {name: _version(name) for name in packages}
            yield Examined(f"extra {extra}", "ok", _message("packages", versions=known))


def _machine() -> Iterator[Examined]:
    facts = {"cuda": devices.visible_devices(), "cores": devices.cores()}
    yield Examined("devices", "ok", _message("devices", **facts))


def _project(project: Project) -> Iterator[Examined]:
    try:
        with project.entered():
            workload = project.workload()
    except TunewrightError as error:
        yield Examined(
            "workload", "bad", _problem(error), Advise("fix_in", {"folder": str(project.folder)})
        )
    else:
        facts = {"name": workload.name, "objective": str(workload.objective)}
        yield Examined("workload", "ok", _message("workload", **facts))
        if isinstance(workload.train, Command) and not workload.train.words[0].fields:
            program = workload.train.words[0].texts[0]
            with project.entered():
                where = shutil.which(program)
            if where is None:
                missing = Message("project.program_missing", {"program": program})
                yield Examined("program", "bad", missing)
    for path in sorted((project.folder / ROUNDS).glob("*.toml")):
        try:
            read_round(path)
        except TunewrightError as error:
            yield Examined(
                f"round {path.stem}",
                "note",
                _problem(error),
                Advise("edit_file", {"path": str(path)}),
            )


def _store(store: str | None, deep: bool) -> Iterator[Examined]:
    try:
        named = store_address(store)
        address = parse(named)
    except TunewrightError as error:
        yield Examined("store", "note", _problem(error))
        return
    if address.path is not None:
        yield from _place(address.path)
    try:
        with Store.open(named, create=False) as opened:
            rounds = opened.rounds()
            faults = opened.faults(folders=deep)
    except NotFound:
        missing = _message("no_store", store=address.masked)
        yield Examined("store", "note", missing, FirstRun())
        return
    except TunewrightError as error:
        yield Examined("store", "bad", _problem(error), Restore())
        return
    trials = sum(sum(record.counts.values()) for record in rounds)
    if faults:
        examples = [{"where": fault.where, "what": fault.what} for fault in faults[:_FAULTS_SHOWN]]
        damaged = _message("damaged", store=address.masked, count=len(faults), faults=examples)
        saved = address.path is not None and backup.newest(address.path) is not None
        yield Examined("store", "bad", damaged, Restore(rebuild=not saved))
        return
    whole = _message("store", store=address.masked, rounds=len(rounds), trials=trials)
    yield Examined("store", "ok", whole)
    if address.path is not None:
        newest = backup.newest(address.path)
        if newest is None:
            yield Examined("backup", "note", _message("no_backup"), BackUp())
        else:
            age = max(0.0, time.time() - newest.stat().st_mtime)
            yield Examined("backup", "ok", _message("backup", name=newest.name, seconds=age))


def _place(path: Path) -> Iterator[Examined]:
    """The folder of a SQLite store: its file system, its locks, its free space."""
    folder = path.parent
    if not folder.is_dir():
        return
    try:
        check_place(path)
    except TunewrightError as error:
        yield Examined("folder", "bad", _problem(error))
        return
    kind = file_system(folder) or None
    try:
        hold = _locks_hold(beside(path, f".doctor-{os.getpid()}"))
    except OSError as error:
        failed = _message("no_locks", folder=str(folder), error=str(error))
        yield Examined("locks", "bad", failed, Advise("use_local_disk"))
    else:
        locks = _message("locks", hold=hold, folder=str(folder), file_system=kind)
        yield Examined("locks", "ok" if hold else "bad", locks)
    free_gb = shutil.disk_usage(folder).free / 2**30
    if lacking := short_of_space(folder):
        yield Examined("disk", "bad", _message("problem", text=lacking), Advise("free_space"))
    else:
        yield Examined("disk", "ok", _message("disk", free_gb=free_gb, reserve_mb=RESERVE_MB))


def _locks_hold(path: Path) -> bool:
    """Whether a lock on a file keeps a second one out; True where the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        with path.open("w") as first, path.open("w") as second:
            fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False
    finally:
        path.unlink(missing_ok=True)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
