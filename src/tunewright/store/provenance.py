"""Where a trial comes from: command, code, versions, machine, and the values it applied.

Many attempts share one provenance, which may hold a long diff, and each trial uses other values. So
the values have a separate row in the same table: `{"of": checksum, "applied": {...}}`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from tunewright.errors import Damaged
from tunewright.store import plain_json
from tunewright.store.address import mask, mask_words, without_secrets
from tunewright.store.database import Database, insert_new
from tunewright.store.plain_json import storable
from tunewright.store.schema import attempt, provenance as table, trial
from tunewright.store.trial import Claim

_BEGINS = '{"of":'  # the payload of such a row; that of a shared one begins with its command
_own_attempt = (
    attempt.c.trial == bindparam("own_trial"),
    attempt.c.n == bindparam("own_attempt"),
    attempt.c.worker == bindparam("own_worker"),
)
_CURRENT = (
    select(table.c.sha256, table.c.payload)
    .join(attempt, attempt.c.provenance == table.c.id)
    .where(*_own_attempt)
)
_POINT = update(attempt).where(*_own_attempt).values(provenance=bindparam("key"))
_APPLIED = (
    select(attempt.c.trial, table.c.payload)
    .join(table, attempt.c.provenance == table.c.id)
    .where(table.c.payload.startswith(_BEGINS, autoescape=True))
    .order_by(attempt.c.n)
)
_OF_TRIAL = _APPLIED.where(attempt.c.trial == bindparam("of_trial"))
_OF_ROUND = _APPLIED.join(trial, trial.c.id == attempt.c.trial).where(
    trial.c.round == bindparam("of_round")
)
EVAL_EVERY, DEVICES_PER_TRIAL = "eval_every", "devices_per_trial"  # names of settings
LONGEST_DIFF = 200_000  # characters of uncommitted changes that are kept
_GPUS = Path("/proc/driver/nvidia/gpus")
_PATIENCE_S = 10.0  # for git, which may be slow on a large tree
_PACKAGES = ("tunewright", "numpy", "scipy", "torch", "jax", "tensorflow", "scikit-learn", "ray")

# neither a configured program for differences nor one that turns files into text is started
_DIFF = ("diff", "HEAD", "--no-color", "--no-ext-diff", "--no-textconv")
_KNOWN = select(table.c.id).where(table.c.sha256 == bindparam("sum"))
_POINTERS = (
    select(attempt.c.trial, attempt.c.provenance)
    .join(trial, trial.c.id == attempt.c.trial)
    .where(trial.c.round == bindparam("of_round"), attempt.c.provenance.is_not(None))
    .order_by(attempt.c.trial, attempt.c.n)
)


def keep_applied(database: Database, claim: Claim, values: Mapping[str, Any]) -> None:
    """Keep what an attempt's program reports; `values` are all so far and replace earlier ones."""
    with database.writing(durable=False) as connection:
        now = connection.execute(_CURRENT, _key_of(claim)).first()
        shared = None if now is None else _shared_by(now.payload) or now.sha256
        payload = plain_json.dumps({"of": shared, "applied": dict(values)})
        checksum = hashlib.sha256(payload.encode()).hexdigest()
        key = _keep(database, connection, checksum, payload)
        connection.execute(_POINT, {**_key_of(claim), "key": key})


def _key_of(claim: Claim) -> dict[str, int]:
    return {"own_trial": claim.trial, "own_attempt": claim.attempt, "own_worker": claim.worker}


def _keep(database: Database, connection: Connection, checksum: str, payload: str) -> int:
    """Keep a payload, unless an equal one is there; its key."""
    row = {"sha256": checksum, "payload": payload}
    connection.execute(insert_new(table, database.sqlite), row)
    return int(connection.execute(_KNOWN, {"sum": checksum}).scalar_one())


def of_round(connection: Connection, round_id: int) -> dict[int, dict[str, Any]]:
    """What the newest reporting attempt of each trial used, by the trial's key."""
    return _read(connection.execute(_OF_ROUND, {"of_round": round_id}))


def values_applied(connection: Connection, key: int) -> dict[str, Any] | None:
    """What the newest reporting attempt of one trial used; None: none reported anything."""
    return _read(connection.execute(_OF_TRIAL, {"of_trial": key})).get(key)


