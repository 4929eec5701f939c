"""The columns of rounds: read whole once, then only the trials that have changed.

Every page of a round gets the same bytes. A table of ten thousand trials takes half a second of a
processor to read and a few hundred kilobytes to keep.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tunewright.store.fenced_writes import AT_ONCE
from tunewright.store.overview import Overview, read_overview
from tunewright.store.store import Store
from tunewright.ui import columns

MOST = 8  # rounds that are kept; the one that was used longest ago is dropped

States = Mapping[int, tuple[str, int, float]]


@dataclass
class _Kept:
    states: States
    overview: Overview
    encoded: bytes | None = None


class KeptTables:
    """The columns of the rounds that pages look at."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._kept: dict[str, _Kept] = {}
        self._lock = threading.Lock()

    def overview(self, store: Store, name: str, states: States) -> Overview:
        """The columns of a round whose trials are at `states`, or at something newer."""
        with self._lock:
            return self._at(store, name, states).overview

    def table(self, store: Store, name: str, states: States) -> bytes:
        """The same, as a browser reads it."""
        with self._lock:
            kept = self._at(store, name, states)
            if kept.encoded is None:
                kept.encoded = columns.table(kept.overview)
            return kept.encoded

    def forget(self) -> None:
        """Read every round again."""
        with self._lock:
            self._kept.clear()

    def _at(self, store: Store, name: str, states: States) -> _Kept:
        kept = self._kept.pop(name, None)
        if kept is not None:
            kept = _update(store, name, kept, states)
        if kept is None:
            kept = _Kept(states, read_overview(store, name))
        self._kept[name] = kept
        while len(self._kept) > MOST:
            self._kept.pop(next(iter(self._kept)))
        return kept


def _update(store: Store, name: str, kept: _Kept, states: States) -> _Kept | None:
    """What is kept with the rows that changed; None where the round must be read whole."""
    record = store.round(name)
    before = kept.overview.record
    if record.id != before.id or record.round != before.round or kept.states.keys() - states.keys():
        return None  # another round, a longer one, or one that lost trials
    changed = [key for key, state in states.items() if kept.states.get(key) != state]
    if not changed:
        return kept
    if len(changed) > AT_ONCE:
        return None
    newer = read_overview(store, name, changed)
    overview_now = merge(kept.overview, newer)
    return None if overview_now is None else _Kept(states, overview_now)


def merge(old: Overview, newer: Overview) -> Overview | None:
    """A round with some rows replaced, by their numbers; None where one is not among them."""
    rows = np.searchsorted(old.numbers, newer.numbers)
    if (rows >= len(old)).any() or (old.numbers[rows] != newer.numbers).any():
        return None
    arrays = {}
    for name in ("keys", "studies", "statuses", "values", "steps", "seconds", "positions"):
        arrays[name] = getattr(old, name).copy()
        arrays[name][rows] = getattr(newer, name)
    return replace(old, record=newer.record, repeats=newer.repeats, **arrays)
