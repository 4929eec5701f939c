"""The total to quote: both ends of a lineage again, interleaved, with an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tunewright.errors import Misuse
from tunewright.referee.answers import Quote

_COVERED = 0.95


def _welch(first: Sequence[float], current: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """The mean difference first minus current, and its 95 % interval, by Welch.

    >>> gain, (low, high) = _welch([1.0, 1.1, 0.9], [0.5, 0.6, 0.4])
    >>> round(gain, 3), round(low, 3), round(high, 3)
    (0.5, 0.273, 0.727)
    """
    from scipy.stats import t

    a, b = np.asarray(first, dtype=float), np.asarray(current, dtype=float)
    parts = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    error = float(np.sqrt(sum(parts)))
    gain = float(a.mean() - b.mean())
    if error == 0:
        return gain, (gain, gain)
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1))
    half = float(t.ppf((1 + _COVERED) / 2, freedom)) * error
    return gain, (gain - half, gain + half)


def quote_gain(
    first: str, current: str, runs: int, sign: float, run: Callable[[str], float | None]
) -> Quote:
    """Run both commits in turn; the order within a pair changes, against drift."""
    values: dict[str, list[float]] = {first: [], current: []}
    failed = 0
    for pair in range(runs):
        for commit in (first, current) if pair % 2 == 0 else (current, first):
            value = run(commit)
            if value is None:
                failed += 1
            else:
                values[commit].append(value)
    if min(len(of_commit) for of_commit in values.values()) < 2:
        raise Misuse("referee.quote_failed", failed=failed)
    gain, interval = _welch(
        [sign * value for value in values[first]], [sign * value for value in values[current]]
    )
    return Quote(
        first=first,
        current=current,
        gain=gain,
        interval=interval,
        runs=runs,
        first_values=tuple(values[first]),
        current_values=tuple(values[current]),
        failed=failed,
    )
