"""What a trial may take: time, time without a step, memory; and how it ends when it takes more."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tunewright.errors import WorkloadError
from tunewright.execution.executors.executor import Outcome

MEGABYTES = 1000**3 / 2**20  # of one gigabyte


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
                raise WorkloadError(
                    f"{name}={limit!r} is not a positive number; leave it out for no limit."
                )

    def exceeded(self, ran_s: float, since_step_s: float) -> tuple[Outcome, str] | None:
        """How a trial ends that ran so long, or None if it may go on.

        >>> Limits(trial_timeout_s=60).exceeded(61, 2)
        ('failed', 'timeout: it ran for 60 s (trial_timeout_s)')
        """
        if self.trial_timeout_s is not None and ran_s > self.trial_timeout_s:
            return "failed", f"timeout: it ran for {self.trial_timeout_s:g} s (trial_timeout_s)"
        limit = self.no_progress_timeout_s
        if limit is not None and since_step_s > limit:
            said = f"timeout: no step was reported for {limit:g} s (no_progress_timeout_s)"
            return "failed", said
        return None

    def too_large(self, megabytes: float) -> bool:
        """Whether this is more memory than a trial may take."""
        return self.memory_gb is not None and megabytes > self.memory_gb * MEGABYTES

    def out_of_memory(self, megabytes: float) -> tuple[Outcome, str]:
        """How a trial ends that took so much memory."""
        taken = megabytes / MEGABYTES
        said = f"out of memory: it took {taken:.3g} GB of {self.memory_gb:g} GB (memory_gb)"
        return "infeasible", said
