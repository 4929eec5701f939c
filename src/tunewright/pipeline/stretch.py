"""Many captured updates without the host: what each step needs lies in tables on the device.

Batch ids, learning rates and the log of losses are indexed by one counter on the device, so a
replay of the captured step needs nothing from the host. `fit` fills the tables for a *stretch*, the
steps up to the next reading, evaluation or save, and has the whole stretch replayed at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import torch
from torch import Tensor

SAVE_EVERY_S = 5.0  # between two snapshots of a captured training that ends by itself
MOST_STEPS = 1_000  # of a stretch
_QUICK_S, _SLOW_S = (
    0.25,
    1.0,
)  # a stretch takes about that long: stops and progress are seen after it
_RATES_AHEAD = 2**16  # learning rates on the device at once

Block = Callable[[int, int], tuple[Tensor, ...]]  # (first step, steps) -> ids of each, row by row


class Replayable(Protocol):
    """A captured step, or what stands in for one on the CPU."""

    def replay(self) -> None:
        """Do it once more."""
        ...


class Lane(Protocol):
    """A place in a pack of trials that train at once in one process; `run.lane` where there is one.

    One trial of the pack runs Python at a time. `replay` and `release` let the others run
    meanwhile.
    """

    @property
    def on_cpu(self) -> bool:
        """Whether it stands in for a GPU: steps are then repeated instead of replayed."""
        ...

    def enter(self) -> None:
        """`fit` trains it, and nothing is known that prevents a capture."""
        ...

    def admit(self) -> None:
        """The trial's steps are captured: it stays in the pack."""
        ...

    def refuse(self, reason: str) -> None:
        """Its steps cannot be captured: it leaves the pack by an exception, where it can."""
        ...

    def replay(
        self, *parts: tuple[Replayable, int], then: Callable[[], None] | None = None
    ) -> None:
        """Replay each as often as its number; returns when the device has done it.

        `then` runs after that, while the other trials still run: it reads what the device wrote.
        """
        ...

    def release(self) -> AbstractContextManager[None]:
        """Inside, the other trials run: for work that draws no random numbers."""
        ...


class OwnProcess:
    """The lane of a trial that has its process for itself: nothing to wait for."""

    on_cpu = False

    def enter(self) -> None:
        """Nothing to do."""

    def admit(self) -> None:
        """Nothing to do."""

    def refuse(self, reason: str) -> None:
        """Nothing to do: the step runs uncaptured."""

    def replay(
        self, *parts: tuple[Replayable, int], then: Callable[[], None] | None = None
    ) -> None:
        """Launch the replays; they are not waited for, except by `then`."""
        for graph, count in parts:
            for _ in range(count):
                graph.replay()
        if then is not None:
            then()

    def release(self) -> AbstractContextManager[None]:
        """Nobody waits."""
        return nullcontext()


class Repeated:
    """Stands in for a CUDA graph on the CPU: a replay runs the step again, from the same tables."""

    def __init__(self, step: Callable[[], None]) -> None:
        """`step` takes all it needs from the tables."""
        self._step = step

    def replay(self) -> None:
        """Run the step."""
        self._step()


