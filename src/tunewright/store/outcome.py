"""How an attempt at a trial ended, and why: one outcome, one codec for pipe, file and store.

A training process sends it through a pipe, the supervisor adds what the trial became and writes it
to the trial's folder, and the store writes it to the rows of the trial and its attempt.

The reason is a code with its facts. Version 0.1 stored sentences; those read as the codes that they
mean, and what nobody recognises stays readable under the code `legacy`.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from tunewright.errors import Damaged
from tunewright.messages import Message
from tunewright.store.curves import unpack
from tunewright.store.plain_json import storable
from tunewright.store.trial import ENDED, Status

NEVER_LOGGED = "objective.never_logged"
_TEXT_ALONE = frozenset({"trial.infeasible", "trial.failed", "legacy"})
_WITHOUT_STEP = frozenset({"metric.not_finite", "constraint.broken", "trial.pruned"})

# ---- the sentences of version 0.1
_Build = Callable[[dict[str, str]], Message]
_EXIT = r"(?:exit status (?P<status>\d+)|killed by (?P<signal>SIG[A-Z0-9]+))"
_EXCEPTION = r"(?P<type>[A-Za-z_][\w.]*)(?:: (?P<text>.+))?"
_OBJECTIVE = (
    r"the objective (?P<metric>\S.*?) was never logged(?:"
    r'(?P<nothing>, nor anything else: call run\.log\(step, \{".*": \.\.\.\}\), '
    r"or print one JSON object per measurement)"
    r"|, only (?P<logged>.+)\. (?:Did you mean (?P<near>.+)\?|Log .+, or change the objective\.))"
)
End = Literal[
    "completed",  # the training program reached its end
    "infeasible",  # it diverged, ran out of memory, or raised `Infeasible`
    "failed",  # an exception, a value that is not a number, sys.exit, a time-out
    "pruned",  # early stopping, or another tool, ended it
    "unmeasured",  # judged, never written: completed, without the metric that is asked for now
    "died",  # by a signal, os._exit or a lost host: another attempt is due
    "stopped",  # on request, or pre-empted: another attempt is due, and no death is counted
]
_LARGEST_NUMBER = 2**53

# each attempt and each place of a batch becomes a row: a file must not ask for a million of them
LARGEST = {"attempt": 10_000, "first": 1_000_000, "repeat": 1_000_000, "seed": 2**63 - 1}


def encode(reason: Message | None) -> str:
    """The reason as JSON text that every database holds; empty for none.

    >>> encode(Message("metric.not_finite", {"metric": "valid_error", "value": "nan", "step": 40}))
    '{"code": "metric.not_finite", "facts": {"metric": "valid_error", "value": "nan", "step": 40}}'
    """
    if reason is None:
        return ""
    data = {"code": reason.code, "facts": _storable(reason.facts)}
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


def decode(text: str) -> Message | None:
    """What `encode` wrote, or a sentence of version 0.1; None for an empty text.

    >>> decode(encode(Message("limit.time", {"limit_s": 60.0}))).facts
    {'limit_s': 60.0}
    >>> decode("exit status 3")
    Message(code='program.exited', facts={'status': 3, 'signal': ''})
    """
    if not text:  # most trials: a parser that fails costs more than the rest of reading one
        return None
    reason = _parse(text)
    if reason is None:
        return from_version_1(text)
    return reason if _readable(reason) else Message("legacy", {"text": text})


def read_message(text: str) -> Message | None:
    """The message that `encode` wrote and this version can read; None for any other text."""
    message = _parse(text)
    return message if message is not None and _readable(message) else None


def _parse(text: str) -> Message | None:
    """The message of a JSON text with a code and facts, whether or not it can be read."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.keys() != {"code", "facts"}:
        return None
    if not isinstance(data["code"], str) or not isinstance(data["facts"], dict):
        return None
    return Message(data["code"], data["facts"])


