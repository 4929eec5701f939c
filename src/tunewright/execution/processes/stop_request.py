"""Cooperative stop of one training program: request, time to save, end."""

from __future__ import annotations

from tunewright.errors import Stopped
from tunewright.messages import Message


class Stopping:
    """Whether a stop was asked for, and whether the program has had its chance to save."""

    def __init__(self) -> None:
        """Nothing was asked for yet."""
        self.asked = False
        self.saves = False  # whether this program ever asks when to save, or saves
        self._told_at: int | None = None

    def tell(self, step: int) -> None:
        """The program learns at this step that it should save."""
        self._told_at = step

    def check(self, step: int, first_save: float) -> None:
        """End a program that continues after the request, or that would never save.

        By `first_save` a program that saves at all would have asked for the first time.
        """
        if not self.asked:
            return
        if self._told_at is not None and step > self._told_at:
            # it has saved in its own way, or it will not
            raise Stopped(Message("stopped.after_step", {"step": self._told_at}))
        if not self.saves and step > first_save:
            raise Stopped(Message("stopped.without_snapshot", {"step": step}))

    def saved(self, step: int) -> None:
        """The program has saved: if it was asked to stop, this is the moment."""
        if self.asked:
            raise Stopped(Message("stopped.after_saving", {"step": step}))
