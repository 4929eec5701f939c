"""The process of a probe: builds what is probed, does steps on request, and reports their times.

Started as `python -m tunewright.probes.throughput.probe_worker READ WRITE FOLDER`, with two pipes.
It decides
nothing: how many steps, in which windows and with which input come from the rig, so that all ranks
do the same number of steps. It imports torch before its first order, so that it can be started
ahead, but leaves what is probed and the device alone until then. It ends when its pipe closes.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib.util
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from tunewright.execution.processes import memory, process_tree
from tunewright.execution.processes.frames import Head
from tunewright.execution.processes.pipe_worker import PipeWorker, show_lines
from tunewright.execution.processes.shipping import Shipment, receive
from tunewright.probes.throughput import tap
from tunewright.probes.throughput.loader_ladder import climb, describe_loader, stages_of, waits_at
from tunewright.probes.throughput.observed import Counting, Looking, available_mb, identity
from tunewright.probes.throughput.subject import ProbeHandle
from tunewright.probes.throughput.tap import UsedKeys

_MEGABYTE = 2**20
_LITTLE = 0.002  # of a GPU's memory, which need not be looked for
_THREADS = "OMP_NUM_THREADS"


class Enough(BaseException):
    """Ends a training between two of its steps; past any `except Exception`."""


class _ProbeWorker(PipeWorker):
    """Takes orders between steps."""

    def __init__(self, source: int, target: int, folder: Path) -> None:
        """Listen on one pipe, speak on the other."""
        super().__init__(source, target)
        self._folder = folder
        self._waiting: Head | None = None  # an order that ended a training, still to be obeyed
        self._about: Head = {}
        self._function: Callable[..., Any] = lambda: None
        self._tap: tap.Tap | None = None
        self._looking: Looking | None = None
        self._reset()

    def _reset(self) -> None:
        self._announced = False
        self._windows: list[tuple[int, bool]] = []
        self._left = self._ordered = 0  # steps of this window, and of the whole order
        self._started = 0.0
        self._seconds: list[float] = []
        self._waits: list[list[float]] = []
        self._counting: Counting | None = None
        self._tracing: Any = None  # a running profiler, and where its trace goes
        self._trace = ""

    def work(self) -> NoReturn:
        """Obey until the rig goes away."""
        self.begin()
        self._import_torch()
        head, body = self._orders.get()
        try:
            self._load(head, body)
        except (Exception, SystemExit) as error:
            self._send_failure(error, "loading")
        while True:
            order = self._waiting or self._orders.get()[0]
            self._waiting = None
            if order["kind"] == "rest":
                self._sender.send({"kind": "rested", "left_share": _left_share()})
                continue
            try:
                self._build(order)
            except Enough:
                pass
            except (Exception, SystemExit) as error:
                self._send_failure(error, "stepping" if self._announced else "building")
            self._forget()

    # ---- what is probed

    def _import_torch(self) -> None:
        if importlib.util.find_spec("torch") is None:
            return
        torch = importlib.import_module("torch")
        if self._orders.empty():  # started ahead: time to import what the first optimizer will
            torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        gc.freeze()  # torch's own objects, which would be looked through after every size

    def _load(self, head: Head, body: bytes) -> None:
        self._about = head
        shipment = Shipment(tuple(head["path"]), head["folder"], head["module"], head["name"], body)
        threads = os.environ.get(_THREADS)
        self._function = receive(shipment)
        if os.environ.get(_THREADS) != threads and "torch" in sys.modules:
            # set at the top of a program, which counts on torch being imported later
            sys.modules["torch"].set_num_threads(int(os.environ[_THREADS]))
        self._tap = tap.install()
        self._sender.send({"kind": "loaded"})

    def _build(self, order: Head) -> None:
        assert self._tap is not None
        memory.forget_peak()
        self._reset()
        self._tap.cached, self._tap.loader = False, None
        self._tap.waits.clear()
        self._looking = Looking()
        if self._about["subject"] == "training":
            self._train(order["batch_size"])
        else:
            self._step(order["batch_size"], order["synthetic"])

    def _train(self, batch_size: int) -> None:
        configuration = {**self._about["configuration"], self._about["batch_name"]: batch_size}
        handle = ProbeHandle(configuration, self._folder, self.pace)
        self._function(handle, **configuration)
        if handle.drove:
            raise RuntimeError(
                "the training function left its loop after "
                f"{handle.step} steps: a probe must be able to run until it has seen enough"
            )
        raise RuntimeError(
            "the training function never asked for its steps: write "
            "`for step in run.steps(max_train_steps)`, which is where a probe can stop and time it"
        )

    def _step(self, batch_size: int, synthetic: bool) -> None:
        given = {**self._about["configuration"], "batch_size": batch_size}
        if self._about["takes_synthetic"]:
            given["synthetic"] = synthetic
        step = self._function(**given)
        if not callable(step):
            raise TypeError(
                f"it returned {type(step).__name__} {step!r}, not a function: return step itself, "
                "without calling it, where step() does one whole training step"
            )
        while True:
            self.pace()
            step()

    # ---- between steps

    def pace(self) -> None:
        """Called before every step: continue, or end a window and take the next order."""
        if self._left:
            self._left -= 1
            if self._left:
                return
            self._end_window()
            if self._windows:
                self._begin_window()
                return
            self._tell_steps()
        elif not self._announced:
            self._announced = True
            self._sender.send({"kind": "built", **_device_facts()})
        while not self._left:
            self._obey(self._orders.get()[0])

    def _obey(self, order: Head) -> None:
        assert self._tap is not None and self._looking is not None
        match order["kind"]:
            case "build" | "rest":
                self._waiting = order
                raise Enough
            case "run":
                self._windows = [(steps, cached) for steps, cached in order["windows"]]
                self._ordered = sum(steps for steps, _ in self._windows)
                self._seconds, self._waits = [], []
                if order["count_waits"]:
                    self._tap.used = UsedKeys()
                    self._counting = Counting() if "torch" in sys.modules else None
                self._begin_trace(order.get("trace", ""))
                self._begin_window()
            case "identify":
                seen = identity(self._looking, int(os.environ.get("WORLD_SIZE", "1")))
                self._sender.send({"kind": "identified", "identity": seen})
            case "loader":
                seen_loader = describe_loader(self._tap.loader)
                known = None if seen_loader is None else asdict(seen_loader)
                free = available_mb(memory.own_peak_mb() or 0.0)
                self._sender.send({"kind": "loader", "loader": known, "free_mb": free})
            case "depths":
                arguments = (order[name] for name in ("workers", "factors", "step_s", "seconds"))
                depths = [asdict(depth) for depth in waits_at(self._tap.loader, *arguments)]
                self._sender.send({"kind": "depths", "depths": depths})
            case "climb":
                rates = climb(self._tap.loader, order["workers"], order["seconds"])
                self._sender.send({"kind": "climbed", "rates": rates})
            case "stages":
                stages = stages_of(self._tap.loader, order["seconds"], _device())
                self._sender.send({"kind": "staged", "stages": [asdict(depth) for depth in stages]})

    def _begin_trace(self, path: str) -> None:
        """Start a profiler where a trace is asked for; rank 0 alone writes one."""
        if not path or "torch" not in sys.modules or os.environ.get("RANK", "0") != "0":
            return
        from tunewright.pipeline.throughput import start_profiler

        self._tracing, self._trace = start_profiler(_device()), path

    def _begin_window(self) -> None:
        assert self._tap is not None
        self._left, self._tap.cached = self._windows.pop(0)
        self._tap.waits.clear()
        _wait()
        self._started = time.perf_counter()

    def _end_window(self) -> None:
        assert self._tap is not None
        _wait()
        self._seconds.append(time.perf_counter() - self._started)
        if self._looking is not None:
            self._looking.stop()  # a hook on every module would slow all further steps down
        self._waits.append(list(self._tap.waits))

    def _tell_steps(self) -> None:
        waits = None
        if self._counting is not None:
            waits = asdict(self._counting.stop(self._ordered))
            self._counting = None
        unused: dict[str, float] = {}
        if self._tap is not None and self._tap.used is not None:
            unused, self._tap.used = self._tap.used.unused, None
        if self._tracing is not None:
            self._tracing.stop()
            self._tracing.export_chrome_trace(self._trace)
            self._tracing = None
        self._sender.send(
            {
                "kind": "ran",
                "unused": unused,
                "seconds": self._seconds,
                "waits": self._waits,
                "host_waits": waits,
                **_memory(),
            }
        )

    # ---- endings

    def _send_failure(self, error: BaseException, phase: str) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        here = str(Path(__file__).parent)
        user_frames = [frame for frame in frames if not frame.filename.startswith(here)]
        where = f"{user_frames[-1].filename}:{user_frames[-1].lineno}" if user_frames else ""
        self._sender.send(
            {
                "kind": "failed",
                "phase": phase,
                "error": f"{type(error).__name__}: {error}",
                "where": where,
                "out_of_memory": _out_of_memory(error),
            }
        )
        error.__traceback__ = None

    def _forget(self) -> None:
        """Give back what the last size took, so that the next one begins from nothing."""
        if self._looking is not None:
            self._looking.stop()
        if self._tap is not None:
            self._tap.loader = None
        torch: Any = sys.modules.get("torch")
        if "torch._dynamo" in sys.modules:
            torch.compiler.reset()  # else a second size is compiled for sizes of all kinds
        if not _on_cuda():
            gc.collect()
            return _trim()
        clear = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
        if clear is not None:
            clear()  # a few megabytes that may lie in, and so keep, a segment of many gigabytes
        if _left_share() > _LITTLE or process_tree.has_children():
            gc.collect()  # seldom needed, and slow where much is imported
        torch.cuda.empty_cache()
        for device in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(device)
        return None


def _on_cuda() -> bool:
    """Whether what is probed has begun to use a GPU."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized()


