"""Every exception this package raises on purpose, and the one door to optional packages.

    TunewrightError
    |-- DesignError        a round, range, objective, schedule or round file that cannot be run
    |   `-- RoundChanged   the name is in use by a different round; carries the difference
    |-- WorkloadError      a training function or command that cannot be started or shipped
    |-- StoreError         the record cannot be opened, read or written
    |   |-- NotFound       no such store, round, study or trial
    |   |-- OutOfDate      a write by an owner whose lease was taken (fencing)
    |   `-- Damaged        the file is torn or altered; names what can be restored
    |       `-- Unreadable a file of another program that cannot be read
    |-- Busy               another supervisor owns the round; names host, pid and age
    |-- SnapshotError      a snapshot that cannot be written or read
    |-- PipelineError      a training pipeline put together wrongly (shapes, ranks, weights)
    |-- MissingExtra       an optional package is not installed; names the extra
    `-- Misuse             a command or a project used wrongly; says what to do instead

    Infeasible(Exception)       raised by a training function: this configuration cannot be trained
    Ended(BaseException)        ends a trial from inside `run.log`, past any `except Exception`
    |-- Diverged                a non-finite objective or loss
    |-- BadValue                something that is no number was logged, or a step that went back
    `-- Stopped                 a stop was asked for, and the trial has saved its state

Every error of ours has the text that says what happened, a `code` and `facts` for programs, and
often a `remedy`: what to do next, as an action.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

from tunewright.actions import Action, Doctor, Restore
from tunewright.messages import Message, Text


class TunewrightError(Exception):
    """Anything this package refuses or cannot do.

    >>> error = NotFound("no round 'dept'", code="round.not_found", name="dept")
    >>> str(error), error.code, error.facts
    ("no round 'dept'", 'round.not_found', {'name': 'dept'})
    """

    usual_code: ClassVar[str] = "error"
    usual_remedy: ClassVar[Action | None] = None

    def __init__(
        self,
        message: str = "",
        /,
        *,
        code: str = "",
        remedy: Action | Text | None = None,
        **facts: Any,
    ) -> None:
        """`message` is the text; the class has a code and a remedy where none is given."""
        super().__init__(message)
        self.code: str = code or self.usual_code
        self.facts: Mapping[str, Any] = facts
        self.remedy: Action | Text | None = self.usual_remedy if remedy is None else remedy

    def to_data(self) -> dict[str, Any]:
        """Plain data: code, message, facts and remedy.

        >>> StoreError("disk full").to_data()["remedy"]
        {'kind': 'doctor', 'argv': ['tunewright', 'doctor']}
        """
        remedy = self.remedy
        return {
            "code": self.code,
            "message": str(self),
            "facts": dict(self.facts),
            "remedy": remedy.to_data() if isinstance(remedy, Action) else remedy,
        }


class DesignError(TunewrightError, ValueError):
    """A round, range, objective, schedule or round file that cannot be run."""

    usual_code = "design"


class RoundChanged(DesignError):
    """The name is in use by a different round."""

    usual_code = "round.changed"


class WorkloadError(TunewrightError):
    """A training function or command that cannot be started or shipped."""

    usual_code = "workload"


class StoreError(TunewrightError):
    """The record cannot be opened, read or written."""

    usual_code = "store"
    usual_remedy: ClassVar[Action | None] = Doctor()


class NotFound(StoreError, LookupError):
    """No such store, round, study or trial."""

    usual_code = "not_found"
    usual_remedy: ClassVar[Action | None] = None


class OutOfDate(StoreError):
    """A write by an owner whose lease was taken by another: nothing was overwritten."""

    usual_code = "out_of_date"


class Damaged(StoreError):
    """The store's file is torn or altered."""

    usual_code = "damaged"
    usual_remedy: ClassVar[Action | None] = Restore()


class Unreadable(Damaged):
    """A file of another program is torn, or is not what its name says."""

    usual_code = "unreadable"
    usual_remedy: ClassVar[Action | None] = None


class Busy(TunewrightError):
    """Another supervisor owns the round."""

    usual_code = "busy"


class SnapshotError(TunewrightError):
    """A snapshot that cannot be written or read."""

    usual_code = "snapshot"


class PipelineError(TunewrightError, ValueError):
    """A training pipeline put together wrongly."""

    usual_code = "pipeline"


class MissingExtra(TunewrightError, ImportError):
    """An optional package is not installed."""

    usual_code = "missing_extra"


class Misuse(TunewrightError):
    """A command or a project used wrongly, with its place, likely cause and remedy."""

    usual_code = "misuse"

    def __init__(self, what: str, *, where: str = "", cause: str = "", remedy: str = "") -> None:
        """Only `what` is needed; the rest is given where it is known."""
        super().__init__(what, remedy=Text(remedy) if remedy else None)
        self.where, self.cause = where, cause


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
        """`reason` becomes the trial's; `detail` says where it happened and what to do."""
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        """The sentence of the reason, then the detail."""
        return f"{self.reason}\n{self.detail}" if self.detail else str(self.reason)


class Diverged(Ended):
    """A non-finite objective or loss was logged: the trial is infeasible."""


class BadValue(Ended):
    """Something that is no number was logged, or a step that went back: the trial has failed."""


class Stopped(Ended):
    """A stop was asked for and the state is saved: the trial goes back to pending."""


def need(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional package, or say which extra brings it.

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
            f"{purpose} needs {package}: pip install 'tunewright[{extra}]'"
        ) from error
