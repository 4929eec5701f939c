"""Which examples does update k train on? A pure function of k, so that a resume needs no memory.

Data is what `pipeline.examples` takes (tensors, or a map-style dataset), and then the order is a
permutation of each epoch keyed by the seed; or a function of the step that returns a batch; or, for
an existing loader, any iterable of batches, which a resume has to run through from its beginning.

Batches are made ahead of their step where that cannot change a result: the gathering and copying of
tensors in the host's memory, in a thread; a dataset's examples, by workers. A function or a loader
may draw random numbers in this process, so it runs ahead only where `prefetch` asks for it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from tunewright.errors import PipelineError
from tunewright.pipeline import examples, hosts
from tunewright.pipeline.hosts import Host
from tunewright.pipeline.prefetch import Prefetched

_IDS_AHEAD = 2**21  # ids on the device at once, for steps that need no host
AHEAD = 2  # batches made ahead of their step, where nothing else is asked for


@dataclass(frozen=True)
class Batch:
    """What one update trains on, on the training device.

    >>> Batch((torch.ones(4, 2), torch.zeros(4))).content[0].shape
    torch.Size([4, 2])
    """

    content: Any  # tensors in tuples, lists or dicts, as the loss function takes them
    shares: Tensor | None = None  # each example's share of the loss, where examples have weights


@dataclass(frozen=True)
class Source:
    """The batches of a training, in two halves.

    `items` is the host's half: it runs ahead of the device and is what a step waits for. `fetch`
    makes the batch of an item; it is part of the step, so that a captured step gathers the examples
    of data that lies on the device without the host.
    """

    items: Iterator[Any]
    fetch: Callable[[Any], Batch]
    size: int | None  # examples in the data; None where they are not numbered
    # (first step, steps) -> the items of many steps, stacked; for data that lies on the device
    block: Callable[[int, int], tuple[Tensor, ...]] | None = None

    def close(self) -> None:
        """Stop making batches ahead."""
        if isinstance(self.items, Prefetched):
            self.items.close()


def source(
    data: Any,
    *,
    batch_size: int,
    start_step: int,
    total_steps: int,
    order_seed: int,
    example_seed: int,
    device: torch.device,
    host: Host,
    weights: Tensor | None = None,
    workers: int = 0,
    prefetch: int | None = None,
) -> Source:
    """The batches of updates start_step + 1 to total_steps; `batch_size` counts those of all ranks.

    `weights` has one weight per example (or per position of each): the loss is the weighted mean
    over the batch of all ranks. `workers` processes load a map-style dataset ahead; what it draws
    at random for an example follows from `example_seed`, the epoch and the example. `prefetch`
    batches are made ahead of their step: None where nothing can differ by it, 0 nowhere.
    """
    ahead = AHEAD if prefetch is None else prefetch

    def early(items: Iterator[Any], guarded: bool = False) -> Iterator[Any]:
        return Prefetched(items, ahead, device, map_tensors, guarded) if ahead else items

    steps = range(start_step + 1, total_steps + 1)
    plain = callable(data) and not hasattr(data, "__getitem__")
    if plain or not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        if weights is not None:
            raise PipelineError("batches.weights_need_numbers")
        made_items = map(data, steps) if plain else _repeat(data, start_step)
        items: Iterator[Any] = (examples.move(batch, device) for batch in made_items)
        return Source(early(items, guarded=True) if prefetch else items, Batch, None)
    size = examples.count(data)
    if weights is not None:
        examples.check_weights(weights, size)
        weights = weights.detach().float()
    order = _Order(batch_size, size, order_seed, host)
    order.check()
    tensors = examples.tensors_of(data)
    if tensors is not None:
        if tensors[0].device == device:
            items, fetch = _on_device(data, steps, order, weights, device)
            many = _blocks(order, weights is not None, device, steps) if host.world == 1 else None
            return Source(items, fetch, size, many)
        items = early(_from_host(data, steps, order, weights, device))
    elif prefetch and not workers:
        # its draws are seeded through this process's generators, which training uses meanwhile
        raise PipelineError("batches.prefetch_needs_workers", prefetch=prefetch)
    else:
        items = _load(
            data,
            steps,
            order=order,
            weights=weights,
            device=device,
            workers=workers,
            seed=example_seed,
            ahead=ahead,
        )
        items = early(items) if workers and device.type == "cuda" else items
    return Source(items, lambda batch: batch, size)


def split(batch: Batch, parts: int) -> list[Batch]:
    """The batch in equal parts, for gradient accumulation."""
    if parts == 1:
        return [batch]
    shares = _chunks(batch.shares, parts) if batch.shares is not None else [None] * parts
    return [
        Batch(content, share)
        for content, share in zip(_chunks(batch.content, parts), shares, strict=True)
    ]


# --- tensors on the training device ------------------------------------------------------------


def _on_device(
    data: Any, steps: range, order: _Order, weights: Tensor | None, device: torch.device
) -> tuple[Iterator[Any], Callable[[Any], Batch]]:
    """Items are ids on the device; the examples are gathered by `fetch`, inside the step."""
    if weights is not None:
        weights = weights.to(device)

    def fetch(ids: tuple[Tensor, ...]) -> Batch:
        shares = _shares(weights, ids[0], ids[-1], order.host.world)
        return Batch(examples.take(data, ids[0]), shares)

    def items() -> Iterator[tuple[Tensor, ...]]:
        uploaded: dict[int, Tensor] = {}
        for step in steps:
            parts = []
            for epoch, first, last in order.pieces(step):
                if epoch not in uploaded:
                    uploaded = {epoch: _to_device(order.epoch(epoch), device)}
                parts.append(uploaded[epoch][first:last])
            together = parts[0] if len(parts) == 1 else torch.cat(parts)
            mine = hosts.shard(together, order.host).contiguous()
            yield (mine,) if weights is None else (mine, together)

    return items(), fetch


def _blocks(
    order: _Order, weighted: bool, device: torch.device, steps: range
) -> Callable[[int, int], tuple[Tensor, ...]]:
    """The ids of many steps at once, as `_on_device` gives those of one; for one process."""
    ahead, ahead_from = torch.empty(0, order.batch_size, dtype=torch.long), 0

    def upload(first: int, count: int) -> None:
        nonlocal ahead, ahead_from
        most = max(count, min(_IDS_AHEAD // order.batch_size, steps.stop - first))
        parts = [order.epoch(e)[start:end] for e, start, end in order.stretch(first, most)]
        ids = torch.cat(parts).view(most, order.batch_size)
        ahead, ahead_from = _to_device(ids, device), first

    def block(first: int, count: int) -> tuple[Tensor, ...]:
        at = first - ahead_from
        if not 0 <= at <= at + count <= len(ahead):
            upload(first, count)
            at = 0
        ids = ahead[at : at + count]
        return (ids, ids) if weighted else (ids,)

    return block


# --- tensors in the host's memory, and datasets -----------------------------------------------


def _from_host(
    data: Any, steps: range, order: _Order, weights: Tensor | None, device: torch.device
) -> Iterator[Batch]:
    for step in steps:
        together = order.together(step)
        mine = hosts.shard(together, order.host)
        batch = Batch(examples.take(data, mine), _shares(weights, mine, together, order.host.world))
        yield _move(batch, device)


def _load(
    data: Any,
    steps: range,
    order: _Order,
    weights: Tensor | None,
    device: torch.device,
    workers: int,
    seed: int,
    ahead: int,
) -> Iterator[Batch]:
    loader: DataLoader[Any] = DataLoader(
        _Reproducible(data, seed),
        batch_sampler=_Places(order, steps),
        num_workers=workers,
        prefetch_factor=max(ahead, 1) if workers else None,  # batches of each worker
        pin_memory=device.type == "cuda",
        generator=torch.Generator(),  # the default would draw from the training's own generator
    )
    for step, content in zip(steps, loader, strict=True):
        shares = None
        if weights is not None:
            together = order.together(step)
            mine = hosts.shard(together, order.host)
            shares = _shares(weights, mine, together, order.host.world)
        yield _move(Batch(content, shares), device)


@dataclass(frozen=True)
class _Order:
    batch_size: int
    size: int
    seed: int
    host: Host

    def check(self) -> None:
        hosts.batch_ids(1, self.batch_size, self.size, self.seed, self.host)

    def pieces(self, step: int) -> Iterator[tuple[int, int, int]]:
        """(epoch, first, last) of the stretches of epochs that make up the batch."""
        return self.stretch(step, 1)

    def stretch(self, step: int, count: int) -> Iterator[tuple[int, int, int]]:
        """The same of `count` batches from `step` on."""
        return hosts.epoch_pieces(step, count, self.batch_size, self.size)

    def epoch(self, epoch: int) -> Tensor:
        return torch.from_numpy(hosts.permutation(self.size, self.seed, epoch).copy())

    def together(self, step: int) -> Tensor:
        return hosts.global_ids(step, self.batch_size, self.size, self.seed)

    def places(self, step: int) -> list[tuple[int, int]]:
        """(epoch, example) of each of this rank's examples."""
        epochs = [e for e, first, last in self.pieces(step) for _ in range(last - first)]
        every = list(zip(epochs, self.together(step).tolist(), strict=True))
        return every[self.host.rank :: self.host.world]