def from_version_1(text: str) -> Message | None:
    """The code and facts of a sentence that version 0.1 stored.

    >>> from_version_1("valid_error is nan at step 40").facts["step"]
    40
    >>> from_version_1("heads do not divide width").code
    'legacy'
    """
    if not text:
        return None
    for pattern, build in _SENTENCES:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        reason = build(match.groupdict())
        if str(reason) == text:  # nothing of the sentence is lost
            return reason
    return Message("legacy", {"text": text})


def kind(reason: Message | None) -> Message | None:
    """The reason without its step, so that trials that ended for the same reason are one group.

    >>> str(kind(Message("metric.not_finite", {"metric": "loss", "value": "nan", "step": 7})))
    'loss is nan'
    """
    if reason is None or reason.code not in _WITHOUT_STEP:
        return reason
    if reason.code == "trial.pruned":  # its numbers differ from trial to trial
        return Message(reason.code)
    return Message(reason.code, {n: fact for n, fact in reason.facts.items() if n != "step"})


def foreign(source: str, text: str) -> Message | None:
    """The reason that another system or a file gives; None where it gives none."""
    return Message("foreign", {"source": source, "text": text}) if text else None


def reason_of_export(code: str, text: str, source: str) -> Message | None:
    """The reason of an exported row, whose sentence must agree with its code.

    >>> reason_of_export("trial.failed", "the objective err was never logged", "a table").code
    'trial.failed'
    """
    reason = from_version_1(text)
    if reason is not None and reason.code == code:
        return reason
    if text and code in _TEXT_ALONE:
        return Message(code, {"text": text})
    return foreign(source, text)


def _readable(reason: Message) -> bool:
    """Whether its sentence can be made: a record may be altered, or come from a later version."""
    try:
        reason.text  # noqa: B018
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return True


def _storable(fact: Any) -> Any:
    """A fact as plain data, its texts bounded and free of what a database refuses."""
    if isinstance(fact, str):
        return storable(fact)
    if isinstance(fact, Mapping):
        return {storable(str(name)): _storable(item) for name, item in fact.items()}
    if isinstance(fact, list | tuple):
        return [_storable(item) for item in fact]
    if isinstance(fact, float) and (fact != fact or fact in (float("inf"), float("-inf"))):
        return str(fact)
    return fact


def _as(code: str, **converted: Callable[[str], Any]) -> _Build:
    """The groups of the pattern as facts, some of them as numbers."""

    def build(groups: dict[str, str]) -> Message:
        facts = {n: converted.get(n, str)(text) for n, text in groups.items() if text is not None}
        return Message(code, facts)

    return build


def _not_logged(groups: dict[str, str]) -> Message:
    facts: dict[str, Any] = {"metric": groups["metric"]}
    if groups["nothing"]:
        facts |= {"logged": [], "more": False, "near": None}
    elif groups["logged"]:
        logged = groups["logged"].removesuffix(" ...")
        more = logged != groups["logged"]
        facts |= {"logged": logged.split(", "), "more": more, "near": groups["near"]}
    return Message(NEVER_LOGGED, facts)


def _exit(code: str) -> _Build:
    """An exit status, or the signal of version 0.1's text, whose number is its own platform's."""

    def build(groups: dict[str, str]) -> Message:
        if groups["status"] is not None:
            return Message(code, {"status": int(groups["status"]), "signal": ""})
        return Message(code, {"status": -1, "signal": groups["signal"]})

    return build


def _several_deaths(groups: dict[str, str]) -> Message:
    cause = from_version_1(groups["cause"])
    data = {} if cause is None else cause.to_data()
    return Message("trial.died_repeatedly", {"deaths": int(groups["deaths"]), "cause": data})


def _not_loaded(groups: dict[str, str]) -> Message:
    cause = from_version_1(groups["cause"])
    return Message("trial.not_loaded", {"cause": {} if cause is None else cause.to_data()})


def _exception(code: str) -> _Build:
    return lambda groups: Message(code, {"type": groups["type"], "text": groups["text"] or ""})


