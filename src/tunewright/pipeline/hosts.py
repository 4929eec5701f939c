"""Which process am I, which seeds and which examples are mine, and who may write?

Several hosts break a pipeline silently (playbook, "Considerations for multi-host pipelines"): two
processes write one log, every host trains on the same examples, or the tail of the data is dropped.
Here the answers are pure functions of (rank, world): one process is the case rank 0 of 1.

    host = hosts.start()                              # under torchrun; alone it does nothing
    seeds = hosts.seeds(trial_seed, host)             # init, order, split, eval alike; data unlike
    model = hosts.parallel(model, host)               # DDP where there is more than one process
    ids = hosts.batch_ids(step, batch_size=128, size=50_000, seed=seeds.order, host=host)
    hosts.on_main(lambda: write(log), host)           # global rank 0 only; the others wait
    hosts.leave()                                     # when all have come to the end
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from tunewright.errors import PipelineError
from tunewright.seeds import Seeds as Seeds, seeds as _seeds

T = TypeVar("T")
_LAST_WORDS_S = 0.2  # gloo aborts now and then when a rank leaves while another still sends to it


@dataclass(frozen=True)
class Host:
    """One process of a training job: its global rank of `world` processes.

    >>> Host().is_main, Host(rank=4, world=8, local_rank=0).is_main
    (True, False)
    """

    rank: int = 0  # global: 0 .. world - 1 over all machines
    world: int = 1  # processes in all
    local_rank: int = 0  # within this machine; picks the device, never decides who writes

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.world:
            raise PipelineError("hosts.bad_rank", rank=self.rank, world=self.world)

    @property
    def is_main(self) -> bool:
        """Whether this process logs and writes checkpoints: global rank 0, not local rank 0."""
        return self.rank == 0


def current() -> Host:
    """This process as torch.distributed knows it; rank 0 of 1 where there is no process group."""
    if dist.is_available() and dist.is_initialized():
        return Host(dist.get_rank(), dist.get_world_size(), int(os.environ.get("LOCAL_RANK", 0)))
    launched = int(os.environ.get("WORLD_SIZE", "1"))
    if launched > 1:
        # Continuing would make every process believe that it is rank 0 and may write.
        raise PipelineError("hosts.not_started", launched=launched)
    return Host()


def start(backend: str | None = None) -> Host:
    """Join the process group that torchrun describes, take this process's device, return its rank.

    `backend` is nccl where CUDA is available, gloo elsewhere. Without torchrun nothing happens.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not dist.is_initialized():
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
        dist.init_process_group(backend or ("nccl" if torch.cuda.is_available() else "gloo"))
    return current()


def leave() -> None:
    """Leave the process group once everybody has come to the end; alone, nothing happens.

    A rank that goes while another still speaks to it can take that one down with it.
    """
    if dist.is_available() and dist.is_initialized():
        dist.barrier()
        time.sleep(_LAST_WORDS_S)
        dist.destroy_process_group()


def device(host: Host | None = None) -> torch.device:
    """The device of this process: its local rank's CUDA device, or the CPU."""
    host = host or current()
    return (
        torch.device("cuda", host.local_rank) if torch.cuda.is_available() else torch.device("cpu")
    )


# ---- models


def parallel(model: nn.Module, host: Host | None = None) -> nn.Module:
    """The model wrapped for training on all ranks; the model itself where there is one process.

    Buffers are not broadcast: rank 0's batch-norm averages would silently replace everybody's at
    each forward pass. `averages.sync_batch_norm` combines those of all ranks instead.
    """
    host = host or current()
    if host.world == 1:
        return model
    on_cuda = next(model.parameters()).is_cuda
    known = inspect.signature(DistributedDataParallel).parameters
    broadcast = "forward_sync_buffers" if "forward_sync_buffers" in known else "broadcast_buffers"
    without: dict[str, Any] = {broadcast: False}  # the second is its name before torch 2.13
    return DistributedDataParallel(
        model, device_ids=[host.local_rank] if on_cuda else None, **without
    )


def unwrap(model: nn.Module) -> nn.Module:
    """The model inside DistributedDataParallel, still compiled if it was.

    Evaluation uses it: its forward pass never waits for another rank.
    """
    inner = getattr(model, "_orig_mod", model)  # torch.compile around DDP
    return inner.module if isinstance(inner, DistributedDataParallel) else model


def bare(model: nn.Module) -> nn.Module:
    """The user's own module, without DistributedDataParallel and torch.compile around it.

    State dicts use it: the names carry neither `module.` nor `_orig_mod.`, so that a checkpoint
    fits any number of hosts.
    """
    while True:
        inner = getattr(model, "_orig_mod", model)
        if isinstance(inner, DistributedDataParallel):
            inner = inner.module
        if inner is model:
            return model
        model = inner


# ---- seeds


