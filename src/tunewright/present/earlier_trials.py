"""How many trials of earlier rounds count next to a round's own."""

from __future__ import annotations

from collections import Counter

from tunewright.messages import Message
from tunewright.store.results import Results


def earlier_line(results: Results) -> str:
    """How many earlier trials count too, and of which rounds; empty without any."""
    counted = Counter(trial.origin[0] for trial in results.trials if trial.origin)
    return Message("round.earlier_trials", {"rounds": dict(counted)}).text if counted else ""
