"""The audit of kept changes: is the current commit no worse without one of them?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tunewright.referee._lineage import Change
from tunewright.referee.answers import Audit, Cost, Removal

FEWEST, MOST = 4, 10  # runs of each of the two before a verdict: at least, and by default at most
_WRONG = 0.05  # removals of a change whose loss is just the margin, over all looks together
_APART = 1.5  # each look has so many times the runs of the one before


@dataclass
class AuditResult:
    """The removals so far, and where the lineage is without them."""

    margin: float
    commit: str
    removals: list[Removal] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)  # of the commit

    @property
    def record(self) -> dict[str, Any]:
        """What the journal keeps."""
        return {
            "margin": self.margin,
            "commit": self.commit,
            "mean": float(np.mean(self.losses)) if self.losses else 0.0,
            "runs": len(self.losses),
            "removals": [vars(removal) for removal in self.removals],
        }

    def answer(self, cost: Cost) -> Audit:
        """The audit for readers."""
        return Audit(
            margin=self.margin, removals=tuple(self.removals), commit=self.commit, cost=cost
        )


def looks(most: int) -> tuple[int, ...]:
    """After how many runs of each there is a verdict: few looks, for each costs certainty.

    >>> looks(10), looks(40)
    ((4, 6, 10), (4, 6, 9, 14, 21, 40))
    """
    counts = [FEWEST]
    while counts[-1] < most:
        following = math.ceil(counts[-1] * _APART)
        counts.append(following if following * _APART <= most else most)
    return tuple(counts)


def bounds(
    without: Sequence[float], current: Sequence[float], held: float
) -> tuple[float, float, float]:
    """How much worse it is without, with one-sided limits that hold so often, from a pooled t.

    >>> loss, low, high = bounds([1.0, 1.1, 0.9, 1.0], [1.0, 1.05, 0.95, 1.0], 0.95)
    >>> round(loss, 3), low < 0 < high
    (0.0, True)
    """
    from scipy.stats import t

    a, b = np.asarray(without), np.asarray(current)
    freedom = len(a) + len(b) - 2
    pooled = (a.var() * len(a) + b.var() * len(b)) / freedom
    error = float(np.sqrt(pooled * (1 / len(a) + 1 / len(b))))
    loss = float(a.mean() - b.mean())
    half = float(t.ppf(held, freedom)) * error
    return loss, loss - half, loss + half


def audit_changes(
    kept: Sequence[Change],
    current: str,
    margin: float,
    run: Callable[[str], float | None],
    without: Callable[[str, Change], str | None],
    most: int = MOST,
) -> AuditResult:
    """Try each kept change, newest first: remove it where the loss is surely below the margin.

    Both commits are run in turn, at least 4 times each. At a few looks a verdict needs its limit on
    one side of the margin, else the change stays. The limits of all looks hold together in 95 %.
    """
    audit = AuditResult(margin, current)
    planned = looks(most)
    held = 1 - _WRONG / len(planned)
    for change in reversed(kept):
        commit_without = without(audit.commit, change)
        if commit_without is None:
            audit.removals.append(_removal(change, "conflict", [], [], held))
            continue
        losses: list[float] = []
        verdict = "undecided"
        for count in range(1, most + 1):
            values = [run(commit) for commit in (commit_without, audit.commit)]
            if values[0] is None or values[1] is None:
                verdict = "keep"  # it does not train without the change
                break
            losses.append(values[0])
            audit.losses.append(values[1])
            if count in planned:
                _, low, high = bounds(losses, audit.losses, held)
                if high < margin or low > margin:
                    verdict = "remove" if high < margin else "keep"
                    break
        audit.removals.append(_removal(change, verdict, losses, audit.losses, held))
        if verdict == "remove":
            audit.commit, audit.losses = commit_without, losses
    return audit


def _removal(
    change: Change,
    verdict: Any,
    losses: Sequence[float],
    current: Sequence[float],
    held: float,
) -> Removal:
    known = len(losses) >= 2 and len(current) >= 2
    loss, low, high = bounds(losses, current, held) if known else (0.0, 0.0, 0.0)
    return Removal(
        commit=change.commit,
        summary=change.summary,
        verdict=verdict,
        loss=loss if known else None,
        interval=(low, high) if known else None,
        runs=len(losses),
    )
