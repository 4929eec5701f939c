"""A whole training step or evaluation as one CUDA graph: launched at once, not kernel by kernel.

Small models spend most of a step on launching kernels; one launch for the whole step was
2.9 to 11 times faster than the loop by hand on one H200 (bench/results/pipeline.md). The first
updates run as usual (they are real updates, and warm up every library); then the step is
captured and each further update is a replay. Where the data lies on the device, batch ids and
learning rates come from tables there (`pipeline.stretch`), and many updates are replayed at once. A
step that cannot be captured runs as before, and the reason is noted: it reads a number from the
device, its shapes change, or several processes train together.
"""

from __future__ import annotations

import contextlib
import math
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tunewright.causes import causes
from tunewright.pipeline import examples
from tunewright.pipeline.batches import Batch, map_tensors
from tunewright.pipeline.eval_batch import Metrics, evaluating
from tunewright.pipeline.evaluate import WEIGHT, Evaluation, add_rows, sds_of, sum_of_squares
from tunewright.pipeline.fit_config import Precision, autocast
from tunewright.pipeline.gradient import Recorder
from tunewright.pipeline.hosts import Host
from tunewright.pipeline.stretch import Lane, OwnProcess, Repeated, Replayable, Tables

_WARMING = 3  # updates before the capture; the last of them is watched for waiting
_SEED = 0  # of the random numbers of an evaluation, as `evaluate` has it
TRIAL = "tunewright trial"  # how the threads of a pack's trials are named

Update = Callable[[Any], Sequence[Tensor]]


def obstacle(
    device: torch.device,
    host: Host,
    scaler: object | None,
    optimizer: torch.optim.Optimizer | None,
    lane: Lane | None = None,
) -> str | None:
    """Why a step cannot be captured, where that is known beforehand."""
    stands_in = lane is not None and lane.on_cpu and device.type == "cpu"
    if device.type != "cuda" and not stands_in:
        return f"CUDA graphs need a CUDA device, and this one is {device.type}"
    if host.world > 1:
        return f"{host.world} processes train together"
    if scaler is not None and not getattr(optimizer, "_step_supports_amp_scaling", False):
        return (
            f"fp16 with {type(optimizer).__name__} asks the device at every step whether to skip "
            "it: use bf16, or an optimizer of torch's form"
        )
    groups = [] if optimizer is None else optimizer.param_groups
    if not stands_in and any(not _on_device(group["lr"]) for group in groups):
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
        tables: Tables | None = None,
        lane: Lane | None = None,
    ) -> None:
        """`reason`: do not even try. `recover` puts right what a broken-off capture leaves.

        With `tables`, `stretch` does many updates at once. `lane`: where replays are launched.
        """
        self._update, self._recorder, self._recover = update, recorder, recover
        self._tables, self._lane = tables, lane or OwnProcess()
        self.reason = reason  # why updates are not replayed; None while that is open or not so
        self._graph: Replayable | None = None
        self._tried: torch.cuda.CUDAGraph | None = None  # kept: torch may still refer to it
        self._static: Any = None
        self._done = 0
        self._side: Any = None
        if reason is None and not self._lane.on_cpu:
            self._side = side_stream()

    @property
    def _shared(self) -> bool:
        """Whether other trials use the device too."""
        return not isinstance(self._lane, OwnProcess)

    @property
    def captured(self) -> bool:
        """Whether updates are replayed."""
        return self._graph is not None

    def __call__(self, step: int, item: Any) -> None:
        """Update number `step`, on this item."""
        self._done += 1
        if self._graph is None and self.reason is None and self._done > _WARMING:
            self._static = map_tensors(item, torch.clone)
            self._capture(lambda: self._recorder.write(self._update(self._static)))
        if self._graph is not None and _copied(self._static, item):
            self._recorder.count(step)
            self._lane.replay((self._graph, 1))
        elif self._side is None and (self.reason is not None or not self._lane.on_cpu):
            self._recorder.put(step, self._update(item))
        else:
            self._launch(step, item)

    def stretches(self, step: int) -> bool:
        """Whether updates from `step` on are replayed many at once; captures them when it can."""
        if self._tables is None:
            return False
        if self._graph is None and self.reason is None and self._done >= _WARMING:
            with self._lane.release():
                self._tables.prepare(step)
            self._tables.fill(step, 1, self._recorder.row)
            self._capture(self._from_tables)
            if self._graph is None:
                self._tables = None
        return self._graph is not None

    def stretch(
        self,
        first: int,
        count: int,
        *,
        reads: bool = False,
        after: CapturedEvaluation | None = None,
    ) -> None:
        """Updates first to first + count - 1, from the tables.

        In a pack what they measured is fetched at once where the caller `reads` it next, and an
        evaluation `after` them is replayed with them: each saves a wait for the other trials.
        """
        assert self._tables is not None and self._graph is not None
        self._tables.fill(first, count, self._recorder.row)
        self._recorder.count_all(range(first, first + count))
        self._done += count
        parts = [(self._graph, count)]
        if not self._shared:
            self._lane.replay(*parts)
            return

        def fetch() -> None:
            if reads:
                self._recorder.fetch()
            if after is not None:
                after.fetch()

        if after is not None:
            parts.append(after.ready())
        self._lane.replay(*parts, then=fetch)

    def _from_tables(self) -> None:
        assert self._tables is not None
        self._tables.set_rate()
        self._recorder.write(self._update(self._tables.item()))

    def _launch(self, step: int, item: Any) -> None:
        if self._lane.on_cpu:
            self._recorder.count(step)
            self._recorder.write(self._update(item))
            return
        # On a side stream, as the capture will be: work on the default stream waits for everybody.
        self._side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._side), waits_inside(self._done == _WARMING) as waits:
            self._recorder.count(step)
            self._recorder.write(self._update(item))
        torch.cuda.current_stream().wait_stream(self._side)
        if waits:
            self.reason = (
                f"{waits[0]} waits for the device in every step, as .item(), .cpu(), nonzero() and "
                "copies to the host do"
            )
            self._lane.refuse(self.reason)

    def _capture(self, step: Callable[[], None]) -> None:
        if self._lane.on_cpu:
            self._graph = Repeated(step)
            self._lane.admit()
            return
        self._tried = torch.cuda.CUDAGraph()
        self.reason = try_capture(self._tried, self._side, step)
        if self.reason is None:
            self._graph = self._tried
            self._lane.admit()
        else:
            self._static = None
            self._recover()
            self._lane.refuse(self.reason)