@dataclass(frozen=True)
class _Places(Iterable[list[tuple[int, int]]]):
    order: _Order
    steps: range

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        return (self.order.places(step) for step in self.steps)

    def __len__(self) -> int:
        return len(self.steps)


class _Reproducible(Dataset[Any]):
    """A dataset whose random choices for an example depend on (seed, epoch, example) alone."""

    def __init__(self, data: Any, seed: int) -> None:
        self.data, self.seed = data, seed

    def __len__(self) -> int:
        return len(self.data)

    def __getitems__(self, places: list[tuple[int, int]]) -> list[Any]:
        with _generators_kept():
            return [self._example(epoch, example) for epoch, example in places]

    def _example(self, epoch: int, example: int) -> Any:
        words = np.random.SeedSequence([self.seed, epoch, example]).generate_state(3)
        random.seed(int(words[0]))
        np.random.seed(words[1])
        torch.default_generator.manual_seed(int(words[2]))  # the CPU's alone
        return self.data[example]


@contextmanager
def _generators_kept() -> Iterator[None]:
    """Without workers the dataset runs in the training's process: leave its generators alone."""
    kept = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        torch.set_rng_state(kept[2])


# --- pieces ------------------------------------------------------------------------------------


def _repeat(batches: Any, start_step: int) -> Iterator[Any]:
    """The batches over and over, without the first `start_step`."""
    skipped = 0
    while True:
        empty = True
        for batch in batches:
            empty = False
            if skipped < start_step:
                skipped += 1
                continue
            yield batch
        if empty:
            raise PipelineError("batches.not_repeatable", loader=type(batches).__name__)


