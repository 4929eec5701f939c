"""Every exception this package raises on purpose, and the one door to optional packages.

    TunewrightError
    |-- DesignError        a round, range, objective, schedule or round file that cannot be run
    |   `-- RoundChanged   the name is in use by a different round; carries the difference
    |-- WorkloadError      a training function or command that cannot be started or shipped
    |-- StoreError         the record cannot be opened, read or written
    |   |-- NotFound       no such store, round, study or trial
    |   |-- OutOfDate      a write by an owner whose lease was taken (fencing)
    |   `-- Damaged        the file is torn or altered; names what can be restored
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

Messages say what happened, with which value, and what to do next.
"""

from __future__ import annotations

import importlib
from types import ModuleType


class TunewrightError(Exception):
    """Anything this package refuses or cannot do."""


class DesignError(TunewrightError, ValueError):
    """A round, range, objective, schedule or round file that cannot be run."""


class RoundChanged(DesignError):
    """The name is in use by a different round."""


class WorkloadError(TunewrightError):
    """A training function or command that cannot be started or shipped."""


class StoreError(TunewrightError):
    """The record cannot be opened, read or written."""


class NotFound(StoreError, LookupError):
    """No such store, round, study or trial."""


class OutOfDate(StoreError):
    """A write by an owner whose lease was taken by another: nothing was overwritten."""


class Damaged(StoreError):
    """The store's file is torn or altered."""


class Busy(TunewrightError):
    """Another supervisor owns the round."""


class SnapshotError(TunewrightError):
    """A snapshot that cannot be written or read."""


class PipelineError(TunewrightError, ValueError):
    """A training pipeline put together wrongly."""


class MissingExtra(TunewrightError, ImportError):
    """An optional package is not installed."""


class Misuse(TunewrightError):
    """A command or a project used wrongly, with its place, likely cause and remedy."""

    def __init__(self, what: str, *, where: str = "", cause: str = "", remedy: str = "") -> None:
        """Only `what` is needed; the rest is given where it is known."""
        super().__init__(what)
        self.where, self.cause, self.remedy = where, cause, remedy


class Infeasible(Exception):
    """Raise it from a training function: this configuration cannot be trained, with the reason.

    >>> raise Infeasible("heads do not divide width")
    Traceback (most recent call last):
    tunewright.errors.Infeasible: heads do not divide width
    """


class Ended(BaseException):
    """Ends a trial from inside `run.log`; a BaseException, so `except Exception` lets it pass."""


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
