"""The handle that a training function gets from a probe: steps that stop in between.

It answers what the handle of a trial answers; nothing is evaluated, saved or recorded.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tunewright.design.ranges import Value
from tunewright.execution.processes.seeding import rank
from tunewright.seeds import seeds


class ProbeHandle:
    """One training as a probe drives it; `pace` is called before each step and may end it."""

    endless = True  # however many steps the program asks for

    def __init__(
        self, configuration: Mapping[str, Value], folder: Path, pace: Callable[[], None]
    ) -> None:
        """`pace` waits between steps as the probe wishes; `folder` goes when the probe ends."""
        self.configuration = dict(configuration)
        self.number: int | None = None
        self.total: int | None = None  # the probe decides
        self.stop_asked = False
        self.alone = False
        self.seeds = seeds(0, rank=rank())
        self.devices: tuple[str, ...] = ()
        self.attempt = 1
        self.start_step = self.step = 0
        self.restored: Any = None
        self.folder = folder
        self.eval_every = sys.maxsize
        self.drove = False  # whether the function ever asked for steps
        self._pace = pace

    def steps(self, max_train_steps: int | None = None) -> Iterator[int]:
        """Steps without an end: the probe stops when it has seen enough."""
        self.drove = True
        for step in itertools.count(1):
            self._pace()
            self.step = step
            yield step

    def log(self, step: int, metrics: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Nothing is kept."""

    def applied(self, values: Mapping[str, Any] | None = None, **named: Any) -> None:
        """A probe checks no values."""

    def flush(self) -> None:
        """Nothing is kept."""

    def eval_due(self, step: int) -> bool:
        """Never: an evaluation is no part of a training step."""
        return False

    def save_due(self, step: int) -> bool:
        """Never."""
        return False

    def save(self, state: object, step: int | None = None, *, best: int | None = None) -> None:
        """Nothing is kept."""

    def resumed_at(self, step: int) -> None:
        """A probe begins anew."""