def _device() -> Any:
    """Where what is probed computes; None without torch."""
    torch: Any = sys.modules.get("torch")
    return None if torch is None else torch.device("cuda" if _on_cuda() else "cpu")


def _wait() -> None:
    """Wait until the device has finished its queued work."""
    if _on_cuda():
        sys.modules["torch"].cuda.synchronize()


def _memory() -> Head:
    """The peaks since the build: of the fullest device, or of this process."""
    if _on_cuda():
        cuda = sys.modules["torch"].cuda
        devices = range(cuda.device_count())
        return {
            "peak_mb": max(cuda.max_memory_allocated(d) for d in devices) / _MEGABYTE,
            "reserved_mb": max(cuda.max_memory_reserved(d) for d in devices) / _MEGABYTE,
        }
    peak = memory.own_peak_mb() or 0.0
    return {"peak_mb": peak, "reserved_mb": peak}


def _left_share() -> float:
    """What is still in use of the fullest GPU's memory; on a CPU a heap never gives all back."""
    if not _on_cuda():
        return 0.0
    cuda = sys.modules["torch"].cuda
    shares = (
        cuda.memory_allocated(device) / cuda.get_device_properties(device).total_memory
        for device in range(cuda.device_count())
    )
    return float(max(shares))


def _trim() -> None:
    """Give the free part of the heap back to the system, so that the next size shows its own."""
    with contextlib.suppress(OSError, AttributeError):  # another C library has no such call
        ctypes.CDLL(None).malloc_trim(0)


def _device_facts() -> Head:
    if _on_cuda():
        cuda = sys.modules["torch"].cuda
        free, total = cuda.mem_get_info()
        reserved = cuda.memory_reserved()
        return {
            "device": "cuda",
            "total_mb": total / _MEGABYTE,
            "free_mb": (free + reserved) / _MEGABYTE,
        }
    available = available_mb(memory.own_peak_mb() or 0.0)
    return {"device": "cpu", "total_mb": available, "free_mb": available}


def _out_of_memory(error: BaseException) -> bool:
    """Whether memory did not suffice; cuDNN and NCCL have separate error messages for it."""
    if "torch" in sys.modules:
        from tunewright.pipeline.eval_batch import out_of_memory

        if out_of_memory(error):
            return True
    text = str(error).lower()
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and ("out of memory" in text or "alloc_failed" in text)
    )


def main(arguments: list[str]) -> NoReturn:
    """Begin to work."""
    show_lines()
    _ProbeWorker(int(arguments[0]), int(arguments[1]), Path(arguments[2])).work()


if __name__ == "__main__":
    main(sys.argv[1:])
