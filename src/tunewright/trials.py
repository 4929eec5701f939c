"""Recorded trials: train one again under its own seed, or evaluate selected checkpoints.

tw.trials.again(results.best, workload)
tw.trials.evaluate(results.ranked()[:5], workload, full_validation)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.execution.again import Again as Again, again as again
    from tunewright.execution.checkpoint import Checkpoint as Checkpoint
    from tunewright.execution.evaluate import evaluate as evaluate

offer(
    __name__,
    {
        "execution.again": ("Again", "again"),
        "execution.checkpoint": ("Checkpoint",),
        "execution.evaluate": ("evaluate",),
    },
)
