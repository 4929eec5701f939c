"""Contenders of bench/pipeline.py take turns in windows, so that all meet the same machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import torch

from tunewright.pipeline import hosts


class Turns:
    """The baton: one contender runs at a time, window by window."""

    def __init__(self, names: list[str], device: torch.device) -> None:
        self.names, self.device = names, device
        self.times: dict[str, list[float]] = {name: [] for name in names}
        self.failed: dict[str, str] = {}
        self._order, self._now, self._change = list(names), 0, threading.Condition()
        self._ready: set[str] = set()

    def settled(self, name: str) -> None:
        """Wait until this contender has built everything, or has failed to."""
        with self._change:
            self._change.wait_for(lambda: name in self._ready or name not in self._order)

    def window(self, name: str, steps: Callable[[], Iterator[int]]) -> Iterator[int]:
        with self._change:
            self._ready.add(name)
            self._change.notify_all()
            # Nobody begins before all are built: a capture bears no set-up beside it.
            self._change.wait_for(
                lambda: self._ready >= set(self._order) and self._order[self._now] == name
            )
        wait(self.device)
        started = time.perf_counter()
        yield from steps()
        wait(self.device)
        self.times[name].append(time.perf_counter() - started)
        self.pass_on()

    def pass_on(self) -> None:
        with self._change:
            self._now = (self._now + 1) % len(self._order)
            self._change.notify_all()

    def leave(self, name: str, reason: str = "") -> None:
        with self._change:
            if reason:
                self.failed[name] = reason
            mine = self._order.index(name)
            self._order.pop(mine)
            if self._order:
                self._now = (self._now - (mine < self._now)) % len(self._order)
            self._change.notify_all()


class Paced:
    """A trial's handle that gives its steps in windows; `fit` and the bare loop both use it."""

    def __init__(self, turns: Turns, name: str, window: int, windows: int) -> None:
        self.turns, self.name, self.size, self.windows = turns, name, window, windows
        self.folder, self.restored, self.start_step = None, None, 0
        self.seeds = hosts.seeds(0)

    @property
    def total(self) -> int:
        return self.size * self.windows

    def steps(self, total: int) -> Iterator[int]:
        for number in range(self.windows):
            first = number * self.size + 1
            yield from self.turns.window(self.name, lambda f=first: range(f, f + self.size))

    def log(self, step: int, metrics: dict[str, float]) -> None:
        self.last = metrics

    def eval_due(self, step: int) -> bool:
        return False

    def save_due(self, step: int) -> bool:
        return False


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