def side_stream() -> Any:
    """A stream that is not the default one: work on that waits for all others."""
    current = torch.cuda.current_stream()
    if current != torch.cuda.default_stream():
        return current  # a trial in a pack has a stream for itself
    return torch.cuda.Stream()  # type: ignore[no-untyped-call]


def try_capture(graph: torch.cuda.CUDAGraph, stream: Any, step: Callable[[], None]) -> str | None:
    """Capture `step` on this stream; why that was not possible, or None.

    Unlike `torch.cuda.graph` it neither waits for the whole device nor collects garbage, which
    would hold up the other trials of a pack.
    """
    kept, pool = torch.cuda.get_rng_state(), torch.cuda.graph_pool_handle()
    stream.wait_stream(torch.cuda.current_stream())
    try:
        # Leaves the stream even where ending the capture fails. "thread_local": other threads,
        # which load data, may use the device meanwhile.
        with torch.cuda.stream(stream):
            graph.capture_begin(pool=pool, capture_error_mode="thread_local")
            try:
                step()
            finally:
                graph.capture_end()
    except RuntimeError as error:
        _end_capture(kept, pool)
        return f"the step cannot be captured: {_first_line(error)}"
    torch.cuda.current_stream().wait_stream(stream)
    return None


@contextlib.contextmanager
def waits_inside(watch: bool) -> Iterator[list[str]]:
    """Where the host waits for the device inside the block, as file:line; filled at its end.

    A capture would fail there, and a failed capture leaves torch's allocator and generators in a
    state that cannot be put right entirely: better not to begin.
    """
    places: list[str] = []
    if not watch:
        yield places
        return
    before = torch.cuda.get_sync_debug_mode()
    caught: list[tuple[Warning | str, type[Warning], str, int]] = []
    mine = threading.current_thread()

    def keep(
        message: Warning | str, category: type[Warning], file: str, line: int, *_: object
    ) -> None:
        thread = threading.current_thread()
        if thread is mine or not thread.name.startswith(TRIAL):  # other trials may wait
            caught.append((message, category, file, line))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = keep  # type: ignore[assignment]
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield places
        finally:
            torch.cuda.set_sync_debug_mode(before)
    for message, category, file, line in caught:
        text = str(message)
        if "synchronizing CUDA operation" in text:
            places.append(f"{Path(file).name}:{line}")
        elif "Synchronization debug mode" not in text:
            warnings.warn_explicit(message, category, file, line)


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
            and all(_alike(a, other, pairs) for a, other in zip(static, item, strict=True))
        )
    return bool(static == item)


