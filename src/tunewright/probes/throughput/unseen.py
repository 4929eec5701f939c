"""What a batch-size probe could not see of what it timed, reported rather than guessed."""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.messages import Message
from tunewright.probes.throughput.size_row import SizeRow
from tunewright.probes.throughput.timing import TimingRule


def unseen(kind: str, rows: Sequence[SizeRow], rule: TimingRule) -> list[Message]:
    """What could not be known of a subject of this kind; nothing of what is driven step by step."""
    if kind != "command":
        return []
    found = [Message("probe.unseen.from_outside")]
    if any(row.reserved_mb is None for row in rows):
        found.append(Message("probe.unseen.gpu_memory"))
    few = [row.batch_size for row in rows if len(row.timing.window_s) < rule.windows]
    if few:
        found.append(Message("probe.unseen.few_lines", {"sizes": few, "windows": rule.windows}))
    return found