class Tables:
    """The ids and learning rates of the steps of one stretch, on the device."""

    def __init__(
        self,
        block: Block,
        rates: Callable[[range], list[float]] | None,
        optimizer: torch.optim.Optimizer | None,
        place: Tensor,
        *,
        length: int,
        last_step: int,
    ) -> None:
        """`place` counts the steps of the stretch on the device; a stretch has at most `length`.

        Without `rates` the rows are all that a step takes.
        """
        self._block, self._rates_of, self._place = block, rates, place
        self._last = last_step
        self._groups = [] if rates is None or optimizer is None else optimizer.param_groups
        self._scales = [float(group.get("lr_scale", 1.0)) for group in self._groups]
        self._ids: tuple[Tensor, ...] = ()
        self._length = length
        rate = self._groups[0]["lr"] if self._groups else 0.0
        kind = rate.dtype if isinstance(rate, Tensor) else torch.double
        self._rates = torch.zeros(len(self._scales), length, dtype=kind, device=place.device)
        self._ahead, self._ahead_from = self._rates[:, :0], 0

    def prepare(self, first: int) -> None:
        """Make what the stretches from `first` on take their rows from; draws nothing."""
        self._block(first, 1)
        self._upload(first)

    def fill(self, first: int, count: int, row: int) -> None:
        """Put `count` steps from `first` on into the tables, from `row` on; nothing waits."""
        ids = self._block(first, count)
        if not self._ids:
            self._ids = tuple(part.new_zeros((self._length, *part.shape[1:])) for part in ids)
        for into, rows in zip(self._ids, ids, strict=True):
            into[row : row + count].copy_(rows)
        if self._rates_of is None:
            return
        at = first - self._ahead_from
        if not 0 <= at <= at + count <= self._ahead.shape[1]:
            self._upload(first)
            at = 0
        self._rates[:, row : row + count].copy_(self._ahead[:, at : at + count])

    def _upload(self, first: int) -> None:
        if self._rates_of is None:
            return
        until = max(first + self._length, min(first + _RATES_AHEAD, self._last + 1))
        values = self._rates_of(range(first, min(until, self._last + 1)))
        values += values[-1:] * (until - first - len(values))  # rows that no step will use
        rows = [[value * scale for value in values] for scale in self._scales]
        kind = self._rates.dtype
        self._ahead = torch.tensor(rows, dtype=kind).to(self._rates.device, non_blocking=True)
        self._ahead_from = first

    def item(self) -> tuple[Tensor, ...]:
        """The current step's ids; part of the captured step."""
        return tuple(ids.index_select(0, self._place)[0] for ids in self._ids)

    def set_rate(self) -> None:
        """Put the current step's learning rate into the optimizer; part of the captured step."""
        if not self._groups:
            return
        rates = self._rates.index_select(1, self._place)
        for group, rate in zip(self._groups, rates, strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"].copy_(rate[0])
            else:  # only where a CPU stands in
                group["lr"] = float(rate)


def stretch_length(run: Any, first: int, room: int, last: int, evaluates: bool) -> tuple[int, bool]:
    """How many steps from `first` on can be done at once, and whether a save is due after them.

    At most `room`, up to the first step after which something is evaluated or saved.
    """
    end = min(first + room - 1, last)
    if hasattr(run, "next_due"):  # a trial's handle knows: no need to ask for every step
        end = min(end, run.next_due(first, evaluates))
        return end - first + 1, bool(run.save_due(end))
    for step in range(first, end + 1):
        save = bool(run.save_due(step))
        if save or (evaluates and run.eval_due(step)):
            return step - first + 1, save
    return end - first + 1, False


class Spans:
    """How many steps a stretch has: more where they are quick, for the host works per stretch.

    Always a multiple of `usual`, so what is logged does not depend on the time they took.
    """

    def __init__(self, usual: int, most: int) -> None:
        """Begin with `usual` steps; never more than `most`."""
        self._usual, self._most = usual, max(usual, most // usual * usual)
        self.steps = usual

    def took(self, seconds: float) -> None:
        """A stretch of so many seconds has been read."""
        if seconds < _QUICK_S:
            self.steps = min(2 * self.steps, self._most)
        elif seconds > _SLOW_S:
            self.steps = max(self.steps // self._usual // 2, 1) * self._usual


class SaveTimes:
    """Whether to write a snapshot now: when due by step, and in a stretch also by the clock.

    A captured training of a few seconds would spend more time on ten snapshots than on its steps.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """The first interval starts now."""
        self._clock, self._last = clock, clock()
        self.due = False

    def ask(self, due: bool, now: bool) -> None:
        """A step at which a snapshot is `due`; `now`: whatever the time, at the last step, say."""
        self.due |= due and (now or self._clock() - self._last >= SAVE_EVERY_S)

    def note_written(self) -> None:
        """It is written."""
        self.due, self._last = False, self._clock()


def lane_of(run: Any) -> Lane:
    """The trial's place in a pack, or that of one alone."""
    lane: Lane | None = getattr(run, "lane", None)
    return OwnProcess() if lane is None else lane
