"""Which features of a batch does a training step use? Seen where batches are dictionaries.

A feature that is loaded, collated and copied, and then never looked at, should go before all that
(playbook: "remove unused features early in the pipeline").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tunewright.probes.throughput.stage_traits import size_of


class UsedKeys:
    """Notes which entries of dictionaries are asked for, while it is asked to."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._sizes: dict[Any, int] = {}
        self._used: set[Any] = set()
        self._whole = False  # somebody went through all entries: nothing is known of single ones

    def noted(self, batch: Any) -> Any:
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
