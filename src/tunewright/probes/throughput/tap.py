"""Where a training gets its batches: timed, or answered with the first batch again and again.

In the process of a probe the iteration of every `DataLoader` and the data side of `pipeline.fit` go
through here; any other source of batches joins by `watched(batches)`, which outside of a probe is
the source itself. Only the outermost of nested sources counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from tunewright.probes.throughput.loader_ladder import size_of

# ---- which features of a batch does a training step use? Seen where batches are dictionaries.
#
# A feature that is loaded, collated and copied, and then never looked at, should go before all that
# (playbook: "remove unused features early in the pipeline").


class UsedKeys:
    """Notes which entries of dictionaries are asked for, while it is asked to."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._sizes: dict[Any, int] = {}
        self._used: set[Any] = set()
        self._whole = False  # somebody went through all entries: nothing is known of single ones

    def watch(self, batch: Any) -> Any:
        """The batch, watched where it is a plain dictionary."""
        if type(batch) is not dict:
            return batch
        self._sizes |= {name: size_of(part) or 0 for name, part in batch.items()}
        return _Noted(batch, self)

    def use(self, name: Any) -> None:
        """An entry was asked for."""
        self._used.add(name)

    def use_all(self) -> None:
        """All entries were asked for."""
        self._whole = True

    @property
    def unused(self) -> dict[str, float]:
        """The entries that were never asked for, each with its share of the bytes of a batch."""
        if self._whole or not self._used:
            return {}
        total = max(sum(self._sizes.values()), 1)
        spared = (name for name in self._sizes if name not in self._used)
        return {str(name): self._sizes[name] / total for name in spared}


class _Noted(dict[Any, Any]):
    """A dictionary that records which of its entries are read."""

    def __init__(self, batch: dict[Any, Any], keys: UsedKeys) -> None:
        super().__init__(batch)
        self._keys = keys

    def __getitem__(self, name: Any) -> Any:
        self._keys.use(name)
        return super().__getitem__(name)

    def get(self, name: Any, default: Any = None) -> Any:
        self._keys.use(name)
        return super().get(name, default)

    def pop(self, name: Any, *default: Any) -> Any:
        self._keys.use(name)
        return super().pop(name, *default)

    def values(self) -> Any:
        self._keys.use_all()
        return super().values()

    def items(self) -> Any:
        self._keys.use_all()
        return super().items()

    def keys(self) -> Any:
        """Who unpacks a dictionary (`**batch`) takes its keys, then every entry."""
        self._keys.use_all()
        return super().keys()

    def __iter__(self) -> Iterator[Any]:
        self._keys.use_all()
        return super().__iter__()

    def copy(self) -> dict[Any, Any]:
        self._keys.use_all()
        return super().copy()


# ---- tap


Item = TypeVar("Item")


class Tap:
    """What the sources of this process share: waiting times, and whether the pipeline is out."""

    def __init__(self) -> None:
        """Let everything through."""
        self.cached = False  # answer with the first batch, at no cost
        self.waits: list[float] = []  # seconds waited for each batch since the last look
        self.loader: Any = None  # the DataLoader that was iterated last
        self.used: UsedKeys | None = None  # notes which entries of a batch are asked for
        self._inside = False

    def next(self, ask: Callable[[], Item], kept: list[Item]) -> Item:
        """The next batch of a source, whose first is held in `kept`."""
        if self._inside:
            return ask()
        if self.cached and kept:
            self.waits.append(0.0)
            return self._watch_keys(kept[0])
        before = time.perf_counter()
        self._inside = True
        try:
            item = ask()
        finally:
            self._inside = False
        self.waits.append(time.perf_counter() - before)
        if not kept:
            kept.append(item)
        return self._watch_keys(item)

    def _watch_keys(self, item: Item) -> Item:
        return item if self.used is None else self.used.watch(item)


_active: Tap | None = None


def watched(batches: Iterable[Item]) -> Iterable[Item]:
    """Show a source of batches to the probes: `for batch in watched(batches)`.

    Args:
        batches: the batches that the training takes.

    >>> list(watched([1, 2]))
    [1, 2]
    """
    return batches if _active is None else _Watched(batches, _active)


def install() -> Tap:
    """Put the tap in; for the process of a probe alone. Without torch, only `watched` is seen."""
    global _active
    if _active is not None:
        return _active
    tap = _active = Tap()
    try:
        from torch.utils.data import DataLoader
    except ImportError:
        return tap
    from tunewright.pipeline.throughput import Clock

    iterate: Callable[[Any], Iterator[Any]] = DataLoader.__iter__
    timed_next = Clock.next

    def iterate_watched(loader: Any) -> Iterator[Any]:
        tap.loader = loader
        return _Watching(iterate(loader), tap)

    def next_watched(clock: Any, items: Iterator[Any]) -> Any:
        kept = clock.__dict__.setdefault("_kept_by_probe", [])
        return tap.next(lambda: timed_next(clock, items), kept)

    DataLoader.__iter__ = iterate_watched  # type: ignore[method-assign, assignment]
    Clock.next = next_watched  # type: ignore[method-assign, assignment]
    return tap


class _Watched(Iterable[Item]):
    def __init__(self, batches: Iterable[Item], tap: Tap) -> None:
        self._batches, self._tap = batches, tap

    def __iter__(self) -> Iterator[Item]:
        return _Watching(iter(self._batches), self._tap)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batches, name)


class _Watching(Iterator[Item]):
    """An iterator whose batches are timed; everything else is delegated to the wrapped one."""

    def __init__(self, items: Iterator[Item], tap: Tap) -> None:
        self._items, self._tap = items, tap
        self._kept: list[Item] = []

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        return self._tap.next(self._items.__next__, self._kept)

    def __len__(self) -> int:
        return len(self._items)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._items, name)
