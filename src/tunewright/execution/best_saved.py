"""Which snapshots of a trial are the best so far, by the objective that was logged at their steps?

They stay beside the last two, so that retrospective selection finds them (playbook, "Saving
checkpoints and retrospectively selecting the best checkpoint"). The objective may be logged before
or after the snapshot of the same step. It is noted in the snapshot's manifest when it is known in
time, so that a later attempt knows it too.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tunewright import snapshot
from tunewright.design.objective import Objective
from tunewright.snapshot import Snapshot

_NOTED = "objective"  # in a manifest's `extra`: the metric and its value
Batch = Mapping[str, tuple[Sequence[int], Sequence[float]]]  # metric -> steps, values


class BestSaved:
    """The best snapshots of one attempt, received and sent in the order in which things happen."""

    def __init__(self, objective: Objective) -> None:
        """Where the last value counts, nothing is followed: the last snapshot stays anyway."""
        self._objective = objective
        self._follows = objective.at == "best"
        self._logged: tuple[int, float] | None = None  # the last step and value of the objective
        self._open: Snapshot | None = None  # saved before its objective was logged
        self._best: list[tuple[float, Path]] = []  # best first, at most `_count`
        self._count = 1
        self._recalled = False

    def hear(self, batch: Batch) -> None:
        """Points on their way to the store; steps never go back."""
        if not self._follows or self._objective.metric not in batch:
            return
        steps, values = batch[self._objective.metric]
        waiting = self._open
        if waiting is not None and steps[0] <= waiting.step <= steps[-1]:
            place = bisect_left(steps, waiting.step)
            if steps[place] == waiting.step:
                self._consider(values[place], waiting.path)
                self._open = None
        self._logged = (steps[-1], values[-1])

    def save(
        self,
        folder: Path,
        state: object,
        *,
        step: int,
        attempt: int,
        start_step: int,
        best: int = 1,
        due: bool = True,
    ) -> Snapshot | None:
        """Write a snapshot; the last two stay, and the `best` ones.

        Where it is not `due`, only one of the best is written: None if its objective is known and
        is not. `start_step` is where the attempt began: what earlier attempts saved after it is not
        built on.
        """
        self._count = max(self._count, best)
        if attempt > 1:
            self._recall(snapshot.list_snapshots(folder), start_step)
        value = self._value_at(step)
        ranks = value is not None and self._place(value) < self._count
        if not due and not ranks and self._known(step):
            return None
        spare = [path for _, path in self._best[: self._count - ranks]]
        notes = {} if value is None else {_NOTED: {self._objective.metric: value}}
        written = snapshot.save(folder, state, step=step, attempt=attempt, extra=notes, spare=spare)
        self._open = written if value is None and self._follows else None
        if value is not None:
            self._consider(value, written.path)
        return written

    def _recall(self, earlier: Iterable[Snapshot], start_step: int) -> None:
        """Learn, once, of the snapshots of earlier attempts that this one builds on."""
        if self._recalled or not self._follows:
            return
        self._recalled = True
        for saved in sorted(earlier, key=lambda each: each.step):
            noted = saved.extra.get(_NOTED)
            if isinstance(noted, Mapping) and saved.step <= start_step:
                value = noted.get(self._objective.metric)
                if isinstance(value, int | float):
                    self._consider(float(value), saved.path)

    def _known(self, step: int) -> bool:
        """Whether it is known how good this step is, or does not matter as the last one counts."""
        return not self._follows or (self._logged is not None and self._logged[0] == step)

    def _value_at(self, step: int) -> float | None:
        logged = self._logged
        if logged is None or logged[0] != step or not math.isfinite(logged[1]):
            return None
        return logged[1]

    def _consider(self, value: float, path: Path) -> None:
        if math.isfinite(value):
            self._best.insert(self._place(value), (value, path))
            del self._best[self._count :]

    def _place(self, value: float) -> int:
        """How many are at least as good: of equal ones the earlier stays."""
        if not math.isfinite(value):
            return len(self._best) + self._count
        better = self._objective.better
        return sum(not better(value, other) for other, _ in self._best)
