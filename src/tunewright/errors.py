"""Every exception this package raises on purpose, and the one door to optional packages.

    TunewrightError
    |-- DesignError        a round, range, objective, schedule or round file that cannot be run
    |   `-- RoundChanged   the name is in use by a different round; carries the difference
    |-- WorkloadError      a training function or command that cannot be started or shipped
    |-- StoreError         the database cannot be opened, read or written
    |   |-- NotFound       no such store, round, study or trial
    |   |-- OutOfDate      a write by an owner whose lease was taken (fencing)
    |   `-- Damaged        the file is torn or altered; names what can be restored
    |       `-- Unreadable a file of another program that cannot be read
    |-- Busy               another supervisor owns the round; names host, pid and age
    |-- SnapshotError      a snapshot that cannot be written or read
    |-- PipelineError      a training pipeline put together wrongly (shapes, ranks, weights)
    |-- MissingExtra       an optional package is not installed; names the extra
    |-- BudgetSpent        the project's budget has nothing left for what was asked
    `-- Misuse             a command or a project used wrongly; explains what to do instead

    Infeasible(Exception)       raised by a training function: this configuration cannot be trained
    Ended(BaseException)        ends a trial from inside `run.log`, past any `except Exception`
    |-- Diverged                a non-finite objective or loss
    |-- BadValue                a value that is not a number was logged, or a step that went back
    `-- Stopped                 a stop was requested, and the trial has saved its state

Every error of ours is a `code` with `facts`; its sentence is made in `messages` when it is read.
Several problems found at once are one error with several `problems`. Often there is a `remedy`:
what to do next, as an action.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, ClassVar, Self

from tunewright.actions import Action
from tunewright.facts import as_fact
from tunewright.messages import Message, Reader, Text, is_code, message_from
from tunewright.refusals import refusal_of
from tunewright.remedies import Doctor, Restore


class TunewrightError(Exception):
    """Anything this package refuses or cannot do.

    >>> error = DesignError("range.low_above_high", kind="log", low="0.1", high="0.01")
    >>> error.code, error.facts
    ('range.low_above_high', {'kind': 'log', 'low': '0.1', 'high': '0.01'})
    >>> str(error)
    'log(0.1, 0.01): low is above high; did you mean log(0.01, 0.1)?'
    """

    usual_code: ClassVar[str] = "error"
    usual_remedy: ClassVar[Action | None] = None
    problems: tuple[Message, ...]
    remedy: Action | None

    def __init__(self, code: str, /, *, remedy: Action | None = None, **facts: Any) -> None:
        """`code` is one of the catalogue's and `facts` are what its sentence states."""
        super().__init__(code)
        self.problems = (_as_problem(code, facts, self.usual_code),)
        self.remedy = self.usual_remedy if remedy is None else remedy

    @classmethod
    def several(cls, problems: Sequence[Message], remedy: Action | None = None) -> Self:
        """One error for everything that is wrong; at least one problem.

        >>> found = [Message("range.no_choices"), Message("given.no_values")]
        >>> [one.code for one in DesignError.several(found).problems]
        ['range.no_choices', 'given.no_values']
        """
        first = problems[0]
        error = cls(first.code, remedy=remedy, **first.facts)
        error.problems = tuple(
            replace(problem, facts=as_fact(problem.facts)) for problem in problems
        )
        return error

    @property
    def code(self) -> str:
        """The code of the first problem."""
        return self.problems[0].code

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts of the first problem."""
        return self.problems[0].facts

    @property
    def refusal(self) -> str | None:
        """The stable code of what statistics or a budget forbid; None for any other error.

        >>> DesignError("guard.seed", name="seed").refusal
        'seed_as_idea'
        """
        refused = refusal_of(problem.code for problem in self.problems)
        return None if refused is None else refused.code

    def inside(self, code: str, /, **facts: Any) -> list[Message]:
        """The problems, each as the `problem` of a message that adds where it is."""
        return [Message(code, {**facts, "problem": problem.to_data()}) for problem in self.problems]

    def text_for(self, reader: Reader) -> Text:
        """The sentences as this reader can use them, one per line."""
        return Text("\n".join(problem.text_for(reader) for problem in self.problems))

    def __str__(self) -> str:
        """The sentences, one per line."""
        return "\n".join(problem.text for problem in self.problems)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """How copies are made: errors cross the pipes between processes."""
        return _remake, (type(self), self.args, self.__dict__.copy())

    def to_data(self) -> dict[str, Any]:
        """Plain data: code, message and facts of the first problem, all problems, the remedy.

        >>> StoreError("error.text", text="disk full").to_data()["remedy"]
        {'kind': 'doctor', 'argv': ['tunewright', 'doctor']}
        """
        remedy, refusal = self.remedy, self.refusal
        return {
            "code": self.code,
            **({} if refusal is None else {"refusal": refusal}),
            "message": str(self),
            "facts": dict(self.facts),
            "problems": [
                {"code": problem.code, "message": problem.text, "facts": dict(problem.facts)}
                for problem in self.problems
            ],
            "remedy": None if remedy is None else remedy.to_data(),
        }


def _remake(kind: type[TunewrightError], args: tuple[Any, ...], state: Any) -> TunewrightError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


@dataclass(frozen=True)
class _Plain(Message):
    """A problem in the words of whoever raised it: a program outside of this package."""

    sentence: str = ""

    def text_for(self, reader: Reader) -> Text:
        """The sentence itself."""
        return Text(self.sentence)

    @property
    def text(self) -> Text:
        """The sentence itself."""
        return Text(self.sentence)

    def to_data(self) -> dict[str, Any]:
        """Plain data that still has the sentence: no catalogue makes it again."""
        return {"code": "error.text", **self.facts, "text": self.sentence}


def _as_problem(code: str, facts: dict[str, Any], usual_code: str) -> Message:
    """The problem that the arguments of an error mean; text with a space is no code."""
    plain = {name: as_fact(fact) for name, fact in facts.items() if name != "code"}
    if not is_code(code):
        return _Plain(facts.get("code") or usual_code, plain, code)
    return Message(code, plain)


class DesignError(TunewrightError, ValueError):
    """A round, range, objective, schedule or round file that cannot be run.

    >>> import tunewright as tw
    >>> tw.log(1, 0.1)
    Traceback (most recent call last):
    tunewright.errors.DesignError: log(1, 0.1): low is above high; did you mean log(0.1, 1)?
    """

    usual_code = "design"


class RoundChanged(DesignError):
    """The name is in use by a different round; the message lists what differs.

    >>> issubclass(RoundChanged, DesignError), RoundChanged("error.text", text="changed").code
    (True, 'error.text')
    """

    usual_code = "round.changed"


class WorkloadError(TunewrightError):
    """A training function or command that cannot be started or shipped.

    >>> import tunewright as tw
    >>> try:
    ...     tw.Workload(3, tw.minimize("valid_error"))
    ... except WorkloadError as error:
    ...     print(error.code)
    workload.not_trainable
    """

    usual_code = "workload"


class StoreError(TunewrightError):
    """The database cannot be opened, read or written.

    >>> StoreError("error.text", text="disk full").remedy.command
    'tunewright doctor'
    """

    usual_code = "store"
    usual_remedy: ClassVar[Action | None] = Doctor()


class NotFound(StoreError, LookupError):
    """No such store, round, study or trial.

    >>> import tunewright as tw
    >>> try:
    ...     tw.load("no_such_folder/tuning.db", "depth")
    ... except NotFound as error:
    ...     print(error.code)
    store.not_found
    """

    usual_code = "not_found"
    usual_remedy: ClassVar[Action | None] = None


class OutOfDate(StoreError):
    """A write by a worker that lost its lease: nothing was overwritten.

    >>> error = OutOfDate("lease.taken_for_dead", kind="worker", pid=4711)
    >>> error.facts["pid"], isinstance(error, StoreError)
    (4711, True)
    """

    usual_code = "out_of_date"


class Damaged(StoreError):
    """The store's file is torn or altered.

    >>> Damaged("error.text", text="file is not a database").remedy.command
    'tunewright restore'
    """

    usual_code = "damaged"
    usual_remedy: ClassVar[Action | None] = Restore()


class Unreadable(Damaged):
    """A file of another program is torn, or is not what its name promises.

    >>> import tempfile, tunewright as tw
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as empty:
    ...     try:
    ...         tw.importers.tables(empty.name, objective=tw.minimize("valid_error"))
    ...     except Unreadable as error:
    ...         print(error.code)
    importers.empty_file
    """

    usual_code = "unreadable"
    usual_remedy: ClassVar[Action | None] = None


class Busy(TunewrightError):
    """Another supervisor owns the round.

    >>> import tunewright as tw
    >>> try:
    ...     raise Busy("ui.round_runs", round="depth")
    ... except tw.errors.Busy as error:
    ...     print(error.facts["round"])
    depth
    """

    usual_code = "busy"


class SnapshotError(TunewrightError):
    """A snapshot that cannot be written or read.

    >>> from tunewright import snapshot
    >>> try:
    ...     snapshot.load("no_such_folder")
    ... except SnapshotError as error:
    ...     print(error.code)
    snapshot.not_a_snapshot
    """

    usual_code = "snapshot"


class PipelineError(TunewrightError, ValueError):
    """A training pipeline put together wrongly.

    >>> error = PipelineError("error.text", text="the weights have 3 rows, the data 4")
    >>> isinstance(error, ValueError)
    True
    """

    usual_code = "pipeline"


class MissingExtra(TunewrightError, ImportError):
    """An optional package is not installed.

    >>> error = MissingExtra("extra.missing", purpose="axis()", package="matplotlib", extra="plots")
    >>> str(error)
    "axis() needs matplotlib: pip install 'tunewright[plots]'"
    """

    usual_code = "missing_extra"


class BudgetSpent(TunewrightError):
    """The project's budget has nothing left: no trial begins. What is recorded stays.

    >>> budget, spent = {"trials": 2}, {"trials": 2}
    >>> error = BudgetSpent("budget.spent", over=["trials"], budget=budget, spent=spent)
    >>> error.refusal, str(error)
    ('budget_spent', 'the budget is spent: 2 of 2 trials')
    """

    usual_code = "budget.spent"


class Misuse(TunewrightError):
    """A command or a project used wrongly; its facts may hold the place and the likely cause.

    >>> error = Misuse("file.exists", path="a.toml", where="train.py:3")
    >>> error.where, error.cause
    ('train.py:3', None)
    """

    usual_code = "misuse"

    def __init__(
        self,
        code: str,
        /,
        *,
        cause: Message | Mapping[str, Any] | None = None,
        remedy: Action | None = None,
        **facts: Any,
    ) -> None:
        """Only the code and its facts are needed; a cause may be the plain data of a message."""
        data = cause.to_data() if isinstance(cause, Message) else cause
        super().__init__(code, remedy=remedy, **facts, **({} if data is None else {"cause": data}))

    @property
    def where(self) -> str:
        """The file, and the line where it is known; empty where there is none."""
        return str(self.facts.get("where") or "")

    @property
    def cause(self) -> Message | None:
        """The likely cause."""
        cause = self.facts.get("cause")
        return None if cause is None else message_from(cause)


class Infeasible(Exception):
    """Raise it from a training function: this configuration cannot be trained, with the reason.

    >>> raise Infeasible("heads do not divide width")
    Traceback (most recent call last):
    tunewright.errors.Infeasible: heads do not divide width
    """


class Ended(BaseException):
    """Ends a trial from inside `run.log`; a BaseException, so `except Exception` lets it pass.

    >>> str(Stopped(Message("stopped.after_step", {"step": 40})))
    'stopped after step 40'
    """

    def __init__(self, reason: Message, detail: str = "") -> None:
        """`reason` becomes the trial's; `detail` explains where it happened and what to do."""
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        """The sentence of the reason, then the detail."""
        return f"{self.reason}\n{self.detail}" if self.detail else str(self.reason)


class Diverged(Ended):
    """A non-finite objective or loss was logged: the trial is infeasible.

    >>> issubclass(Diverged, Exception)  # `except Exception` in a training loop lets it pass
    False
    """


class BadValue(Ended):
    """A value that is not a number was logged, or a step that went back: the trial has failed.

    >>> reason = Message("stopped.after_step", {"step": 40})
    >>> BadValue(reason, "log it before the step increases").detail
    'log it before the step increases'
    """


class Stopped(Ended):
    """A stop was requested and the state is saved: the trial returns to pending.

    >>> Stopped(Message("stopped.after_step", {"step": 40})).reason.facts["step"]
    40
    """


def need(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or name the extra that has it.

    Args:
        module: the package or module to import.
        extra: the extra of tunewright that installs it.
        purpose: what needs it, as the error names it.

    >>> need("json", extra="frames", purpose="this line").__name__
    'json'
    >>> need("no_such_package", extra="plots", purpose="axis()")
    Traceback (most recent call last):
    tunewright.errors.MissingExtra: axis() needs no_such_package: pip install 'tunewright[plots]'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingExtra(
            "extra.missing", purpose=purpose, package=package, extra=extra
        ) from error
