"""A whole training step as one CUDA graph: launched at once instead of kernel by kernel.

Small models spend most of a step on launching kernels; one launch for the whole step was
2.9 to 11 times faster than the loop by hand on one H200 (bench/results/pipeline.md). The first
updates run as usual (they are real updates, and warm up every library); then the step is
captured and each further update is a replay. A step that cannot be captured continues as before,
and reports why: it reads a number from the device, its shapes change, or several processes train
together.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tunewright.causes import causes
from tunewright.pipeline.batches import Batch, map_tensors
from tunewright.pipeline.gradient import Recorder
from tunewright.pipeline.hosts import Host

WARMING = 3  # updates before the capture; the last of them is watched for waiting

Update = Callable[[Any], Sequence[Tensor]]


def obstacle(
    device: torch.device, host: Host, scaler: object | None, optimizer: torch.optim.Optimizer
) -> str | None:
    """Why a step cannot be captured, where that is known beforehand."""
    if device.type != "cuda":
        return f"CUDA graphs need a CUDA device, and this one is {device.type}"
    if host.world > 1:
        return f"{host.world} processes train together"
    if scaler is not None and not getattr(optimizer, "_step_supports_amp_scaling", False):
        return (
            f"fp16 with {type(optimizer).__name__} asks the device at every step whether to skip "
            "it: use bf16, or an optimizer of torch's form"
        )
    if any(not _on_device(group["lr"]) for group in optimizer.param_groups):
        return (
            f"the learning rate of {type(optimizer).__name__} is a number, which a graph would "
            "freeze: make it a tensor, lr=torch.tensor(..., device='cuda'), with capturable=True"
        )
    return None


class CapturedStep:
    """Runs updates, by replay as soon as that is possible; what they measure is recorded."""

    def __init__(
        self,
        update: Update,
        recorder: Recorder,
        reason: str | None = None,
        recover: Callable[[], None] = lambda: None,
    ) -> None:
        """`reason`: do not even try. `recover` puts right what a broken-off capture leaves."""
        self._update, self._recorder, self._recover = update, recorder, recover
        self.reason = reason  # why updates are not replayed; None while that is open or not so
        self._graph: torch.cuda.CUDAGraph | None = None
        self._tried: torch.cuda.CUDAGraph | None = None  # kept: torch may still refer to it
        self._static: Any = None
        self._done = 0
        self._side: Any = None
        if reason is None:
            self._side = torch.cuda.Stream()  # type: ignore[no-untyped-call]

    @property
    def captured(self) -> bool:
        """Whether updates are replayed."""
        return self._graph is not None

    def __call__(self, step: int, item: Any) -> None:
        """Update number `step`, on this item."""
        self._done += 1
        if self._graph is None and self.reason is None and self._done > WARMING:
            self._capture(item)
        if self._graph is not None and _copied(self._static, item):
            self._recorder.count(step)
            self._graph.replay()
        elif self._side is None:
            self._recorder.put(step, self._update(item))
        else:
            self._launch(step, item)

    def _launch(self, step: int, item: Any) -> None:
        # On a side stream, as the capture will be: work on the default stream waits for everybody.
        self._side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._side), _waits(self._done == WARMING) as waits:
            self._recorder.count(step)
            self._recorder.write(self._update(item))
        torch.cuda.current_stream().wait_stream(self._side)
        if waits:
            self.reason = (
                f"{waits[0]} waits for the device in every step, as .item(), .cpu(), nonzero() and "
                "copies to the host do"
            )

    def _capture(self, item: Any) -> None:
        self._static = map_tensors(item, torch.clone)
        kept, pool = torch.cuda.get_rng_state(), torch.cuda.graph_pool_handle()
        self._tried = torch.cuda.CUDAGraph()
        try:
            # Leaves the side stream even where ending the capture fails. "thread_local": other
            # threads, which load data, may continue to use the device.
            with (
                torch.cuda.stream(self._side),
                torch.cuda.graph(self._tried, pool, self._side, capture_error_mode="thread_local"),
            ):
                self._recorder.write(self._update(self._static))
        except RuntimeError as error:
            self.reason = f"the step cannot be captured: {_first_line(error)}"
            self._static = None
            _end_capture(kept, pool)
            self._recover()
        else:
            self._graph = self._tried


@contextlib.contextmanager
def _waits(watch: bool) -> Iterator[list[str]]:
    """Where the host waits for the device inside the block, as file:line; filled at its end.

    A capture would fail there, and a failed capture leaves torch's allocator and generators in a
    state that cannot be put right entirely: better not to begin.
    """
    found: list[str] = []
    if not watch:
        yield found
        return
    before = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield found
        finally:
            torch.cuda.set_sync_debug_mode(before)
    for warning in caught:
        text = str(warning.message)
        if "synchronizing CUDA operation" in text:
            found.append(f"{Path(warning.filename).name}:{warning.lineno}")
        elif "Synchronization debug mode" not in text:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def _end_capture(random_state: Tensor, pool: Any) -> None:
    """Do what torch leaves undone after a failed capture: pool and generator are still in it."""
    torch.cuda.synchronize()
    device = torch.cuda.current_device()
    with contextlib.suppress(Exception):  # already ended, or not under this name in this torch
        torch._C._cuda_endAllocateToPool(device, pool)
    fresh = torch.Generator(device=f"cuda:{device}")
    fresh.set_state(random_state)
    torch.cuda.default_generators[device].graphsafe_set_state(fresh.graphsafe_get_state())


def _first_line(error: BaseException) -> str:
    """The first cause: what the step did, not the error that ending the capture raised."""
    *_, first = causes(error)
    return str(first).strip().splitlines()[0] if str(first).strip() else type(first).__name__


def _copied(static: Any, item: Any) -> bool:
    """Put the item's tensors into the static ones; False, and nothing done, where they differ."""
    pairs: list[tuple[Tensor, Tensor]] = []
    if not _alike(static, item, pairs):
        return False
    for into, tensor in pairs:
        into.copy_(tensor, non_blocking=True)
    return True


def _alike(static: Any, item: Any, pairs: list[tuple[Tensor, Tensor]]) -> bool:
    if isinstance(static, Tensor):
        if not isinstance(item, Tensor) or (static.shape, static.dtype) != (item.shape, item.dtype):
            return False
        pairs.append((static, item))
        return True
    if isinstance(static, Batch):
        return (
            isinstance(item, Batch)
            and _alike(static.content, item.content, pairs)
            and _alike(static.shares, item.shares, pairs)
        )
    if isinstance(static, dict):
        return (
            isinstance(item, dict)
            and static.keys() == item.keys()
            and all(_alike(static[name], item[name], pairs) for name in static)
        )
    if isinstance(static, tuple):
        return (
            isinstance(item, tuple | list)
            and len(static) == len(item)
            and all(_alike(one, other, pairs) for one, other in zip(static, item, strict=True))
        )
    return bool(static == item)


def _on_device(rate: object) -> bool:
    return isinstance(rate, Tensor) and rate.is_cuda
