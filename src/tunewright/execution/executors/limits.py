"""What a trial may take: time, time without a step, memory; and how it ends when it takes more."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tunewright.errors import WorkloadError
from tunewright.messages import Message
from tunewright.store.outcome import End

_MEGABYTES = 1000**3 / 2**20  # of one gigabyte


@dataclass(frozen=True)
class Limits:
    """The limits of one trial; None is no limit."""

    trial_timeout_s: float | None = None  # for one attempt, from its start
    no_progress_timeout_s: float | None = None  # since the last step was reported
    memory_gb: float | None = None  # of the trial with everything it has started

    def __post_init__(self) -> None:
        """Refuse a limit that is no positive number."""
        for name, limit in vars(self).items():
            if limit is not None and not (
                isinstance(limit, int | float) and limit > 0 and not math.isnan(limit)
            ):
                raise WorkloadError("executor.limit_not_positive", name=name, limit=limit)

    def verdict(self, ran_s: float, since_step_s: float) -> tuple[End, Message] | None:
        """How a trial ends that ran so long, or None if it may go on.

        >>> Limits(trial_timeout_s=60).verdict(61, 2)
        ('failed', Message(code='limit.time', facts={'limit_s': 60}))
        """
        if self.trial_timeout_s is not None and ran_s > self.trial_timeout_s:
            return "failed", Message("limit.time", {"limit_s": self.trial_timeout_s})
        limit = self.no_progress_timeout_s
        if limit is not None and since_step_s > limit:
            return "failed", Message("limit.no_progress", {"limit_s": limit})
        return None

    def too_large(self, megabytes: float) -> bool:
        """Whether this is more memory than a trial may take."""
        return self.memory_gb is not None and megabytes > self.memory_gb * _MEGABYTES

    def out_of_memory(self, megabytes: float) -> tuple[End, Message]:
        """How a trial ends that took so much memory."""
        facts = {"used_gb": megabytes / _MEGABYTES, "limit_gb": self.memory_gb}
        return "infeasible", Message("limit.memory", facts)


def refuse(problems: Sequence[Message], *checks: Callable[[], object]) -> None:
    """Raise one error with these problems and those of the checks that fail; all at once."""
    every = list(problems)
    for check in checks:
        try:
            check()
        except WorkloadError as error:
            every += error.problems
    if every:
        raise WorkloadError.several(every)
