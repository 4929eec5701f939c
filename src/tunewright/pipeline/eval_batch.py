"""Which evaluation batch fits? At least the training batch: evaluation keeps no activations."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from tunewright.errors import PipelineError
from tunewright.pipeline import examples, hosts
from tunewright.pipeline.averages import fork_rng, keep_modes
from tunewright.pipeline.hosts import Host
from tunewright.pipeline.random_state import seed_torch

_MOST_FOUND = 64  # answers that a process remembers
_sizes: dict[Hashable, int] = {}

Metrics = Callable[
    [nn.Module, Any], Mapping[str, Tensor]
]  # (model, batch) -> one value per example


def find_batch_size(
    model: nn.Module,
    data: Any,
    metrics: Metrics,
    train_batch_size: int,
    *,
    at_most: int | None = None,
    device: torch.device | str | None = None,
    host: Host | None = None,
    share: int | None = None,
) -> int:
    """The evaluation batch per rank: the training batch, doubled by trial while it fits.

    It ends at `at_most` (16 training batches; larger ones gain nothing) or at the rank's share of
    the data. Call it when the optimizer's memory is taken, after the first step. All ranks get the
    smallest of their answers. `share` is given where each rank's data is its own part already.
    """
    host, device = host or hosts.current(), device_of(model, device)
    size = examples.count(data)
    share = share or math.ceil(size / host.world)
    limit = min(at_most or 16 * train_batch_size, share)
    kind = _kind(model, data, metrics, device, (train_batch_size, limit))
    if host.world == 1 and kind in _sizes:
        return _sizes[kind]
    fits, trial = 0, min(train_batch_size, share)
    with evaluating(model, seed=0) as inner:
        while True:
            try:
                batch = examples.take(data, torch.arange(trial) % size)
                metrics(inner, examples.move(batch, device))
                if device.type == "cuda":
                    torch.cuda.synchronize(device)
            except Exception as error:
                if out_of_memory(error):
                    release(device)
                    break
                raise
            fits = trial
            if trial >= limit:
                break
            trial = min(2 * trial, limit)
    # Asked before anybody raises: a rank that raised alone would leave the others waiting.
    agreed = int(hosts.all_min(torch.tensor(fits, device=device), host))
    if not agreed:
        raise PipelineError(
            "evaluation.batch_out_of_memory", size=min(train_batch_size, share), device=device
        )
    if agreed == limit and host.world == 1:  # not where the memory left at the time decided
        if len(_sizes) >= _MOST_FOUND:
            _sizes.clear()
        _sizes[kind] = agreed
    return agreed


def _kind(
    model: nn.Module, data: Any, metrics: Metrics, device: torch.device, sizes: tuple[int, int]
) -> Hashable:
    """What the answer depends on: the trials of a round that share a process find it once."""
    shapes = tuple((tuple(p.shape), p.dtype) for p in (*model.parameters(), *model.buffers()))
    parts = examples.tensors_of(data)
    of_data = None if parts is None else tuple((tuple(p.shape), p.dtype) for p in parts)
    code = getattr(metrics, "__code__", None) or id(metrics)
    cells = tuple(id(c.cell_contents) for c in getattr(metrics, "__closure__", None) or ())
    halves = torch.is_autocast_enabled()
    return (str(model), shapes, of_data or id(data), code, cells, device, sizes, halves)


@contextmanager
def evaluating(model: nn.Module, seed: int) -> Iterator[nn.Module]:
    """The model in evaluation mode, without gradients, with separate random numbers."""
    inner = hosts.unwrap(model)
    with keep_modes(model), torch.no_grad(), fork_rng(inner):
        model.eval()
        seed_torch(seed)
        yield inner


def device_of(model: nn.Module, device: torch.device | str | None) -> torch.device:
    """The device that is named, or else that of the model."""
    if device is not None:
        return torch.device(device)
    tensors = [*model.parameters(), *model.buffers()]
    return tensors[0].device if tensors else torch.device("cpu")


# ---- was that out of memory? One answer for CUDA, the CPU allocator and Python


def out_of_memory(error: BaseException) -> bool:
    """Whether the error means that memory did not suffice.

    >>> out_of_memory(MemoryError()), out_of_memory(RuntimeError("shapes do not match"))
    (True, False)
    """
    if isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)):
        return True
    # torch's CPU allocator raises a plain RuntimeError.
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def release(device: torch.device) -> None:
    """Give back what the failed attempt left behind."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
