"""Which lines of a step make the host wait for the device?

`.item()`, `.cpu()`, `if loss > 0` and their like stop the host until the device has caught up; the
device then stands still until the host has launched anew. torch's profiler counts the waits; a
dispatch mode, which sees every operation of torch in the Python frame that asked for it, finds
whose they are. What torch does inside itself (some optimizers read their step count) is nobody's
line.
"""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READ = "aten::_local_scalar_dense"  # .item(), float(), bool(), if, print: one number to the host
COPIES = ("aten::_to_copy", "aten::copy_")  # .cpu(), .to("cpu"), .numpy()
SHAPES = ("aten::nonzero", "aten::masked_select", "aten::_unique2")  # a size only the device knows
WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")
PASSED_THROUGH = ("_compile.py", "_tensor.py", "_dynamo", "_jit_internal.py")  # not who asked


@dataclass(frozen=True)
class Waits:
    """How often the host waits in each step, and where."""

    per_step: float
    places: tuple[tuple[str, float], ...] = ()  # `train.py:88` and how often per step, worst first
    device_s: float | None = None  # seconds of work on the device per step; CUDA only


class Counting:
    """Counts the waits between its making and `stop`."""

    def __init__(self) -> None:
        """Begin to count."""
        torch: Any = importlib.import_module("torch")
        self._reads = Counter[str]()
        self._mode = _mode(self._reads)
        self._profiler: Any = None
        if torch.cuda.is_available() and torch.cuda.is_initialized():  # else nothing is waited for
            profiler = torch.profiler
            self._profiler = profiler.profile(activities=[profiler.ProfilerActivity.CUDA])
            self._profiler.__enter__()
        self._mode.__enter__()

    def stop(self, steps: int) -> Waits:
        """Stop, and return the waits per step."""
        self._mode.__exit__(None, None, None)
        if self._profiler is None:
            return waits_of(self._reads, 0, steps)
        self._profiler.__exit__(None, None, None)
        events = list(self._profiler.events() or ())
        waited = sum(event.name in WAITS for event in events)
        busy_us = sum(event.device_time_total for event in events if _is_kernel(event))
        return waits_of(self._reads, waited, steps, busy_us / 1e6 / steps if busy_us else None)


def waits_of(reads: Counter[str], waited: int, steps: int, device_s: float | None = None) -> Waits:
    """Waits per step; one that CUDA and torch both saw counts once.

    >>> waits_of(Counter({"train.py:88": 10}), waited=11, steps=10)
    Waits(per_step=1.0, places=(('train.py:88', 1.0),), device_s=None)
    """
    total = max(reads.total(), waited - 1)  # the last of CUDA's is the probe's own
    places = tuple((place, count / steps) for place, count in reads.most_common(5))
    return Waits(total / steps, places, device_s)


def _is_kernel(event: Any) -> bool:
    """Work of the device itself; marks such as that of an optimizer's step span several of it."""
    return "CUDA" in str(event.device_type) and not getattr(event, "is_user_annotation", False)


def _mode(reads: Counter[str]) -> Any:
    dispatch: Any = importlib.import_module("torch.utils._python_dispatch")

    class Reading(dispatch.TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            made = func(*args, **(kwargs or {}))
            if _waits(func._schema.name, args, kwargs or {}, made):
                place = _place(sys._getframe(1))
                if place is not None:
                    reads[place] += 1
            return made

    return Reading()


def _waits(name: str, args: Any, kwargs: Any, made: Any) -> bool:
    if name == READ:
        return True
    if name in SHAPES:
        return bool(args[0].is_cuda)
    if name in COPIES:
        source = args[1] if name == COPIES[1] else args[0]
        on_host = getattr(made, "device", None) is not None and made.device.type == "cpu"
        return bool(
            getattr(source, "is_cuda", False) and on_host and not kwargs.get("non_blocking")
        )
    return False


def _place(frame: Any) -> str | None:
    """The line that asked, or None if it is torch's own."""
    torch_folder = str(Path(sys.modules["torch"].__file__ or "torch").parent)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(torch_folder):
            return f"{Path(file).name}:{frame.f_lineno}"
        if not any(part in file for part in PASSED_THROUGH):
            return None
        frame = frame.f_back
    return None
