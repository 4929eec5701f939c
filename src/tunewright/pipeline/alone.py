"""The handle of a training that nobody tunes: what `fit` uses when it gets no `run`.

It answers the same questions as the handle of a trial (steps, log, eval_due, save_due, save,
restored, seeds), so that one loop serves both. With a folder it saves there and resumes from there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tunewright import snapshot
from tunewright.pipeline import hosts
from tunewright.pipeline.evaluate import eval_due
from tunewright.pipeline.hosts import Host

_SAVES = 10  # periodic snapshots of a training

Curve = list[tuple[int, float]]


class Alone:
    """One training outside of any round."""

    def __init__(
        self,
        folder: Path | str | None = None,
        *,
        seed: int = 0,
        evaluations: int = 100,
        saves: int = _SAVES,
        host: Host | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """`folder`: where to save, and to resume from; None: nothing is written."""
        self.host = host or hosts.current()
        self.folder = None if folder is None else Path(folder)
        self.seeds = hosts.seeds(seed, self.host)
        self.attempt = 1
        self.start_step = 0  # updates that an earlier attempt had done
        self.curves: defaultdict[str, Curve] = defaultdict(list)  # everything logged
        self._evaluations, self._saves = evaluations, saves
        self._say = say if self.host.is_main else None
        self._total = self._step = 0
        self.restored = self._resume()

    def _resume(self) -> Any:
        if self.folder is None:
            return None
        newest = snapshot.latest(self.folder / "snapshots")
        if newest is None:
            return None
        self.start_step, self.attempt = newest.step, newest.attempt + 1
        kept = snapshot.load(newest)
        for name, (steps, values) in kept["curves"].items():
            self.curves[name] = list(zip(steps.tolist(), values.tolist(), strict=True))
        return kept["state"]

    def steps(self, max_train_steps: int) -> Iterator[int]:
        """The updates still to do, counted from 1."""
        self._total = max_train_steps
        for step in range(self.start_step + 1, max_train_steps + 1):
            self._step = step
            yield step

    def log(self, step: int, metrics: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Keep metrics of a step in `curves`."""
        for name, value in {**(metrics or {}), **named}.items():
            self.curves[name].append((step, float(value)))

    def tell(self, step: int) -> None:
        """Print the newest value of everything that was logged at this step, in one line."""
        if self._say is not None:
            newest = {
                name: curve[-1] for name, curve in self.curves.items() if curve[-1][0] == step
            }
            values = "  ".join(f"{name} {value:.4g}" for name, (_, value) in newest.items())
            self._say(f"step {step} of {self._total}  {values}")

    def eval_due(self, step: int) -> bool:
        """Whether to evaluate after this update: about 100 times, always at the last."""
        every = max(1, self._total // self._evaluations)
        return eval_due(step, self._total, every)

    def save_due(self, step: int) -> bool:
        """Whether to save after this update: about 10 times and at the last, given a folder."""
        every = max(1, self._total // self._saves)
        return self.folder is not None and eval_due(step, self._total, every)

    def save(self, state: object) -> None:
        """Save the state to resume from; rank 0 writes."""
        if self.folder is None or not self.host.is_main:
            return
        curves = {
            name: (np.array([s for s, _ in curve]), np.array([v for _, v in curve]))
            for name, curve in self.curves.items()
        }
        tree = {"state": state, "curves": curves}
        snapshot.save(self.folder / "snapshots", tree, step=self._step, attempt=self.attempt)
