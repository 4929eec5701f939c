"""What the batch-size probe is asked: which sizes, on how many processes, how carefully."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tunewright.design.ranges import Value
from tunewright.errors import DesignError
from tunewright.messages import Message
from tunewright.probes.throughput.largest_size import Bounds
from tunewright.probes.throughput.size_sweep import Plan
from tunewright.probes.throughput.timing import TimingRule

MOST = 2**20  # examples per step; nobody trains with more


@dataclass(frozen=True, kw_only=True)
class BatchSizeTerms:
    """What `tw.probes.batch_size` is asked; wrong fields are refused at once.

    Sizes are doubled from `smallest` until a doubling no longer pays, or up to the largest that
    fits with `everything`; or exactly `sizes` are measured. `batch_size` counts the examples of
    all `processes` together.

    >>> BatchSizeTerms(sizes=[64, 16]).first, BatchSizeTerms(processes=4).first
    (16, 4)
    >>> BatchSizeTerms(smallest=64, largest=8)
    Traceback (most recent call last):
    tunewright.errors.DesignError: largest=8 is below smallest=64.
    """

    smallest: int | None = None  # begin here; None: the least of `sizes`, else one per process
    largest: int | None = None  # go no further; None: until memory or time ends it
    sizes: Sequence[int] = ()  # measure exactly these; empty: doubled from the smallest
    everything: bool = False  # measure all sizes that fit, not only up to the knee
    # hyperparameters with which examples are largest, such as {"sequence_length": 4096}: sizes are
    # timed without them, but must fit with them too
    longest: Mapping[str, Value] = field(default_factory=dict)
    processes: int = 1  # that train together; torchrun's variables are set for them
    memory_gb: float | None = None  # the most memory to take, on a CPU too; None: what is there
    rule: TimingRule = field(default_factory=TimingRule)  # how long and how often a size is timed
    longest_step_s: float = 20.0  # a size whose step takes longer is not tried

    def __post_init__(self) -> None:
        problems: list[Message] = []
        if self.processes < 1:
            problems.append(Message("throughput.no_process", {"processes": self.processes}))
        if self.memory_gb is not None and self.memory_gb <= 0:
            problems.append(Message("throughput.bad_memory_limit", {"memory_gb": self.memory_gb}))
        wrong = [size for size in (self.first, *self.sizes) if size < 1]
        if wrong:
            problems.append(Message("throughput.bad_size", {"size": wrong[0]}))
        uneven = [s for s in (self.first, *self.sizes) if s % max(self.processes, 1)]
        if uneven:
            problems.append(
                Message("throughput.uneven_size", {"size": uneven[0], "processes": self.processes})
            )
        if self.most < self.first:
            facts = {"largest": self.most, "smallest": self.first}
            problems.append(Message("throughput.largest_below_smallest", facts))
        if problems:
            raise DesignError.several(problems)

    @property
    def first(self) -> int:
        """The size that is tried first."""
        if self.smallest is not None:
            return self.smallest
        return min(self.sizes) if self.sizes else max(self.processes, 1)

    @property
    def most(self) -> int:
        """The size beyond which none is tried."""
        return min(self.largest or MOST, max(self.sizes, default=MOST))

    @property
    def plan(self) -> Plan:
        """Which sizes are timed, and how carefully."""
        return Plan(tuple(sorted(set(self.sizes))), self.first, self.everything, self.rule)

    @property
    def bounds(self) -> Bounds:
        """Where the largest size is looked for."""
        memory_mb = None if self.memory_gb is None else self.memory_gb * 1024
        return Bounds(self.first, self.most, self.processes, memory_mb, self.longest_step_s)

    @property
    def longest_shown(self) -> str:
        """The hyperparameters of the largest examples, in words."""
        return shown(self.longest) if self.longest else ""

    def key(self) -> dict[str, Any]:
        """What an answer in the store was asked; another key is measured anew."""
        return {
            "sizes": tuple(sorted(set(self.sizes))),
            "smallest": self.first,
            "most": self.most,
            "everything": self.everything,
            "processes": self.processes,
            "memory_gb": self.memory_gb,
            "rule": asdict(self.rule),
            "longest_step_s": self.longest_step_s,
            "longest": self.longest_shown,
        }


def shown(configuration: Mapping[str, Value]) -> str:
    """A configuration in words, sorted by name.

    >>> shown({"width": 64, "depth": 2})
    'depth=2, width=64'
    """
    return ", ".join(f"{name}={value!r}" for name, value in sorted(configuration.items())) or "none"
