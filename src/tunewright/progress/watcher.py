"""The events of a running round as frozen data, and the protocol of those who follow them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Literal, Protocol, runtime_checkable

from tunewright.design.ranges import Value
from tunewright.messages import Message, Text
from tunewright.store.outcome import Outcome
from tunewright.store.trial import Claim, Status

log = logging.getLogger(__name__)
Why = Literal[
    "finished",  # no trial is left to run
    "interrupted",  # Ctrl-C: once, the running trials finished; twice, they went back to pending
    "terminated",  # SIGTERM: the running trials went back to pending
    "asked to stop",  # `tunewright stop ROUND`
    "out of time",  # max_hours is over; the running trials finished
    "budget spent",  # nothing of the project's budget is left; the running trials finished
    "limit",  # as many trials as this call was allowed have been run
    "all failed",  # the first five trials have all failed, or one ended well and logged nothing
    "no suggestion",  # the search has nothing more to suggest
    "error",  # an exception, which is raised after this event
]


@dataclass(frozen=True, kw_only=True)
class RoundStarted:
    """A round, the repeats of a trial, or an evaluation that begins or continues now."""

    name: str  # of the round
    objective: str  # "minimize valid_error (best)"
    metric: str  # of the objective
    total: int  # trials
    done: int = 0  # of them, ended before this call
    counts: Mapping[Status, int] = field(default_factory=dict)  # of these trials before this call
    fixed: tuple[str, ...] = ()  # hyperparameters that are alike in all trials
    continued: bool = False  # the store had it before this call
    known_s: tuple[float, ...] = ()  # how long the same program took in other rounds
    what: Literal["round", "repeats", "evaluation"] = "round"  # what begins


@dataclass(frozen=True)
class TrialEvent:
    """Something that happens to an attempt at a trial: the claim that it is about."""

    claim: Claim  # the trial and the attempt

    @property
    def number(self) -> int | None:
        """The trial's number in its round; None: a repeat."""
        return self.claim.number

    @property
    def study(self) -> int:
        """The study's number in its round."""
        return self.claim.study

    @property
    def attempt(self) -> int:
        """From 1."""
        return self.claim.attempt

    @property
    def configuration(self) -> Mapping[str, Value]:
        """What is tried."""
        return self.claim.configuration or {}

    @property
    def trial(self) -> int:
        """The store's key, which distinguishes repeats."""
        return self.claim.trial


@dataclass(frozen=True)
class Started(TrialEvent):
    """An attempt at a trial that begins now.

    >>> claim = Claim(trial=9, attempt=2, number=3, study=0, index=3, configuration={"lr": 0.1},
    ...               unit={"lr": 0.5}, seed=7, folder="trial_3")
    >>> started = Started(claim, running=4, total=1000)
    >>> started.number, started.attempt, started.configuration
    (3, 2, {'lr': 0.1})
    """

    running: int  # how many run now, this one included
    total: int | None = None  # max_train_steps by meaning; None: not known


@dataclass(frozen=True)
class Reached(TrialEvent):
    """How far a running trial is; at most one event per trial and second."""

    step: int  # that was logged last
    _: KW_ONLY
    total: int | None = None  # steps in all; None: not known
    start_step: int = 0  # where this attempt began
    seconds: float = 0.0  # since this attempt began
    left_s: tuple[float, float] | None = None  # of the whole round, as a range; None: not known

    @property
    def rate(self) -> float | None:
        """Steps per second of this attempt; None before the first."""
        steps = self.step - self.start_step
        return steps / self.seconds if steps > 0 and self.seconds > 0 else None


