"""How an attempt at a trial ended: one frozen outcome, with one codec for pipe, file and store.

A training process sends it through a pipe, the supervisor adds what the trial became and writes it
to the trial's folder, and the store writes it to the rows of the trial and its attempt.
"""

from __future__ import annotations

import base64
import binascii
import types
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from tunewright.errors import Damaged
from tunewright.messages import Message
from tunewright.store.curves import unpack
from tunewright.store.reason import decode, encode
from tunewright.store.trial import ENDED, Status

End = Literal[
    "completed",  # the training program reached its end
    "infeasible",  # it diverged, ran out of memory, or raised `Infeasible`
    "failed",  # an exception, a value that is not a number, sys.exit, a time-out
    "pruned",  # early stopping, or another tool, ended it
    "unmeasured",  # judged, never written: completed, without the metric that is asked for now
    "died",  # by a signal, os._exit or a lost host: another attempt is due
    "stopped",  # on request, or pre-empted: another attempt is due, and no death is counted
]
LARGEST_NUMBER = 2**53
# each attempt and each place of a batch becomes a row: a file must not ask for a million of them
LARGEST = {"attempt": 10_000, "first": 1_000_000, "repeat": 1_000_000, "seed": 2**63 - 1}


@dataclass(frozen=True)
class Outcome:
    """How one attempt ended, with the points that the store may lack.

    >>> Outcome("died", seconds=2.0).becomes
    'pending'
    """

    status: End
    reason: Message | None = None  # why; one that only the executor knows is `foreign`
    detail: str = ""  # traceback, or the last lines of the log
    _: KW_ONLY
    seconds: float = 0.0  # of this attempt, by a monotonic clock
    peak_memory_mb: float | None = None  # with everything it started; None: not measured
    start_step: int | None = None  # updates done before it; None: as the store has it
    first: int | None = None  # the place of the first batch; None: after those in the store
    batches: tuple[bytes, ...] = ()  # packed points

    @property
    def becomes(self) -> Status:
        """The status of the trial after this attempt; `pending`: another attempt is due."""
        if self.status == "died" or self.status == "stopped":
            return "pending"
        return self.status


@dataclass(frozen=True)
class Ended:
    """The attempt is over: the last event of it, and the content of its result file."""

    trial: int  # the store's key
    attempt: int
    outcome: Outcome


def outcome_data(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain data, as pipes and files carry it and columns hold it."""
    data = {each.name: getattr(outcome, each.name) for each in fields(outcome)}
    batches = [base64.b64encode(batch).decode("ascii") for batch in outcome.batches]
    return {**data, "reason": encode(outcome.reason), "batches": batches}


def outcome_from(data: Mapping[str, Any]) -> Outcome:
    """What `outcome_data` made; Damaged if a field is not what it writes.

    Version 0.1 wrote what the trial became, and whether the attempt died. Both are understood, and
    a field that an earlier version did not write has its default.

    >>> outcome_from({**outcome_data(Outcome("failed")), "status": "pending", "died": True}).status
    'died'
    """
    given = {**_DEFAULTS, **data}
    died = given.pop("died", False)
    if type(died) is not bool:
        raise Damaged("outcome.wrong_field", name="died")
    if given.get("status") == "pending":
        given["status"] = "died" if died else "stopped"
    check_fields(given, _KINDS)
    try:
        batches = tuple(base64.b64decode(text, validate=True) for text in given["batches"])
        for batch in batches:
            unpack(batch)
    except (TypeError, ValueError, binascii.Error, Damaged):
        raise Damaged("outcome.wrong_field", name="batches") from None
    if (given["first"] or 0) < 0:
        raise Damaged("outcome.wrong_field", name="first")
    return Outcome(**{**given, "reason": decode(given["reason"]), "batches": batches})


def check_fields(data: Mapping[str, Any], kinds: Mapping[str, Any]) -> None:
    """Refuse data whose fields are not exactly these, each of its kind and of a sane size."""
    for name in kinds.keys() ^ data.keys():
        raise Damaged("outcome.wrong_field", name=name)
    for name, kind in kinds.items():
        if not _is(data[name], kind, LARGEST.get(name, LARGEST_NUMBER)):
            raise Damaged("outcome.wrong_field", name=name)


def _is(value: object, kind: Any, largest: int) -> bool:
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if get_origin(kind) in (Union, types.UnionType):
        return any(_is(value, each, largest) for each in get_args(kind))
    if kind is float or kind is int:
        right = type(value) is int or (kind is float and type(value) is float)
        return right and isinstance(value, int | float) and -largest <= value <= largest
    return type(value) is (get_origin(kind) or kind)


# as they travel: a reason is text, and so is each batch
_KINDS = {name: kind for name, kind in get_type_hints(Outcome).items() if name != "_"} | {
    "reason": str,
    "batches": list,
}
_DEFAULTS = outcome_data(Outcome("completed"))
del _DEFAULTS["status"]
assert set(get_args(End)) == {*ENDED, "died", "stopped"}