def _shared_by(payload: str) -> str | None:
    """The checksum of the shared provenance that a row refers to; None: it is one itself."""
    if not payload.startswith(_BEGINS):
        return None
    checksum = plain_json.loads_object(payload, "the applied values of a trial").get("of")
    return checksum if isinstance(checksum, str) else None


def shared(connection: Connection, payloads: Iterable[str]) -> dict[str, str]:
    """The payload of the shared provenance behind each of these payloads that has one."""
    given = {payload: _shared_by(payload) for payload in payloads}
    wanted = sorted({checksum for checksum in given.values() if checksum})
    chosen = select(table.c.sha256, table.c.payload).where(table.c.sha256.in_(wanted))
    known = {sha: text for sha, text in connection.execute(chosen)} if wanted else {}
    themselves = {payload: payload for payload in given if not payload.startswith(_BEGINS)}
    return themselves | {payload: known[sha] for payload, sha in given.items() if sha in known}


def _read(rows: Iterable[Any]) -> dict[int, dict[str, Any]]:
    with plain_json.as_written("the applied values of a trial"):
        return {
            key: dict(plain_json.loads_object(payload, "applied values")["applied"])
            for key, payload in rows
        }


@dataclass(frozen=True)
class Provenance:
    """What was run, from which code, with which packages, where."""

    command: str  # the command line of the process that ran the round
    folder: str  # its working directory
    commit: str = ""  # of the git repository there; empty without one
    diff: str = ""  # uncommitted changes, head and tail kept when long
    diff_sha256: str = ""  # of the whole diff, so that two can be compared when they were cut
    left_out: tuple[str, ...] = ()  # changed files that look secret, which the diff leaves out
    untracked: tuple[str, ...] = ()  # files git does not know, which the diff cannot show
    packages: Mapping[str, str] = field(default_factory=dict)  # name -> version
    python: str = ""
    host: str = ""
    system: str = ""
    devices: tuple[str, ...] = ()  # names of the GPUs that the process sees; empty: not known
    # the program's own files, tracked or not -> a hash; empty: not known
    sources: Mapping[str, str] = field(default_factory=dict)
    # what it was trained with beside configuration and seed; a name that is absent is not known
    settings: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def payload(self) -> str:
        """It as JSON; written once, however many attempts share it."""
        return plain_json.dumps(asdict(self))

    @cached_property
    def sha256(self) -> str:
        """The checksum by which the store finds an equal one."""
        return hashlib.sha256(self.payload.encode()).hexdigest()

    @property
    def program(self) -> str:
        """One hash of the program's own files; empty when they are not known."""
        return digest(self.sources)


def digest(sources: Mapping[str, str]) -> str:
    """One hash of a program's files; empty for none.

    >>> digest({}), len(digest({"train.py": "ab"}))
    ('', 64)
    """
    lines = "\n".join(f"{name} {checksum}" for name, checksum in sorted(sources.items()))
    return hashlib.sha256(lines.encode("utf-8", "backslashreplace")).hexdigest() if lines else ""


def files_between_commits(folder: str, first: str, second: str) -> tuple[str, ...] | None:
    """The files that differ between two commits, from the root; None: git cannot tell."""
    if not Path(folder).is_dir():
        return None
    names = _git(Path(folder), "diff", "--name-only", "--no-renames", "-z", first, second, "--")
    return None if names is None else tuple(name for name in names.split("\0") if name)


def prefix_of(folder: str) -> str:
    """Where a folder lies in its git repository: "" at the root, "work/" below."""
    prefix = _git(Path(folder), "rev-parse", "--show-prefix") if Path(folder).is_dir() else None
    return (prefix or "").strip()


