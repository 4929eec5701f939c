"""Points on their way from a training loop to the store: in order, batched, none dropped.

`add` is all that a training loop pays for a float. Device tensors are held until somebody reads
them, many at once, so that logging never waits for the device step by step.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tunewright._jax_arrays import is_jax_array, numbers as jax_numbers
from tunewright.errors import Diverged
from tunewright.store.curves import pack
from tunewright.store.judge import not_finite

Point = tuple[int, str, float]  # step, metric, value
Columns = tuple[Sequence[int], Mapping[str, Sequence[float]]]  # steps, a value at each by metric
MOST_POINTS = 100_000  # in one batch; more waiting points than this make the training loop help
MOST_HELD = 100  # device tensors, then they are read
LONGEST_HELD_S = 1.0  # ... or after this time: slow steps should be seen too


class Points:
    """The points of one attempt that were logged and not yet sent."""

    def __init__(
        self,
        tell: Callable[[bytes], None],
        watched: Collection[str],
        hear: Callable[[Mapping[str, tuple[list[int], list[float]]]], None] = lambda batch: None,
    ) -> None:
        """`tell` receives packed batches, in order, from one thread at a time; `hear` plain ones.

        The `watched` metrics must stay finite.
        """
        self._tell = tell
        self._hear = hear
        self._watched = watched
        # appended to and drained without a lock
        self._waiting: deque[Point | Columns] = deque()
        self._telling = threading.Lock()
        self._held: list[tuple[int, str, Any]] = []  # tensors, and the floats logged after them
        self._held_since = math.inf
        self.add: Callable[[Point], None] = self._waiting.append
        self._added = self._drained = 0  # points of columns: by who logs, and by who sends

    def __len__(self) -> int:
        """How many wait to be sent, without those held."""
        return len(self._waiting) + self._added - self._drained

    def add_columns(self, steps: Sequence[int], columns: Mapping[str, Sequence[float]]) -> None:
        """Add many steps of several metrics at once: no object is made for a point."""
        self._added += len(steps) * len(columns)
        self._waiting.append((steps, columns))

    @property
    def holding(self) -> bool:
        """Whether device tensors are held; floats must then queue behind them."""
        return bool(self._held)

    def hold(self, step: int, name: str, value: Any) -> None:
        """Keep a device tensor (or a float logged after one) to be read later."""
        if not self._held:
            self._held_since = time.monotonic()
        self._held.append((step, name, value))

    @property
    def read_due(self) -> bool:
        """Whether enough tensors are held, or long enough, to be worth one wait."""
        if len(self._held) >= MOST_HELD:
            return True
        return time.monotonic() - self._held_since > LONGEST_HELD_S

    def read(self) -> None:
        """Wait for the device once and pass everything held on."""
        held, self._held, self._held_since = self._held, [], math.inf
        numbers = _numbers([value for _, _, value in held])
        points = [(step, name, n) for (step, name, _), n in zip(held, numbers, strict=True)]
        self._waiting.extend(points)
        for point in points:
            if not math.isfinite(point[2]):
                self.check_finite(point)

    def check_finite(self, point: Point) -> None:
        """End the trial when a watched metric is not finite; others may be what they are."""
        step, name, value = point
        if name in self._watched and not math.isfinite(value):
            raise Diverged(not_finite(name, value, step))

    def flush(self) -> None:
        """Tell everything that waits; callable from any thread."""
        waiting = self._waiting
        with self._telling:
            while waiting:
                batch: dict[str, tuple[list[int], list[float]]] = {}
                left = MOST_POINTS
                while waiting and left > 0:
                    item = waiting.popleft()
                    if len(item) == 2:
                        many, columns = item
                        for name, numbers in columns.items():
                            steps, values = batch.setdefault(name, ([], []))
                            steps += many
                            values += numbers
                        self._drained += len(many) * len(columns)
                        left -= len(many) * len(columns)
                        continue
                    step, name, value = item
                    try:
                        steps, values = batch[name]
                    except KeyError:
                        steps, values = batch[name] = ([], [])
                    steps.append(step)
                    values.append(value)
                    left -= 1
                self._hear(batch)
                self._tell(pack(batch))


def _numbers(held: list[Any]) -> list[float]:
    """The numbers of tensors and floats, one transfer per device and type."""
    torch: Any = sys.modules.get("torch")
    groups: dict[tuple[Any, Any], list[int]] = {}
    for at, value in enumerate(held):
        if is_jax_array(value):
            groups.setdefault(("jax", None), []).append(at)
        elif not isinstance(value, float):
            groups.setdefault((value.device, value.dtype), []).append(at)
    for (device, _), places in groups.items():
        together = [held[at] for at in places]
        if device == "jax":
            numbers = jax_numbers(together)
        else:
            numbers = torch.stack(together).cpu().double().tolist()
        for at, number in zip(places, numbers, strict=True):
            held[at] = number
    return held
