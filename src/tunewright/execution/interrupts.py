"""Ctrl-C and SIGTERM while a round runs: first no new trials, then save and stop, then at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from enum import IntEnum
from types import FrameType
from typing import Any


class Interrupt(IntEnum):
    """How soon the user (or the machine's scheduler) wants the round to end."""

    NONE = 0
    FINISH = 1  # no new trials, the running ones finish
    STOP = 2  # the running ones are asked to save and ended after the grace period
    AT_ONCE = 3  # without waiting for the grace period


class Interrupts:
    """Counts signals inside a `with` block, and puts the old handlers back after it.

    Python allows handlers in the main thread only; elsewhere the block changes nothing.
    """

    def __init__(self) -> None:
        """Nothing was caught yet."""
        self.level = Interrupt.NONE
        self.terminated = False  # by SIGTERM rather than from the keyboard
        # called from the signal handler itself, so that it must be short and must not lock: an
        # executor that trains in this very thread can be reached in no other way
        self.on_change: Callable[[Interrupt], None] = lambda level: None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        """Take over SIGINT and SIGTERM, in the main thread."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        """Put the old handlers back."""
        for number, handler in self._before.items():
            # a handler that was not set from Python reads as None and cannot be put back as such
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before.clear()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            self.terminated = True
            self.level = max(self.level, Interrupt.STOP)
        else:
            self.level = Interrupt(min(self.level + 1, Interrupt.AT_ONCE))
        self.on_change(self.level)
