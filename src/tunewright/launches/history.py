"""The verb `history`: every launch decision of a store, and the baselines they made."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from tunewright.facts import Facts, plain
from tunewright.launches import lineage
from tunewright.launches.lineage import Baseline, Launched
from tunewright.store.store import Store


@dataclass(frozen=True)
class LaunchHistory(Facts):
    """The launch decisions of a store, oldest first, and the baselines they made."""

    launches: tuple[Launched, ...]
    baselines: tuple[Baseline, ...]

    @property
    def baseline(self) -> Baseline | None:
        """What the next candidate has to beat; None before the first launch."""
        return self.baselines[-1] if self.baselines else None

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {**super().to_data(), "baseline": plain(self.baseline)}


def history(store: str | os.PathLike[str]) -> LaunchHistory:
    """Every launch decision of a store with its evidence, and the baseline that resulted.

    for one in tw.history("tuning.db").launches:
        print(one.written, one.verdict, one.candidate, one.why)

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
    """
    with Store.open(store, create=False) as opened:
        return LaunchHistory(tuple(lineage.launches(opened)), tuple(lineage.baselines(opened)))
