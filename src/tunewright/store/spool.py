"""What a trial leaves in its own folder, in case the store is out of reach, or lost.

`round.json` beside the trial folders holds the round; `trial.json` the trial's configuration, seed
and newest attempt; `result.<attempt>.json` how an attempt ended, written before the store is told.
Each is written whole (a temporary file, flushed, renamed, the folder flushed) and carries its
checksum. Nothing in them is executed, and a torn one is passed over.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.design.round_data import as_data, from_data
from tunewright.errors import Damaged, StoreError
from tunewright.messages import Message
from tunewright.snapshot import flush
from tunewright.store.claims import Claim
from tunewright.store.curves import unpack
from tunewright.store.definition import meaning_data, meaning_from, objective_data, objective_from
from tunewright.store.plain_json import read_object
from tunewright.store.private import make_folder, opener
from tunewright.store.reason import decode, encode
from tunewright.store.rounds import RoundRecord
from tunewright.store.trial import ENDED, Status

REMOVED_FILE = "removed.json"  # in the folder of a round that was removed
ROUND_FILE = "round.json"
TRIAL_FILE = "trial.json"
_FOLDER = re.compile(r"t(\d{6,})(?:\.repeat(\d+))?")
_RESULT = re.compile(r"result\.(\d+)\.json")
LARGEST_NUMBER = 2**53
# each attempt and each place of a batch becomes a row: a file must not ask for a million of them
LARGEST = {"attempt": 10_000, "first": 1_000_000, "repeat": 1_000_000, "seed": 2**63 - 1}
_number, _nothing = (int, float), type(None)
_RESULT_KINDS: Mapping[str, tuple[type, ...]] = {
    "trial": (int,),
    "attempt": (int,),
    "status": (str,),
    "detail": (str,),
    "seconds": _number,
    "peak_memory_mb": (*_number, _nothing),
    "died": (bool,),
    "start_step": (int,),
    "first": (int,),
}
_TRIAL_KINDS: Mapping[str, tuple[type, ...]] = {
    "trial": (int,),
    "attempt": (int,),
    "number": (int,),
    "repeat": (int, _nothing),
    "study": (int,),
    "index": (int, _nothing),
    "configuration": (dict,),
    "unit": (dict,),
    "seed": (int,),
}


@dataclass(frozen=True)
class SpooledResult:
    """How an attempt ended, with the points that the store may not have yet."""

    trial: int  # the record's key
    attempt: int
    status: Status  # `pending`: it was put back, for another attempt
    reason: Message | None = None
    detail: str = ""
    seconds: float = 0.0
    peak_memory_mb: float | None = None
    died: bool = False
    start_step: int = 0
    first: int = 0  # the place of the first batch among the attempt's
    batches: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class SpooledTrial:
    """What a trial is, as its folder has it."""

    trial: int  # the record's key
    attempt: int  # the newest one begun
    number: int  # its own, or its parent's when it is a repeat
    repeat: int | None
    study: int
    index: int | None
    configuration: Mapping[str, Value]
    unit: Mapping[str, float]
    seed: int


@dataclass(frozen=True)
class SpooledRound:
    """What a round is, as the folder of its trials has it."""

    round: Round
    objective: Objective
    meaning: Meaning
    search: str
    command: str
    created: float = 0.0  # 0: not known
    campaign: str | None = None  # by its name; empty: of none; None: a file of version 1
    purpose: str = ""  # in that campaign


def write_result(folder: Path, result: SpooledResult, flushed: bool = True) -> Path:
    """Leave an attempt's end in the trial folder; `flushed`, it is on the disk at the return."""
    data = {
        "trial": result.trial,
        "attempt": result.attempt,
        "status": result.status,
        "reason": encode(result.reason),
        "detail": result.detail,
        "seconds": result.seconds,
        "peak_memory_mb": result.peak_memory_mb,
        "died": result.died,
        "start_step": result.start_step,
        "first": result.first,
        "batches": [base64.b64encode(batch).decode("ascii") for batch in result.batches],
    }
    return write_checked(folder / f"result.{result.attempt}.json", data, flushed)


def read_result(path: Path) -> SpooledResult:
    """An attempt's end out of its file; Damaged if it is torn or altered."""
    data = read_checked(path)
    try:
        batches = tuple(base64.b64decode(text, validate=True) for text in data["batches"])
        for batch in batches:
            unpack(batch)
        result = SpooledResult(**{**data, "batches": batches, "reason": decode(data["reason"])})
    except (KeyError, TypeError, binascii.Error, Damaged) as error:
        raise Damaged("spool.result_unreadable", path=path, error=error) from None
    _check_kinds(path, result, _RESULT_KINDS)
    if result.status not in ("pending", *ENDED) or result.attempt < 1 or result.first < 0:
        raise Damaged("spool.not_a_result", path=path)
    return result