@dataclass(frozen=True)
class Concluded(TrialEvent):
    """How an attempt ended, judged by the objective of the round.

    >>> claim = Claim(trial=9, attempt=1, number=3, study=0, index=3, configuration={"lr": 0.1},
    ...               unit={"lr": 0.5}, seed=7, folder="trial_3")
    >>> ended = Concluded(claim, Outcome("completed", seconds=2.0), value=0.08, running=1)
    >>> ended.number, ended.status, ended.value, ended.seconds
    (3, 'completed', 0.08, 2.0)
    """

    outcome: Outcome  # status, reason, seconds, the points that the store may lack
    value: float | None  # the objective; None unless completed and within its constraints
    running: int  # how many still run

    @property
    def status(self) -> Status:
        """What the trial became; `pending` means that another attempt is due."""
        return self.outcome.becomes

    @property
    def reason(self) -> Message | None:
        """Why infeasible, failed, pruned or due again; None when completed."""
        return self.outcome.reason

    @property
    def seconds(self) -> float:
        """Of this attempt."""
        return self.outcome.seconds


@dataclass(frozen=True)
class Summary:
    """Why the supervisor returned, and what the round looks like now."""

    why: Why  # why the call returned
    counts: Mapping[Status, int] = field(default_factory=dict)  # of the whole round
    seconds: float = 0.0  # this call's, by a monotonic clock
    ended: int = 0  # trials that came to an end in this call
    stopped: bool = False  # some of its trials were asked to stop, and wait

    @property
    def says(self) -> Text:
        """Why, and how to resume, for a reader of Python."""
        return Message("run.ended", {"why": self.why, "stopped": self.stopped}).text

    @property
    def whole(self) -> bool:
        """Whether every trial of the round has come to an end."""
        return not self.counts.get("pending", 0) and not self.counts.get("running", 0)


@dataclass(frozen=True, kw_only=True)
class CampaignStep:
    """The step of a campaign that begins now.

    >>> step = CampaignStep(campaign="tune", number=1, kind="explore", about="tune_explore",
    ...                     reason=Message("stopped.after_step", {"step": 1}), trials=10, left=50)
    >>> step.kind, step.trials, step.left
    ('explore', 10, 50)
    """

    campaign: str  # its name
    number: int  # from 1
    kind: str  # explore, exploit, repeat, launch ...
    about: str  # the round or the trial that it is about
    reason: Message  # why the campaign takes this step
    trials: int  # that it may train
    left: int  # trials left in the budget before it


@runtime_checkable
class Watcher(Protocol):
    """Receives events in the thread that trains; be quick and raise nothing.

    Derive from `Silent` to handle some of the events only.

    >>> import tunewright as tw
    >>> isinstance(tw.progress.Silent(), tw.progress.Watcher)
    True
    """

    def step(self, step: CampaignStep) -> None:
        """A campaign begins a step."""
        ...

    def began(self, round: RoundStarted) -> None:
        """A round is open; several may follow one another."""
        ...

    def claimed(self, started: Started) -> None:
        """A trial begins."""
        ...

    def reached(self, reached: Reached) -> None:
        """A trial has come to a step."""
        ...

    def ended(self, concluded: Concluded) -> None:
        """An attempt is over."""
        ...

    def best(self, concluded: Concluded) -> None:
        """This trial, whose end was the event before, is better than all before it."""
        ...

    def message(self, text: str) -> None:
        """Something to know: advice, a pause, a store that cannot be reached, Ctrl-C."""
        ...

    def closed(self, summary: Summary) -> None:
        """The round is over; always its last event."""
        ...


class Silent:
    """A watcher that shows nothing; messages become warnings of the log.

    A round that is paused, or waits for its store, must not look like one that hangs.

    >>> class Ends(Silent):
    ...     def ended(self, concluded):
    ...         print(concluded.number, concluded.status, concluded.value)
    >>> isinstance(Ends(), Watcher)
    True
    """

    def step(self, step: CampaignStep) -> None:
        """Show nothing."""

    def began(self, round: RoundStarted) -> None:
        """Show nothing."""

    def claimed(self, started: Started) -> None:
        """Show nothing."""

    def reached(self, reached: Reached) -> None:
        """Show nothing."""

    def ended(self, concluded: Concluded) -> None:
        """Show nothing."""

    def best(self, concluded: Concluded) -> None:
        """Show nothing."""

    def message(self, text: str) -> None:
        """Log it."""
        log.warning("%s", text)

    def closed(self, summary: Summary) -> None:
        """Show nothing."""