def _shares(weights: Tensor | None, mine: Tensor, together: Tensor, world: int) -> Tensor | None:
    """Each example's share of the loss of the whole batch; DDP averages over ranks, hence world."""
    if weights is None:
        return None
    return weights[mine] * (world / weights[together].sum())


def _to_device(tensor: Tensor, device: torch.device) -> Tensor:
    if device.type == "cuda":
        tensor = tensor.pin_memory()  # so that the copy does not wait
    return tensor.to(device, non_blocking=True)


def _move(batch: Batch, device: torch.device) -> Batch:
    if device.type == "cpu":
        return batch
    pinned = map_tensors(
        batch.content, lambda t: t if t.is_cuda or t.is_pinned() else t.pin_memory()
    )
    shares = None if batch.shares is None else _to_device(batch.shares, device)
    return Batch(examples.move(pinned, device), shares)


def map_tensors(content: Any, change: Callable[[Tensor], Any]) -> Any:
    """The same tuples, dicts and values with every tensor changed; a Batch stays a Batch."""
    if isinstance(content, Tensor):
        return change(content)
    if isinstance(content, Batch):
        return Batch(map_tensors(content.content, change), map_tensors(content.shares, change))
    if isinstance(content, dict):
        return {name: map_tensors(part, change) for name, part in content.items()}
    if isinstance(content, tuple | list):
        return tuple(map_tensors(part, change) for part in content)
    return content


def _chunks(content: Any, parts: int) -> list[Any]:
    if isinstance(content, Tensor):
        if len(content) % parts:
            raise PipelineError("batches.not_divisible", size=len(content), parts=parts)
        return list(content.chunk(parts))
    if isinstance(content, dict):
        columns = {name: _chunks(part, parts) for name, part in content.items()}
        return [{name: column[i] for name, column in columns.items()} for i in range(parts)]
    if isinstance(content, tuple | list):
        rows = [_chunks(part, parts) for part in content]
        return [tuple(row[i] for row in rows) for i in range(parts)]
    return [content] * parts