def seeds(trial_seed: int, host: Host | None = None) -> Seeds:
    """The seeds of this rank, all from the trial's seed.

    >>> one, two = seeds(7, Host(0, 2)), seeds(7, Host(1, 2))
    >>> one.init == two.init, one.order == two.order, one.data == two.data
    (True, True, False)
    """
    return _seeds(trial_seed, rank=(host or current()).rank)


# ---- which examples


@lru_cache(maxsize=4)
def permutation(size: int, seed: int, epoch: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The order of the `size` examples in one epoch: a pure function, the same on every rank."""
    order = np.random.Generator(np.random.PCG64([seed, epoch])).permutation(size)
    order.setflags(write=False)  # shared by all callers through the cache
    return order


def global_ids(step: int, batch_size: int, size: int, seed: int) -> Tensor:
    """The example ids of update `step` (1-based) over all ranks: a pure function of the step.

    The epochs follow each other without a gap, so a batch may hold the end of one and the beginning
    of the next: no example is dropped, and every one is seen once per epoch.

    >>> two_epochs = torch.cat([global_ids(step, 4, 6, seed=0) for step in (1, 2, 3)])
    >>> sorted(two_epochs[:6].tolist()), sorted(two_epochs[6:].tolist())
    ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5])
    """
    if min(step, batch_size, size) < 1:
        raise PipelineError("hosts.bad_batch", step=step, batch_size=batch_size, size=size)
    pieces = epoch_pieces(step, 1, batch_size, size)
    parts = [permutation(size, seed, epoch)[start:end] for epoch, start, end in pieces]
    return torch.from_numpy(np.concatenate(parts))


def epoch_pieces(
    step: int, count: int, batch_size: int, size: int
) -> Iterator[tuple[int, int, int]]:
    """(epoch, start, end) of the stretches of epochs that make up `count` batches from `step` on.

    >>> list(epoch_pieces(2, 1, batch_size=4, size=6))
    [(0, 4, 6), (1, 0, 2)]
    """
    first, end = (step - 1) * batch_size, (step - 1 + count) * batch_size
    while first < end:
        epoch, offset = divmod(first, size)
        taken = min(end - first, size - offset)
        yield epoch, offset, offset + taken
        first += taken


def shard(ids: Tensor, host: Host | None = None) -> Tensor:
    """This rank's share of the ids: every `world`-th, so that together the ranks hold each once.

    >>> [shard(torch.arange(5), Host(rank, 2)).tolist() for rank in (0, 1)]
    [[0, 2, 4], [1, 3]]
    """
    host = host or current()
    return ids[host.rank :: host.world]


def batch_ids(step: int, batch_size: int, size: int, seed: int, host: Host | None = None) -> Tensor:
    """This rank's example ids of update `step`; `batch_size` counts the examples of all ranks."""
    host = host or current()
    if batch_size % host.world:
        below = batch_size // host.world * host.world
        raise PipelineError(
            "hosts.batch_not_divisible",
            batch_size=batch_size,
            world=host.world,
            below=f"{below} or " if below else "",
            above=below + host.world,
        )
    return shard(global_ids(step, batch_size, size, seed), host)


# ---- speaking with the other ranks


def all_sum(values: Tensor, host: Host | None = None) -> Tensor:
    """The sum over ranks, on every rank; the values themselves where there is one process."""
    return _reduce(values, "SUM", host)


def all_min(values: Tensor, host: Host | None = None) -> Tensor:
    """The smallest over ranks, on every rank."""
    return _reduce(values, "MIN", host)


def _reduce(values: Tensor, operation: str, host: Host | None) -> Tensor:
    if (host or current()).world == 1:
        return values
    out = values.detach().clone()
    dist.all_reduce(out, op=getattr(dist.ReduceOp, operation))
    return out


def gather(values: Tensor, host: Host | None = None) -> Tensor:
    """The values of every rank stacked by rank; shapes must be alike on all ranks."""
    host = host or current()
    if host.world == 1:
        return values[None]
    out = [torch.empty_like(values) for _ in range(host.world)]
    dist.all_gather(out, values.contiguous())
    return torch.stack(out)


def on_main(work: Callable[[], T], host: Host | None = None) -> T | None:
    """Run `work` on global rank 0 only, while the others wait; None on the others.

    If it raises, every rank raises, so that none waits for a rank 0 that has gone.
    """
    host = host or current()
    result: T | None = None
    error: Exception | None = None
    if host.is_main:
        try:
            result = work()
        except Exception as raised:
            error = raised
    on_cuda = host.world > 1 and dist.get_backend() == "nccl"
    failed = torch.tensor(int(error is not None), device=device(host) if on_cuda else None)
    failed = all_sum(failed, host)
    if error is not None:
        raise error
    if host.world > 1 and int(failed):
        raise PipelineError("hosts.rank_zero_failed")
    return result
