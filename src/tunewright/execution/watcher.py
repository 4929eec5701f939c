"""What a supervisor tells whoever watches it: the terminal, a log, a test, or nobody."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from tunewright.design.ranges import Value
from tunewright.messages import Message
from tunewright.store.trial import Status

if TYPE_CHECKING:
    from tunewright.store.store import RoundRecord

log = logging.getLogger(__name__)
Why = Literal[
    "finished",  # no trial is left to run
    "interrupted",  # Ctrl-C: once, the running trials finished; twice, they went back to pending
    "terminated",  # SIGTERM: the running trials went back to pending
    "asked to stop",  # `tunewright stop ROUND`
    "out of time",  # max_hours is over; the running trials finished
    "limit",  # as many trials as this call was allowed have been run
    "all failed",  # the first five trials to end have all failed: mend the workload first
    "no suggestion",  # the search has nothing more to suggest
    "error",  # an exception, which is raised after this was told
]


@dataclass(frozen=True)
class Started:
    """An attempt at a trial that begins now."""

    number: int | None  # None: a repeat
    study: int
    attempt: int  # from 1
    configuration: Mapping[str, Value]
    running: int  # how many run now, this one included


@dataclass(frozen=True)
class Concluded:
    """How an attempt ended; `pending` means that another attempt is due."""

    number: int | None  # None: a repeat
    study: int
    attempt: int
    configuration: Mapping[str, Value]
    status: Status
    reason: Message | None  # why infeasible, failed, pruned or due again; None when completed
    value: float | None  # the objective; None unless completed and within its constraints
    seconds: float  # of this attempt
    running: int  # how many still run


@dataclass(frozen=True)
class Summary:
    """Why the supervisor returned, and what the round looks like now."""

    why: Why
    says: str  # one sentence for people
    counts: Mapping[Status, int] = field(default_factory=dict)  # of the whole round
    seconds: float = 0.0  # this call's, by a monotonic clock
    ended: int = 0  # trials that came to an end in this call

    @property
    def whole(self) -> bool:
        """Whether every trial of the round has come to an end."""
        return not self.counts.get("pending", 0) and not self.counts.get("running", 0)


class Watcher(Protocol):
    """Six things to be told; told in the supervisor's thread, so be quick and raise nothing."""

    def began(self, record: RoundRecord, total: int, done: int) -> None:
        """The round is open: `total` trials, of which `done` had ended before."""
        ...

    def claimed(self, started: Started) -> None:
        """A trial begins."""
        ...

    def ended(self, concluded: Concluded) -> None:
        """An attempt is over."""
        ...

    def best(self, concluded: Concluded) -> None:
        """This trial, told of just before, is better than all before it."""
        ...

    def message(self, text: str) -> None:
        """Something to know: advice, a pause, a store that cannot be reached, Ctrl-C."""
        ...

    def closed(self, summary: Summary) -> None:
        """It is over; always the last to be told."""
        ...


class Silent:
    """The watcher of those who have none: only messages are passed on, as warnings of the log.

    A round that is paused, or waits for its store, must not look like one that hangs.
    """

    def began(self, record: RoundRecord, total: int, done: int) -> None:
        """Say nothing."""

    def claimed(self, started: Started) -> None:
        """Say nothing."""

    def ended(self, concluded: Concluded) -> None:
        """Say nothing."""

    def best(self, concluded: Concluded) -> None:
        """Say nothing."""

    def message(self, text: str) -> None:
        """Log it."""
        log.warning("%s", text)

    def closed(self, summary: Summary) -> None:
        """Say nothing."""
