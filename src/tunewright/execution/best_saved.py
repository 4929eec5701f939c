"""Which snapshot of a trial is the best so far, by the objective that was logged at its step?

It stays beside the last two, so that retrospective selection finds it (playbook, "Saving
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

NOTED = "objective"  # in a manifest's `extra`: the metric and its value
Batch = Mapping[str, tuple[Sequence[int], Sequence[float]]]  # metric -> steps, values


class BestSaved:
    """The best snapshot of one attempt, heard and told in the order in which things happen."""

    def __init__(self, objective: Objective) -> None:
        """Where the last value counts, nothing is followed: the last snapshot stays anyway."""
        self._objective = objective
        self._follows = objective.at == "best"
        self._logged: tuple[int, float] | None = None  # the last step and value of the objective
        self._open: Snapshot | None = None  # saved before its objective was logged
        self._best: tuple[float, Path] | None = None
        self._recalled = False

    def heard(self, batch: Batch) -> None:
        """Points on their way to the record; steps never go back."""
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
        self, folder: Path, state: object, *, step: int, attempt: int, start_step: int
    ) -> Snapshot:
        """Write a snapshot; the last two stay, and the best one.

        `start_step` is where the attempt began: what earlier attempts saved after it is not built
        on.
        """
        if attempt > 1:
            self._recall(snapshot.listed(folder), start_step)
        value, spare = self._value_at(step), None
        if self._best is not None and (value is None or not self._beats(value)):
            spare = self._best[1]
        notes = {} if value is None else {NOTED: {self._objective.metric: value}}
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
        for one in sorted(earlier, key=lambda found: found.step):
            noted = one.extra.get(NOTED)
            if isinstance(noted, Mapping) and one.step <= start_step:
                value = noted.get(self._objective.metric)
                if isinstance(value, int | float):
                    self._consider(float(value), one.path)

    def _value_at(self, step: int) -> float | None:
        logged = self._logged
        if logged is None or logged[0] != step or not math.isfinite(logged[1]):
            return None
        return logged[1]

    def _consider(self, value: float, path: Path) -> None:
        if self._beats(value):
            self._best = (value, path)

    def _beats(self, value: float) -> bool:
        """Whether it is better than all before: of equal ones the earlier stays."""
        if not math.isfinite(value):
            return False
        return self._best is None or self._objective.better(value, self._best[0])
