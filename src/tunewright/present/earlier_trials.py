"""How many trials of earlier rounds count beside a round's own."""

from __future__ import annotations

from collections import Counter

from tunewright.messages import words
from tunewright.store.results import Results


def earlier_line(results: Results) -> str:
    """How many earlier trials count too, and of which rounds; empty without any."""
    counted = Counter(trial.origin[0] for trial in results.trials if trial.origin)
    if not counted:
        return ""
    of = ", ".join(f"{number} of {words.printable(name)}" for name, number in counted.items())
    verb = "counts" if sum(counted.values()) == 1 else "count"
    return f"{words.count(sum(counted.values()), 'earlier trial')} {verb} too: {of}"