_SENTENCES: tuple[tuple[re.Pattern[str], _Build], ...] = tuple(
    (re.compile(pattern, re.DOTALL), build)
    for pattern, build in (
        (_OBJECTIVE, _not_logged),
        (r"the objective (?P<metric>[^\s;,:]+) was never logged", _as(NEVER_LOGGED)),
        (
            r"(?P<metric>.+) is (?P<value>nan|\+inf|-inf) at step (?P<step>\d+)",
            _as("metric.not_finite", step=int),
        ),
        (
            r"(?P<metric>.+) is (?P<value>\S+) at step (?P<step>\d+), "
            r"not (?P<relation><=|>=) (?P<limit>\S+)",
            _as("constraint.broken", value=float, step=int, limit=float),
        ),
        (
            r"(?P<metric>.+) was never logged, so .+ (?P<relation><=|>=) (?P<limit>\S+) "
            r"cannot be judged",
            _as("constraint.never_logged", limit=float),
        ),
        (
            r"timeout: it ran for (?P<limit_s>\S+) s \(trial_timeout_s\)",
            _as("limit.time", limit_s=float),
        ),
        (
            r"timeout: no step was reported for (?P<limit_s>\S+) s \(no_progress_timeout_s\)",
            _as("limit.no_progress", limit_s=float),
        ),
        (
            r"out of memory: it took (?P<used_gb>\S+) GB of (?P<limit_gb>\S+) GB \(memory_gb\)",
            _as("limit.memory", used_gb=float, limit_gb=float),
        ),
        (r"out of memory: the kernel killed the (?P<what>trial|program)", _as("memory.killed")),
        (rf"out of memory: {_EXCEPTION}", _exception("memory.exhausted")),
        (rf"no space left: {_EXCEPTION}", _exception("disk.full")),
        (r"died (?P<deaths>\d+) times, at last: (?P<cause>.+)", _several_deaths),
        (r"the training function could not be loaded in a worker: (?P<cause>.+)", _not_loaded),
        (r"the training program called sys\.exit\((?P<status>.*)\)", _as("trial.called_exit")),
        (rf"the process ended: {_EXIT}", _exit("process.exited")),
        (rf"stopped, {_EXIT}", _exit("stopped.program_exited")),
        (_EXIT, _exit("program.exited")),
        (r"it could not be started: (?P<text>.+)", _as("trial.not_started")),
        (r"stopped after step (?P<step>\d+)", _as("stopped.after_step", step=int)),
        (
            r"stopped before step (?P<step>\d+), without a snapshot",
            _as("stopped.without_snapshot", step=int),
        ),
        (r"stopped after saving at step (?P<step>\d+)", _as("stopped.after_saving", step=int)),
        (r"owner lost(?: \((?P<owner>.+)\))?", _as("owner.lost")),
        (r"asked to stop", _as("stopped.asked")),
        (r"stopped before it began", _as("stopped.before_start")),
        (r"stopped: it did not end within the grace period", _as("stopped.grace_over")),
        (r"stopped: (?P<where>.+) did not answer", _as("stopped.no_answer")),
        (r"stopped: (?P<where>.+) was lost meanwhile", _as("stopped.host_lost")),
        (r"the executor was closed", _as("stopped.executor_closed")),
        (r"its supervisor ended", _as("stopped.supervisor_ended")),
        (r"its session was closed", _as("stopped.session_closed")),
        (r"could not be started", _as("stopped.not_started")),
        (r"the search has no more configurations", _as("stopped.no_suggestion")),
        (r"pruned(?: at step (?P<step>\d+))?", _as("trial.pruned", step=int)),
        (
            r"(?P<state>[a-z]+) in (?P<source>MLflow|W&B|Optuna|Ray Tune), which keeps no reason",
            _as("foreign.no_reason"),
        ),
        # last, since much looks like it: an exception's name is what identifies it
        (
            r"(?P<type>[A-Za-z_]\w*(?:Error|Exception|Warning|Interrupt))(?:: (?P<text>.+))?",
            _exception("trial.raised"),
        ),
    )
)


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
        if not _is(data[name], kind, LARGEST.get(name, _LARGEST_NUMBER)):
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
