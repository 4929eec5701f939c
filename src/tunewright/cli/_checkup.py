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
from typing import Literal

from rich.console import Console

from tunewright.cli._project import ROUNDS, Project, store_address
from tunewright.design.round_file import read_round
from tunewright.errors import NotFound, TunewrightError
from tunewright.execution.command import Command
from tunewright.execution.executors import devices
from tunewright.messages import words
from tunewright.present.terminal.plain_table import cell, table
from tunewright.store import backup
from tunewright.store.address import check_place, file_system, parse
from tunewright.store.database import beside
from tunewright.store.disk_reserve import RESERVE_MB, short_of_space
from tunewright.store.store import Store

CORE = ("numpy", "scipy", "sqlalchemy", "cloudpickle", "safetensors", "typer", "rich")
EXTRAS = {  # extra -> the packages it brings, by their names on the package index
    "torch": ("torch",),
    "frames": ("polars", "pandas", "pyarrow"),
    "plots": ("matplotlib",),
    "ray": ("ray",),
    "postgres": ("psycopg",),
    "demo": ("torch", "scikit-learn"),
}
STYLES = {"ok": "green", "note": "", "bad": "red"}


@dataclass(frozen=True)
class Examined:
    """One thing that was looked at."""

    what: str
    verdict: Literal["ok", "note", "bad"]
    says: str
    remedy: str = ""


def examine(project: Project | None, store: str | None, broken: str = "") -> list[Examined]:
    """What is worth knowing before a round is run; `broken`: why the project cannot be read."""
    found = [*_versions(), *_machine()]
    if broken:
        found.append(Examined("project", "bad", broken, "mend tunewright.toml"))
    elif project is None:
        found.append(Examined("project", "note", "no tunewright.toml here or above", _init()))
    else:
        found += _project(project)
    if not broken:
        found += _store(store)
    return found


def print_checkup(findings: list[Examined], console: Console) -> None:
    """Print one line per finding."""
    made = table("", "what", "found", "remedy")
    for one in findings:
        shown = " ".join(one.says.split())
        style = STYLES[one.verdict]
        made.add_row(cell(one.verdict, style), cell(one.what), cell(shown), cell(one.remedy))
    console.print(made)


def _versions() -> Iterator[Examined]:
    python = f"{platform.python_version()} at {sys.executable}"
    yield Examined("python", "ok", python)
    missing = [name for name in CORE if _version(name) is None]
    shown = "  ".join(f"{name} {_version(name)}" for name in ("tunewright", *CORE))
    remedy = f"pip install {' '.join(missing)}" if missing else ""
    yield Examined("packages", "bad" if missing else "ok", shown, remedy)
    for extra, packages in EXTRAS.items():
        absent = [name for name in packages if _version(name) is None]
        if absent:
            remedy = f"pip install 'tunewright[{extra}]'"
            yield Examined(f"extra {extra}", "note", f"without {', '.join(absent)}", remedy)
        else:
            shown = "  ".join(f"{name} {_version(name)}" for name in packages)
            yield Examined(f"extra {extra}", "ok", shown)


def _machine() -> Iterator[Examined]:
    names = devices.found()
    shown = f"CUDA {', '.join(names)}" if names else "no CUDA device"
    yield Examined("devices", "ok", f"{shown}, {words.count(devices.cores(), 'core')}")


def _project(project: Project) -> Iterator[Examined]:
    try:
        with project.entered():
            workload = project.workload()
    except TunewrightError as error:
        yield Examined("workload", "bad", str(error), f"mend it in {project.folder}")
    else:
        yield Examined("workload", "ok", f"{workload.name}, {workload.objective}")
        if isinstance(workload.train, Command) and not workload.train.words[0].fields:
            program = workload.train.words[0].texts[0]
            with project.entered():
                where = shutil.which(program)
            if where is None:
                yield Examined("program", "bad", f"{program} is not on the PATH")
    for path in sorted((project.folder / ROUNDS).glob("*.toml")):
        try:
            read_round(path)
        except TunewrightError as error:
            yield Examined(f"round {path.stem}", "note", str(error), f"edit {path}")


def _store(store: str | None) -> Iterator[Examined]:
    try:
        named = store_address(store)
        address = parse(named)
    except TunewrightError as error:
        yield Examined("store", "note", str(error))
        return
    if address.path is not None:
        yield from _place(address.path)
    try:
        with Store.open(named, create=False) as opened:
            rounds = opened.rounds()
    except NotFound:
        yield Examined("store", "note", f"{address.shown} is not there yet", "tunewright run ROUND")
        return
    except TunewrightError as error:
        yield Examined("store", "bad", str(error), "tunewright restore")
        return
    trials = sum(sum(record.counts.values()) for record in rounds)
    shown = f"{words.count(len(rounds), 'round')}, {words.count(trials, 'trial')}"
    yield Examined("store", "ok", f"{address.shown} is whole: {shown}")
    if address.path is not None:
        newest = backup.newest(address.path)
        if newest is None:
            yield Examined("backup", "note", "none yet", "tunewright backup")
        else:
            age = words.duration(max(0.0, time.time() - newest.stat().st_mtime))
            yield Examined("backup", "ok", f"{newest.name}, {age} old")


def _place(path: Path) -> Iterator[Examined]:
    """The folder of a SQLite store: its file system, its locks, its free space."""
    folder = path.parent
    if not folder.is_dir():
        return
    try:
        check_place(path)
    except TunewrightError as error:
        yield Examined("folder", "bad", str(error))
        return
    kind = file_system(folder) or "unknown file system"
    try:
        hold = _locks_hold(beside(path, f".doctor-{os.getpid()}"))
    except OSError as error:
        yield Examined("locks", "bad", f"{folder}: {error}", "put the store on a local disk")
    else:
        verdict: Literal["ok", "bad"] = "ok" if hold else "bad"
        says = "hold" if hold else "are granted twice"
        yield Examined("locks", verdict, f"{says} in {folder} ({kind})")
    lacking = short_of_space(folder)
    free_gb = shutil.disk_usage(folder).free / 2**30
    if lacking:
        yield Examined("disk", "bad", lacking, "free some space")
    else:
        yield Examined("disk", "ok", f"{free_gb:.1f} GB free, {RESERVE_MB} MB of it in reserve")


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


def _init() -> str:
    return 'tunewright init "python train.py --lr={learning_rate}" --minimize valid_error'
