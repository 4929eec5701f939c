"""One seat on a cluster as the supervisor knows it: an actor, the trial it trains, its loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tunewright.execution.executors.executor import Assignment
from tunewright.execution.executors.ray.host import Arrived
from tunewright.messages import Message
from tunewright.store.outcome import End


@dataclass(eq=False)
class Place:
    """A seat on some node: an actor, and the trial it trains."""

    actor: Any
    arrived: Arrived | None = None  # None: Ray has not placed it yet
    loads: set[int] = field(default_factory=set)  # what it has been sent
    job: Assignment | None = None
    shared: bool = True  # whether the supervisor sees the job's folder
    began: float = 0.0  # when the job was given to it, by the monotonic clock as all times here
    heard: int = 0  # how much of what it sent has been acknowledged
    idle_since: float = 0.0
    unreachable_since: float | None = None
    stop_by: float | None = None  # its trial was asked to stop
    order_at: float = 0.0  # when to ask again

    @property
    def where(self) -> str:
        """The machine, for messages."""
        return self.arrived.host if self.arrived else "a node"

    def lost(self, error: Exception) -> tuple[End, Message]:
        """How its trial ends when Ray reports that the host is gone."""
        if self.stop_by is not None:
            return "stopped", Message("stopped.host_lost", {"where": self.where})
        said = first_words(error)
        facts = {
            "what": "node" if "node" in said else "process",
            "where": self.where,
            "text": said,
            "folder_lost": not self.shared,
        }
        outcome: End = "stopped" if getattr(error, "preempted", False) else "died"
        return outcome, Message("host.lost", facts)


def first_words(error: Exception) -> str:
    """The most informative sentence of Ray's error: the first of its last line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[-1].partition(". ")[0].rstrip(".") if lines else ""
    return said[:300] or type(error).__name__
