"""Batches made ahead of the step that trains on them, in a thread, in the same order.

The device never waits for a batch that could have been ready (playbook, "Optimizing the input
pipeline"). At most `ahead` batches lie ready. On CUDA they are copied on a stream of the thread, so
that copies overlap with the step; the step's stream waits only for the copy of its batch.
"""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tunewright.errors import PipelineError

_LEAVE_S = 10.0  # how long to wait for the thread at the end; it may be inside a slow read


@dataclass(frozen=True)
class _Handed:
    """What the thread hands over: a batch, or what ended the batches."""

    item: Any = None
    copied: Any = None  # the CUDA event after which the batch is on the device
    error: BaseException | None = None


class Prefetched(Iterator[Any]):
    """An iterator that runs ahead of its reader; close it, or read it to its end.

    `tensors(item, do)` calls `do` on every tensor of an item. With `guarded` the first batch is
    made in the reader's thread, and refused where making it draws from a global generator: run
    ahead, the draws of batches and of training would mix, and no resume could repeat them.
    """

    def __init__(
        self,
        items: Iterator[Any],
        ahead: int,
        device: torch.device,
        tensors: Callable[[Any, Callable[[Tensor], Any]], Any],
        guarded: bool = False,
    ) -> None:
        """The thread starts with the first batch that is asked for."""
        self._items, self._device, self._tensors = items, device, tensors
        self._guarded = guarded
        self._room = threading.Semaphore(ahead)
        self._handed: queue.SimpleQueue[_Handed] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._ended: BaseException | None = None

    def __next__(self) -> Any:
        """The next batch, ready for the reader's own stream."""
        if self._ended is not None:
            raise self._ended
        if self._thread is None:
            first = [_first_item(self._items, self._device)] if self._guarded else []
            self._thread = threading.Thread(target=self._work, name="prefetch", daemon=True)
            self._thread.start()
            if first:
                return first[0]
        handed = self._handed.get()
        if handed.error is not None:
            self._ended = handed.error
            raise handed.error
        self._room.release()
        if handed.copied is not None:
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(handed.copied)
            self._tensors(handed.item, lambda tensor: _hold_for(tensor, stream))
        return handed.item

    def close(self) -> None:
        """Stop running ahead and wait for the thread; nothing happens the second time."""
        self._closed.set()
        self._room.release()
        self._ended = self._ended or StopIteration()
        if self._thread is not None:
            self._thread.join(_LEAVE_S)

    def _work(self) -> None:
        stream = None
        try:
            if self._device.type == "cuda":
                torch.cuda.set_device(self._device)  # else pinning would take up device 0
                stream = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
            while True:
                self._room.acquire()
                if self._closed.is_set():
                    return
                self._handed.put(self._next(stream))
        except BaseException as error:  # the reader raises it, at the place of this batch
            self._handed.put(_Handed(error=error))

    def _next(self, stream: Any) -> _Handed:
        if stream is None:
            return _Handed(next(self._items))
        with torch.cuda.stream(stream):
            item = next(self._items)
            copied = torch.cuda.Event()  # type: ignore[no-untyped-call]
            copied.record(stream)
        return _Handed(item, copied)


def _first_item(items: Iterator[Any], device: torch.device) -> Any:
    """The first batch; refused where it draws from the generators that training draws from."""
    before = _states(device)
    item = next(items)
    after = _states(device)
    drawn = [name for name in before if before[name] != after[name]]
    if drawn:
        raise PipelineError("batches.prefetch_draws", generators=drawn)
    return item


def _states(device: torch.device) -> dict[str, Any]:
    numpy: Any = np.random.get_state()
    states: dict[str, Any] = {
        "torch": torch.get_rng_state().numpy().tobytes(),
        "random": random.getstate(),
        "numpy": (numpy[1].tobytes(), *numpy[2:]),
    }
    if device.type == "cuda":
        states["torch.cuda"] = torch.cuda.get_rng_state(device).numpy().tobytes()
    return states


def _hold_for(tensor: Tensor, stream: Any) -> Tensor:
    """Keep the memory until this stream is done with it: it belongs to the thread's stream."""
    if tensor.is_cuda:
        tensor.record_stream(stream)
    return tensor
