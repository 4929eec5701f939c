"""The lineage: every launch decision of a store, and the baselines that came of them.

A launch has who, when, why, the evidence and the code. One whose verdict is `launch` makes its
candidate the baseline in the same transaction, so that every baseline has its proof.
"""

from __future__ import annotations

import getpass
import socket
from collections.abc import Mapping
from typing import Any

from tunewright.store.launches import Baseline, Launched, Place, Receipt
from tunewright.store.provenance import capture
from tunewright.store.store import Store

__all__ = ["Baseline", "Launched", "Place"]
BY_SPLIT = "paired by split"  # how `launches.decide` calls that way to compare


def who() -> str:
    """The user and machine that a decision is recorded under."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container without a user of this number
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def keep_launch(
    store: Store,
    decision: Mapping[str, Any],
    candidate: Place,
    baseline: Place | None,
    *,
    why: str = "",
    runs: int | None = None,
) -> int:
    """Record a decision; if its verdict is launch, its candidate is the baseline from now on.

    `runs` of the candidate made it win, by default those that were compared.
    """
    goal = str(store.round(candidate.round).round.goal)
    receipt = Receipt(who(), why, goal, capture().commit)
    with store.transaction():
        key = store.add_launch(decision, candidate, baseline, receipt)
        if decision.get("verdict") == "launch":
            won_with = len(decision.get("candidate_values") or ()) if runs is None else runs
            store.add_baseline(key, runs=won_with)
    return key


def first_baseline(store: Store, candidate: Place, why: str = "") -> int:
    """Make a trial the baseline without a comparison: there is nothing yet to compare it with."""
    return keep_launch(store, {"verdict": "launch"}, candidate, None, why=why)


def launches(store: Store) -> list[Launched]:
    """Every decision of the store, oldest first."""
    return store.launches()


def baselines(store: Store) -> list[Baseline]:
    """Every baseline of the store, oldest first: the lineage of the best configuration."""
    return store.baselines()


def baseline(store: Store) -> Baseline | None:
    """The present baseline; None before the first launch."""
    found = baselines(store)
    return found[-1] if found else None


def looked(store: Store, candidate: Place, against: Place, by_split: bool = False) -> int:
    """How often this pair was decided on before, from runs: on one data split, or split by split.

    Those are different runs, so a decision of one kind is no look of the other kind.
    """
    pair = ((candidate.round, candidate.trial), (against.round, against.trial))
    own = [one for one in launches(store) if one.pair == pair and one.compared]
    return sum((one.decision.get("method") == BY_SPLIT) == by_split for one in own)


def tried(store: Store, candidate: Place, against: Place) -> int:
    """How many other trials of the candidate's round were compared with this baseline before."""
    baseline = (against.round, against.trial)
    others = {
        one.candidate.trial
        for one in launches(store)
        if one.compared and one.candidate.round == candidate.round and one.pair[1:] == (baseline,)
    }
    return len(others - {candidate.trial})