def results_in(folder: Path) -> list[SpooledResult]:
    """The whole results in a trial folder, by attempt; torn ones are passed over."""
    found = []
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for path in folder.iterdir():
            if _RESULT.fullmatch(path.name):
                with contextlib.suppress(Damaged, OSError):
                    found.append(read_result(path))
    return sorted(found, key=lambda result: result.attempt)


def write_trial(folder: Path, claim: Claim, flushed: bool = True) -> Path:
    """Leave in the trial folder what is being tried."""
    number, repeat = numbered(Path(claim.folder).name)
    data = {
        "trial": claim.trial,
        "attempt": claim.attempt,
        "number": number,
        "repeat": repeat,
        "study": claim.study,
        "index": claim.index,
        "configuration": dict(claim.configuration or {}),
        "unit": dict(claim.unit),
        "seed": claim.seed,
    }
    return write_checked(folder / TRIAL_FILE, data, flushed)


def read_trial(path: Path) -> SpooledTrial:
    """A trial out of its file; Damaged if it is torn or altered."""
    try:
        told = SpooledTrial(**read_checked(path))
    except TypeError as error:
        raise Damaged("spool.trial_unreadable", path=path, error=error) from None
    _check_kinds(path, told, _TRIAL_KINDS)
    return told


def write_round(folder: Path, record: RoundRecord) -> Path:
    """Leave the round beside the folders of its trials."""
    data = {
        "round": as_data(record.round),
        "objective": objective_data(record.objective),
        "meaning": meaning_data(record.meaning),
        "search": record.search,
        "command": record.command,
        "created": record.created.timestamp(),
        "campaign": record.campaign,
        "purpose": record.purpose,
    }
    return write_checked(folder / ROUND_FILE, data)


def read_round(path: Path) -> SpooledRound:
    """A round out of its file; Damaged if it is torn or altered."""
    data = read_checked(path)
    try:
        return SpooledRound(
            from_data(data["round"]),
            objective_from(data["objective"]),
            meaning_from(data["meaning"]),
            str(data["search"]),
            str(data["command"]),
            float(data.get("created", 0.0)),
            data.get("campaign"),
            str(data.get("purpose", "")),
        )
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise Damaged("spool.round_unreadable", path=path, error=error) from None


def numbered(name: str) -> tuple[int, int | None]:
    """The trial's number and the count of its repeat, out of the name of its folder.

    >>> numbered("t000012"), numbered("t000012.repeat3")
    ((12, None), (12, 3))
    """
    found = _FOLDER.fullmatch(name)
    if found is None:
        raise StoreError("spool.not_a_trial_folder", name=name)
    number, repeat = found.groups()
    return int(number), None if repeat is None else int(repeat)


def _check_kinds(path: Path, told: object, kinds: Mapping[str, tuple[type, ...]]) -> None:
    """Refuse a file whose checksum is right but whose fields are not what we write."""
    for name, allowed in kinds.items():
        value = getattr(told, name)
        right = type(value) in allowed
        if right and isinstance(value, int | float):
            right = -LARGEST.get(name, LARGEST_NUMBER) <= value <= LARGEST.get(name, LARGEST_NUMBER)
        if not right:
            raise Damaged("spool.wrong_kind", path=path, name=name)


def write_checked(path: Path, data: Mapping[str, Any], flushed: bool = True) -> Path:
    """Write a JSON file whole, with its checksum; `flushed`, it is on the disk at the return.

    One that is not flushed outlives its process, and the store, but perhaps not the machine.
    """
    content = json.dumps(data, allow_nan=False)
    text = f'{{"sha256": "{_sum(content)}", "content": {content}}}'
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        make_folder(path.parent)
        with open(unfinished, "w", encoding="ascii", opener=opener) as file:
            file.write(text)
            if flushed:
                file.flush()
                os.fsync(file.fileno())
        os.replace(unfinished, path)
        if flushed:
            flush(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise StoreError("file.not_written", path=path, reason=error.strerror or error) from error
    return path


def read_checked(path: Path) -> dict[str, Any]:
    """What `write_checked` wrote; Damaged if it is torn or was altered."""
    data = read_object(path)
    content = data.get("content")
    if not isinstance(content, dict) or _sum(json.dumps(content)) != data.get("sha256"):
        raise Damaged("spool.checksum", path=path)
    return content


def _sum(content: str) -> str:
    return hashlib.sha256(content.encode("ascii")).hexdigest()
