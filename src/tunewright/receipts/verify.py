"""Verify a receipt: derive every verdict again from the curves, and name malpractice.

It needs the file alone: neither the store nor the program. Forgery is out of scope; a curve that
was cut or edited contradicts its hash, and an edited file its seal.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tunewright.checks.checklist import check
from tunewright.errors import DesignError, NotFound, TunewrightError, Unreadable
from tunewright.facts import Facts, plain
from tunewright.messages import Message, Text
from tunewright.receipts._curves import broken_curves
from tunewright.receipts._launches import derive_again, same
from tunewright.receipts.malpractice import Malpractice, malpractice
from tunewright.receipts.receipt import FORMAT, SEAL, VERSION, as_results, rounds_of, seal
from tunewright.store.plain_json import finite
from tunewright.store.results import Results

LARGEST = 2_000_000_000  # bytes of a receipt
What = Literal["seal", "curve", "value", "finding", "launch"]


@dataclass(frozen=True)
class Disagreement(Facts):
    """Something that a receipt claims and its curves contradict.

    >>> str(Disagreement("value", "trial 3", 0.1, 0.2))
    'trial 3: the receipt has 0.1, its curves give 0.2'
    """

    what: What  # the seal, a curve, a value, a finding or a launch
    about: str  # which one
    recorded: Any  # as the receipt has it
    derived: Any  # as its curves give it

    @property
    def message(self) -> Message:
        """The sentence as data."""
        facts = {"about": self.about, "recorded": self.recorded, "derived": self.derived}
        return Message(f"receipt.disagrees_{self.what}", facts)

    def __str__(self) -> Text:
        """What contradicts what, in one sentence."""
        return self.message.text


@dataclass(frozen=True, kw_only=True)
class Verified(Facts):
    """What came of verifying a receipt."""

    round: str  # its name
    trials: int  # with their repeats
    findings: int  # verdicts derived again
    launches: int  # decisions derived again
    not_derived: int  # decisions that the receipt has too little for
    disagreements: tuple[Disagreement, ...] = ()  # what its curves contradict
    malpractice: tuple[Malpractice, ...] = ()  # what it shows

    @property
    def ok(self) -> bool:
        """Whether every verdict was derived again, and no malpractice was seen."""
        return not self.disagreements and not self.malpractice

    @property
    def headline(self) -> Text:
        """Can this be trusted? The answer in at most twelve words."""
        kinds = list(dict.fromkeys(fault.kind for fault in self.malpractice))
        facts = {"ok": self.ok, "kinds": kinds, "disagreements": len(self.disagreements)}
        return Message("receipt.headline", facts).text

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {"ok": self.ok, **super().to_data()}


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The plain data of a receipt's file."""
    target = Path(path)
    try:
        if target.stat().st_size > LARGEST:
            raise Unreadable("receipt.too_large", path=target)
        raw = target.read_bytes()
        data = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except FileNotFoundError:
        raise NotFound("receipt.no_file", path=target) from None
    except OSError as error:
        raise Unreadable("receipt.unreadable", path=target, reason=str(error)) from None
    except (ValueError, EOFError, RecursionError) as error:
        raise Unreadable("receipt.unreadable", path=target, reason=str(error)) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise Unreadable("receipt.not_one", path=target)
    if data.get("version") != VERSION:
        raise Unreadable("receipt.version", path=target, version=data.get("version"), known=VERSION)
    return data


def verify(given: str | os.PathLike[str] | Mapping[str, Any]) -> Verified:
    """Derive every verdict of a receipt again from its curves, and name the malpractice it shows.

    Verdicts must be equal, numbers equal to a relative 1e-9.

    Args:
        given: the receipt's file, or its plain data.

    >>> import tunewright as tw
    >>> from tunewright.testing.surfaces import Bowl
    >>> from tunewright.testing.worlds import results
    >>> rates = tw.Round("rates", goal="?", nuisance={"lr": tw.log(1e-3, 1)}, trials_per_study=8)
    >>> receipt = tw.receipts.receipt(results(rates, Bowl({"lr": 0.5})))
    >>> del receipt["trials"][3]
    >>> [one.kind for one in verify(receipt).malpractice]
    ['dropped_failures']
    """
    data = dict(given) if isinstance(given, Mapping) else read(given)
    try:
        return _verify(data)
    except TunewrightError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise DesignError("receipt.wrong_field", reason=problem) from None


def _verify(data: dict[str, Any]) -> Verified:
    results = as_results(data)
    disagreements = [*_seal(data), *_curves(data), *_values(data, results)]
    now = finite(plain([finding.to_data() for finding in check(results)]))
    disagreements += _findings(data["findings"], now)
    rounds = rounds_of(data, results)
    derived = [derive_again(launch, rounds) for launch in data["launches"]]
    for launch, differs in zip(data["launches"], derived, strict=True):
        for name, (recorded, now_found) in (differs or {}).items():
            about = f"launch {launch['key']} {name}"
            disagreements.append(Disagreement("launch", about, recorded, now_found))
    return Verified(
        round=results.round.name,
        trials=len(data["trials"]) + len(data["repeats"]),
        findings=len(now),
        launches=sum(differs is not None for differs in derived),
        not_derived=sum(differs is None for differs in derived),
        disagreements=tuple(disagreements),
        malpractice=tuple(malpractice(data, results)),
    )


def _seal(data: dict[str, Any]) -> Iterator[Disagreement]:
    now = seal(data)
    if data.get(SEAL) != now:
        yield Disagreement("seal", "the file", data.get(SEAL), now)


def _curves(data: Mapping[str, Any]) -> Iterator[Disagreement]:
    rounds = [data, *data["earlier"], *data["other_rounds"].values()]
    for round in rounds:
        for trial, metric, _ in broken_curves([*round["trials"], *round["repeats"]]):
            logged = trial["curves"][metric]
            about = f"{round['round']['name']} trial {_name(trial)} {metric}"
            yield Disagreement("curve", about, logged["points"], len(logged["values"]))


def _values(data: Mapping[str, Any], results: Results) -> Iterator[Disagreement]:
    """Values, statuses and best steps, judged again from the curves."""
    judged = {trial.identity: trial for trial in results.trials if trial.identity}
    numbered = {trial.number: trial for trial in results.trials}
    for recorded_trial in data["trials"]:
        now = judged.get(recorded_trial["identity"]) or numbered[recorded_trial["number"]]
        recorded = [recorded_trial["status"], recorded_trial["value"], recorded_trial["best_step"]]
        derived = [now.status, now.value, now.best_step]
        if not same(recorded, derived):
            yield Disagreement("value", f"trial {recorded_trial['number']}", recorded, derived)


def _findings(recorded: list[Any], now: list[Any]) -> Iterator[Disagreement]:
    known = {
        (finding["check"], finding["scope"], finding["about"]): finding for finding in recorded
    }
    current = {(finding["check"], finding["scope"], finding["about"]): finding for finding in now}
    for key in dict.fromkeys([*known, *current]):
        before, after = known.get(key), current.get(key)
        about = f"{key[0]} of {key[2]}"
        if before is None or after is None or before["verdict"] != after["verdict"]:
            verdicts = [None if each is None else each["verdict"] for each in (before, after)]
            yield Disagreement("finding", about, *verdicts)
        elif not same(before["evidence"], json.loads(json.dumps(after["evidence"]))):
            yield Disagreement("finding", about, "its numbers", "other numbers")


def _name(trial: Mapping[str, Any]) -> str:
    if trial["number"] is not None:
        return str(trial["number"])
    return f"{trial['parent']} repeat {trial.get('repeat')}"
