"""The files in the folder of a trial, for when the store is out of reach or lost.

`round.json` next to the trial folders holds the round; `trial.json` the newest claim of the trial;
`result.<attempt>.json` the outcome of an attempt, written before the store gets it. Each is written
whole (a temporary file, flushed, renamed, the folder flushed) and carries its checksum. Nothing in
them is executed, and a torn one is skipped.
"""

from __future__ import annotations

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
from tunewright.design.round import Round
from tunewright.design.round_file import as_data, from_data
from tunewright.errors import Damaged, StoreError
from tunewright.snapshot import flush
from tunewright.store.claims import trial_folder
from tunewright.store.database import make_folder, opener
from tunewright.store.outcome import Ended, check_fields, outcome_data, outcome_from
from tunewright.store.plain_json import (
    meaning_data,
    meaning_from,
    objective_data,
    objective_from,
    read_object,
)
from tunewright.store.rounds import RoundRecord
from tunewright.store.trial import Claim

REMOVED_FILE = "removed.json"  # in the folder of a round that was removed
ROUND_FILE = "round.json"
TRIAL_FILE = "trial.json"
_FOLDER = re.compile(r"t(\d{6,})(?:\.repeat(\d+))?")
_RESULT = re.compile(r"result\.(\d+)\.json")
_RESULT_KINDS: Mapping[str, Any] = {"trial": int, "attempt": int}
_TRIAL_KINDS: Mapping[str, Any] = {
    "trial": int,
    "attempt": int,
    "number": int,
    "repeat": int | None,
    "study": int,
    "index": int | None,
    "configuration": dict,
    "unit": dict,
    "seed": int,
}


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


def write_result(folder: Path, ended: Ended, flushed: bool = True) -> Path:
    """Write an attempt's end to the trial folder; `flushed`, it is on the disk at the return."""
    data = {"trial": ended.trial, "attempt": ended.attempt, **outcome_data(ended.outcome)}
    return write_checked(folder / f"result.{ended.attempt}.json", data, flushed)


def read_result(path: Path) -> Ended:
    """An attempt's end out of its file; Damaged if it is torn or altered."""
    data = read_checked(path)
    keys = {name: data.pop(name) for name in _RESULT_KINDS if name in data}
    try:
        check_fields(keys, _RESULT_KINDS)
        if keys["attempt"] < 1:
            raise Damaged("outcome.wrong_field", name="attempt")
        outcome = outcome_from(data)
    except Damaged as error:
        raise Damaged("spool.result_unreadable", path=path, error=error) from None
    return Ended(keys["trial"], keys["attempt"], outcome)


def results_in(folder: Path) -> list[Ended]:
    """The whole results in a trial folder, by attempt; torn ones are skipped."""
    results = []
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for path in folder.iterdir():
            if _RESULT.fullmatch(path.name):
                with contextlib.suppress(Damaged, OSError):
                    results.append(read_result(path))
    return sorted(results, key=lambda result: result.attempt)


def write_trial(folder: Path, claim: Claim, flushed: bool = True) -> Path:
    """Leave in the trial folder what is being tried."""
    number, repeat = trial_and_repeat(Path(claim.folder).name)
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


def read_trial(path: Path) -> Claim:
    """The claim that `write_trial` wrote, held by nobody; Damaged if it is torn or altered."""
    data = read_checked(path)
    try:
        check_fields(data, _TRIAL_KINDS)
        for name, least in (("number", 0), ("repeat", 1), ("attempt", 1)):
            if data[name] is not None and data[name] < least:
                raise Damaged("outcome.wrong_field", name=name)
    except Damaged as error:
        raise Damaged("spool.trial_unreadable", path=path, error=error) from None
    number, repeat = data.pop("number"), data.pop("repeat")
    folder = trial_folder(path.parent.parent.name, number, repeat)
    return Claim(number=number if repeat is None else None, folder=folder, **data)


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
            round=from_data(data["round"]),
            objective=objective_from(data["objective"]),
            meaning=meaning_from(data["meaning"]),
            search=str(data["search"]),
            command=str(data["command"]),
            created=float(data.get("created", 0.0)),
            campaign=data.get("campaign"),
            purpose=str(data.get("purpose", "")),
        )
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise Damaged("spool.round_unreadable", path=path, error=error) from None


def trial_and_repeat(name: str) -> tuple[int, int | None]:
    """The trial's number and the count of its repeat, out of the name of its folder.

    >>> trial_and_repeat("t000012"), trial_and_repeat("t000012.repeat3")
    ((12, None), (12, 3))
    """
    match = _FOLDER.fullmatch(name)
    if match is None:
        raise StoreError("spool.not_a_trial_folder", name=name)
    number, repeat = match.groups()
    return int(number), None if repeat is None else int(repeat)


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