def _on_device(rate: object) -> bool:
    return isinstance(rate, Tensor) and rate.is_cuda


# ---- a whole evaluation as one graph, for a validation set that lies on the device
#
# It runs the operations of `pipeline.evaluate` in their order, so its values are the same bit for
# bit. The checks that need the host (every example counted once, weights above 0) were done by the
# first evaluation of a training, which is never captured.


class CapturedEvaluation:
    """Evaluates a model by replay; `reason` is why it cannot."""

    def __init__(
        self,
        model: nn.Module,
        data: Any,
        metrics: Metrics,
        weights: Tensor | None,
        first: Evaluation,
        *,
        precision: Precision,
        device: torch.device,
        lane: Lane,
    ) -> None:
        """`first` is the training's first evaluation: its batch size and weight hold for all."""
        self._first, self._lane, self._device = first, lane, device
        self._names: list[str] = []
        self._sums: Tensor | None = None
        self._fetched: list[float] | None = None  # sums on the host
        self._random = torch.Generator(device=device)
        self._graph = torch.cuda.CUDAGraph()
        batches = _batches(data, weights, first.batch_size, device)

        def whole() -> None:
            rows: dict[str, Tensor] = {}
            size = examples.count(data)
            with autocast(precision, device, cache=False):
                for places, mask in batches:
                    values = metrics(model, examples.take(data, places))
                    add_rows(rows, values, mask, places, size)
            self._names = sorted(rows)
            weights = rows[WEIGHT]
            total = weights.sum()
            sums = [rows[name].sum() for name in self._names]
            squares = [sum_of_squares(rows[name], weights, total) for name in self._names]
            self._sums = torch.stack([*sums, *squares, (weights > 0).double().sum()])

        self._kept = batches  # the graph reads these tensors wherever they lie
        self.reason = self._capture(model, whole)

    def _capture(self, model: nn.Module, whole: Any) -> str | None:
        stream, place = side_stream(), torch.cuda.default_generators[self._device.index]
        with evaluating(model, _SEED):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream), waits_inside(True) as waits:
                whole()
            torch.cuda.current_stream().wait_stream(stream)
            if waits:
                return f"{waits[0]} waits for the device"
            usual = place.graphsafe_get_state()
            self._random.manual_seed(_SEED)
            place.graphsafe_set_state(self._random.graphsafe_get_state())
            try:
                return try_capture(self._graph, stream, whole)
            finally:
                place.graphsafe_set_state(usual)

    def ready(self) -> tuple[Replayable, int]:
        """What to replay once the model is as it is to be evaluated; `fetch` comes after it."""
        self._random.manual_seed(_SEED)
        return self._graph, 1

    def fetch(self) -> None:
        """Wait for the device and copy the sums."""
        assert self._sums is not None
        self._fetched = self._sums.tolist()

    def __call__(self) -> Evaluation:
        """The evaluation that was fetched, or one of the model as it is now."""
        if self._fetched is None:
            self._lane.replay(self.ready(), then=self.fetch)
        assert self._fetched is not None
        numbers, self._fetched = self._fetched, None
        count, examples_seen = len(self._names), int(numbers[-1])
        pairs = zip(numbers[:count], numbers[count:-1], strict=True)
        sums = dict(zip(self._names, pairs, strict=True))
        total = sums.pop(WEIGHT)[0]
        return Evaluation(
            metrics={name: value / total for name, (value, _) in sums.items()},
            weight=total,
            batch_size=self._first.batch_size,
            sd=sds_of(sums, total, examples_seen),
            examples=examples_seen,
        )


def _batches(
    data: Any, weights: Tensor | None, batch_size: int, device: torch.device
) -> list[tuple[Tensor, Tensor]]:
    """(ids, weights) of each batch on the device; the last is filled up with weight 0."""
    size = examples.count(data)
    ids = torch.full((math.ceil(size / batch_size) * batch_size,), size - 1)
    ids[:size] = torch.arange(size)
    every = torch.ones(size) if weights is None else weights.detach().cpu()
    mask = every[ids].double()
    mask[size:] = 0.0
    pairs = zip(torch.split(ids, batch_size), torch.split(mask, batch_size), strict=True)
    return [(places.to(device), part.to(device)) for places, part in pairs]
