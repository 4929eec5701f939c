"""Earlier rounds' trials beside a round's own, where it continues them: reading, and saying so."""

from __future__ import annotations

from collections import Counter

from tunewright.cli import words
from tunewright.cli.project_folder import open_store
from tunewright.record.joined import with_earlier
from tunewright.record.results import Results


def read_joined(round: str, store: str | None) -> Results:
    """The round's results, with the earlier trials that fit it."""
    with open_store(store) as opened:
        return with_earlier(opened, round)


def earlier_line(results: Results) -> str:
    """How many earlier trials count too, and of which rounds; empty without any."""
    counted = Counter(trial.origin[0] for trial in results.trials if trial.origin)
    if not counted:
        return ""
    of = ", ".join(f"{number} of {words.printable(name)}" for name, number in counted.items())
    verb = "counts" if sum(counted.values()) == 1 else "count"
    return f"{words.count(sum(counted.values()), 'earlier trial')} {verb} too: {of}"
