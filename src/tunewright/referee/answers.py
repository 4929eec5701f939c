"""What the referee answers: a decision about a change, the state of a lineage, the quoted total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from tunewright.messages import Message, Text

Judgement = Literal["keep", "discard", "undecided"]
Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What was spent and what is left; None where no limit was set."""

    runs: int  # trainings of the lineage so far
    hours: float
    runs_left: int | None
    hours_left: float | None


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One change, judged. Gains are in units of the metric; positive is better.

    `interval` is a posterior interval of the change's effect (90 %). It is the belief of the keep
    rule; a total to quote comes from `Referee.quote`, which runs both ends again.
    """

    number: int  # of the change in the lineage, from 1
    commit: str
    parent: str  # the baseline that it was judged against
    summary: str  # the first line of the commit message
    verdict: Judgement
    why: Message  # a code: kept, no_gain, runs_used, budget_spent, failed
    expected_gain: float
    interval: Interval
    chance_better: float  # posterior probability that the effect is positive
    sd: float  # of one run, as estimated over the lineage
    values: tuple[float, ...]  # the metric of each run of the change
    runs: int  # of the change
    baseline_runs: int  # made for this decision
    seconds: float
    cost: Cost

    @property
    def sentence(self) -> Text:
        """The decision in one sentence."""
        return Message(f"referee.decided.{self.verdict}", self.facts).text

    @property
    def facts(self) -> Mapping[str, Any]:
        """The numbers of the sentence."""
        return {
            "commit": self.commit[:12],
            "gain": self.expected_gain,
            "low": self.interval[0],
            "high": self.interval[1],
            "runs": self.runs,
            "why": self.why.to_data(),
        }

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {**asdict(self), "why": self.why.to_data()}


@dataclass(frozen=True, kw_only=True)
class Quote:
    """The gain from the first to the current commit, of fresh interleaved runs alone."""

    first: str
    current: str
    gain: float  # mean of the first minus mean of the current, in the direction that is better
    interval: Interval  # 95 %, Welch
    runs: int  # of each of the two
    first_values: tuple[float, ...]
    current_values: tuple[float, ...]
    failed: int = 0  # runs that gave no value

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Status:
    """Where a lineage stands."""

    name: str
    folder: str  # of the repository
    command: str
    metric: str
    minimize: bool
    first: str
    current: str
    tried: int
    kept: int
    discarded: int
    undecided: int
    running_gain: float  # sum of the posterior means: an estimate, not to be quoted
    sd: float | None  # of one run; None before the first baseline has run
    baseline: float | None  # posterior mean of the current commit's metric
    baseline_sd: float | None
    protect: tuple[str, ...]
    quote: Quote | None  # the newest
    cost: Cost

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Removal:
    """One kept change of an audit: whether the current commit is no worse without it."""

    commit: str
    summary: str
    verdict: Literal["remove", "keep", "conflict", "undecided"]
    loss: float | None  # expected loss without it, in the metric's units; None: not run
    interval: Interval | None  # limits that hold over all looks together, 95 % on each side
    runs: int


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Kept changes that cost code and gain nothing."""

    margin: float  # a loss below it is none
    removals: tuple[Removal, ...]
    commit: str  # the current commit without those that can be removed; itself if none can
    cost: Cost

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return asdict(self)
