"""What a batch-size probe could not see of what it timed, said rather than guessed."""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.probes.throughput.size_row import SizeRow
from tunewright.probes.throughput.timing import TimingRule

FROM_OUTSIDE = (
    "what holds its steps up: waiting for input and the work of the device are not to be seen from "
    "outside of a command, and evaluations between two step lines count as steps; write a factory "
    "make_step(batch_size) to learn more"
)
ON_A_GPU = (
    "the memory of its GPU, which is not to be seen from outside of a command: the largest size "
    "was looked for by doubling until it failed"
)


def unseen(kind: str, rows: Sequence[SizeRow], rule: TimingRule) -> list[str]:
    """What could not be known of a subject of this kind; nothing of what is driven step by step."""
    if kind != "command":
        return []
    found = [FROM_OUTSIDE]
    if any(row.reserved_mb is None for row in rows):
        found.append(ON_A_GPU)
    few = [str(row.batch_size) for row in rows if len(row.timing.window_s) < rule.windows]
    if few:
        found.append(
            f"more step lines at {', '.join(few)}: they come too seldom for {rule.windows} "
            'windows of time; print {"step": n} every second or so'
        )
    return found