def capture(
    folder: Path | None = None,
    sources: Mapping[str, str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Provenance:
    """The provenance of what this process runs now."""
    here = Path.cwd() if folder is None else folder
    changes = _changes(here)
    diff = mask(_git(here, *_DIFF, "--", *without_secrets()) or "")
    others = (_git(here, "ls-files", "--others", "--exclude-standard") or "").splitlines()
    return Provenance(
        command=storable(shlex.join(mask_words(sys.orig_argv))),
        folder=str(here),
        commit=(_git(here, "rev-parse", "HEAD") or "").strip(),
        diff=storable(diff, LONGEST_DIFF),
        diff_sha256=hashlib.sha256(diff.encode("utf-8", "backslashreplace")).hexdigest()
        if diff
        else "",
        left_out=tuple(storable(name) for name in changes[:100]),
        untracked=tuple(storable(name) for name in others[:100]),
        packages=_versions(),
        python=platform.python_version(),
        host=socket.gethostname(),
        system=platform.platform(),
        devices=gpu_names(),
        sources=dict(sources or {}),
        settings=dict(settings or {}),
    )


def add(database: Database, claim: Claim, provenance: Provenance) -> None:
    """Keep the provenance of an attempt; equal ones are stored once."""
    with database.writing(durable=False) as connection:
        key = connection.execute(_KNOWN, {"sum": provenance.sha256}).scalar()
        if key is None:
            key = _keep(database, connection, provenance.sha256, provenance.payload)
        connection.execute(_POINT, {**_key_of(claim), "key": key})


def of_trial(database: Database, trial: int) -> Provenance | None:
    """The provenance of a trial's newest attempt that has one."""
    newest = (
        select(table.c.payload)
        .join(attempt, attempt.c.provenance == table.c.id)
        .where(attempt.c.trial == trial)
        .order_by(attempt.c.n.desc())
    )
    with database.reading() as connection:
        payload = connection.execute(newest).scalars().first()
        shared_payload = None if payload is None else shared(connection, [payload]).get(payload)
    return None if shared_payload is None else from_payload(shared_payload)


def from_payload(payload: str) -> Provenance:
    """The provenance that was written as this JSON."""
    stored = plain_json.loads(payload, "a provenance of the store")
    if not isinstance(stored, dict):
        raise Damaged("provenance.altered")
    data: dict[str, Any] = {
        name: tuple(item) if isinstance(item, list) else item for name, item in stored.items()
    }
    known = {name: item for name, item in data.items() if name in Provenance.__dataclass_fields__}
    try:
        return Provenance(**known)
    except TypeError as error:
        raise Damaged("provenance.unreadable", error=error) from None


def _changes(folder: Path) -> list[str]:
    """The changed files that look secret, in order."""
    names = [*_DIFF, "--name-only", "-z", "--"]
    every, harmless = (
        set((_git(folder, *names, *chosen) or "").split("\0"))
        for chosen in ([":/"], without_secrets())
    )
    return sorted(every - harmless)


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints, or None: no git, no repository, or too slow."""
    git = shutil.which("git")
    if git is None:
        return None
    # neither hooks, pagers nor a lock on the index: looking must change nothing
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [git, "-c", "core.fsmonitor=false", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "backslashreplace")


def gpu_names(listed: Path = _GPUS, visible: str | None = None) -> tuple[str, ...]:
    """The names of the GPUs that this process and its children see, in the order of the bus.

    The files of the driver are read, so no library is imported. `visible` replaces
    CUDA_VISIBLE_DEVICES; an entry that is not an index (a UUID) leaves all GPUs in.
    """
    names = []
    for folder in sorted(listed.glob("*")):
        try:
            lines = (folder / "information").read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        names += [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES") if visible is None else visible
    if chosen is None or not all(entry.strip().isdecimal() for entry in chosen.split(",") if entry):
        return tuple(names)
    indices = [int(entry) for entry in chosen.split(",") if entry]
    return tuple(names[index] for index in indices if index < len(names))


def _versions() -> dict[str, str]:
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def read_origins(database: Database, round_id: int) -> dict[int, Provenance]:
    """The provenance of each trial and repeat of a round that has one, by the store's key."""
    with database.reading() as connection:
        # of several attempts the newest comes last and stays
        rows = connection.execute(_POINTERS, {"of_round": round_id})
        keys = {trial_id: key for trial_id, key in rows}
        wanted = select(table.c.id, table.c.payload).where(
            table.c.id.in_(sorted(set(keys.values())))
        )
        payloads = {key: payload for key, payload in connection.execute(wanted)}
        behind = shared(connection, payloads.values())
    read = {payload: from_payload(text) for payload, text in behind.items()}
    origins = {key: read[payload] for key, payload in payloads.items() if payload in read}
    return {trial_id: origins[key] for trial_id, key in keys.items() if key in origins}
