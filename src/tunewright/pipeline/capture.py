"""A whole training step as one CUDA graph: launched at once instead of kernel by kernel.

Small models spend most of a step on launching kernels; one launch for the whole step is 4 to 17
times faster. The first updates run as usual (they are real updates, and warm up every library);
then the step is captured and each further update is a replay. A step that cannot be captured goes
on as before, and says why: it reads a number from the device, its shapes change, or several
processes train together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from tunewright.pipeline.batches import Batch, map_tensors
from tunewright.pipeline.gradient import Recorder
from tunewright.pipeline.hosts import Host

WARMING = 3  # updates before the capture

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
        if self.reason is None and self._graph is None and self._done >= WARMING:
            self._capture(item)
        self._done += 1
        if self._graph is not None and _copied(self._static, item):
            self._recorder.count(step)
            self._graph.replay()
        elif self.reason is None:
            self._warm(step, item)
        else:
            self._recorder.put(step, self._update(item))

    def _warm(self, step: int, item: Any) -> None:
        # On a side stream, as the capture will be: work on the default stream waits for everybody.
        self._side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._side):
            self._recorder.count(step)
            self._recorder.write(self._update(item))
        torch.cuda.current_stream().wait_stream(self._side)

    def _capture(self, item: Any) -> None:
        self._static = map_tensors(item, torch.clone)
        kept = torch.cuda.get_rng_state()
        graph = torch.cuda.CUDAGraph()
        try:
            # Other threads (data loading) may go on using the device meanwhile.
            with torch.cuda.graph(graph, stream=self._side, capture_error_mode="thread_local"):
                self._recorder.write(self._update(self._static))
        except RuntimeError as error:
            self.reason = f"the step cannot be captured: {_first_line(error)}"
            self._static = None
            _end_capture(kept)
            self._recover()
        else:
            self._graph = graph


def _end_capture(random_state: Tensor) -> None:
    """After a failed capture the generator still believes to be captured: give it a new state."""
    torch.cuda.synchronize()
    device = torch.cuda.current_device()
    fresh = torch.Generator(device=f"cuda:{device}")
    fresh.set_state(random_state)
    torch.cuda.default_generators[device].graphsafe_set_state(fresh.graphsafe_get_state())


def _first_line(error: BaseException) -> str:
    """The first cause: what the step did, not what ending the capture said about it."""
    while error.__context__ is not None:
        error = error.__context__
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


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
