"""Do the ranks agree? The same weights and seeds everywhere, each example on one rank.

Ranks that differ train on without an error: what is wrong shows weeks later, as a model that is a
little worse. `check_start` and `check_parameters` compare bits, at the start and at checkpoints.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from tunewright.errors import PipelineError
from tunewright.pipeline import hosts
from tunewright.pipeline.hosts import Host

_ALIKE, _UNLIKE = ("init", "order", "split", "eval"), ("data",)


def check_start(
    model: nn.Module, seeds: Any, ids: Tensor, expected: Tensor, host: Host | None = None
) -> None:
    """Before the first step: weights alike, seeds as they are marked, examples shared out."""
    check_parameters(model, host)
    check_seeds(seeds, host)
    check_batch(ids, expected, host)


def check_parameters(model: nn.Module, host: Host | None = None) -> None:
    """Refuse to continue unless every rank holds the same weights, bit for bit; names what differs.

    Buffers are left out: batch-norm averages differ between ranks until they are synced.
    """
    host = host or hosts.current()
    if host.world == 1:
        return
    parameters = dict(hosts.bare(model).named_parameters())
    counts = _gather([len(parameters)], host)[:, 0].tolist()
    if len(set(counts)) > 1:
        raise PipelineError("ranks.parameter_counts_differ", counts=counts)
    digests = _gather([digest(parameter) for parameter in parameters.values()], host)
    differ = [
        f"{name} (rank {', '.join(str(rank) for rank in range(host.world) if column[rank])})"
        for name, column in zip(parameters, (digests != digests[0]).T.tolist(), strict=True)
        if any(column)
    ]
    if differ:
        raise PipelineError(
            "ranks.parameters_differ",
            count=len(differ),
            parameters=len(parameters),
            names="; ".join(differ[:3]),
            more=" ..." if len(differ) > 3 else "",
        )


def check_seeds(seeds: Any, host: Host | None = None) -> None:
    """Refuse seeds that are not alike (init, order, split, eval) or unlike (data) as marked."""
    host = host or hosts.current()
    names = [name for name in (*_ALIKE, *_UNLIKE) if hasattr(seeds, name)]
    table = _gather([int(getattr(seeds, name)) for name in names], host).T.tolist()
    for name, values in zip(names, table, strict=True):
        if name in _ALIKE and len(set(values)) > 1:
            raise PipelineError("ranks.seeds_differ", name=name, values=values)
        if name in _UNLIKE and len(set(values)) < host.world:
            raise PipelineError("ranks.seeds_alike", name=name, values=values)


def check_batch(ids: Tensor, expected: Tensor, host: Host | None = None) -> None:
    """Refuse a batch whose examples the ranks do not hold once each: `ids` here, `expected` in all.

    `expected` is `hosts.global_ids(step, ...)`.
    """
    host = host or hosts.current()
    sizes = _gather([len(ids)], host)[:, 0].tolist()
    if len(set(sizes)) > 1:
        raise PipelineError("ranks.batch_sizes_differ", sizes=sizes)
    shares = _gather(ids.tolist(), host)
    if torch.equal(shares.flatten().sort().values, expected.cpu().sort().values):
        return
    if host.world > 1 and bool((shares == shares[0]).all()):
        how = "all ranks hold the same examples"
    else:
        seen, wanted = set(shares.flatten().tolist()), set(expected.tolist())
        how = (
            f"{len(shares.flatten()) - len(seen)} are held twice, {len(wanted - seen)} by nobody, "
            f"{len(seen - wanted)} do not belong to it"
        )
    raise PipelineError("ranks.examples_not_shared_out", reason=how)


def check_files(files: Mapping[str, int], host: Host | None = None) -> None:
    """Refuse files that the ranks do not see alike, by name and size: shards would overlap."""
    host = host or hosts.current()
    hashed = hashlib.sha256(repr(sorted(files.items())).encode()).digest()
    summary = [int.from_bytes(hashed[:8], "big") >> 1, len(files), sum(files.values())]
    table = _gather(summary, host)
    if bool((table[:, 0] != table[0, 0]).any()):
        counts, totals = table[:, 1].tolist(), table[:, 2].tolist()
        raise PipelineError("ranks.files_differ", files=counts, total=totals)


def check_items(items: Iterator[Any], host: Host) -> Iterator[Any]:
    """The batches of a loader; refuses one that gives all ranks the same batches.

    A plain DataLoader does so: every rank then computes the same gradient, and several processes
    train as one. Batches that never change (a benchmark's) are no evidence, so two are compared.
    """
    if host.world == 1:
        yield from items
        return
    first = None
    for number, item in enumerate(items):
        if number < 2:
            digests = _gather([_digest_of(item)], host)[:, 0]
            alike = bool((digests == digests[0]).all())
            if number == 1 and first is not None and alike and int(digests[0]) != first:
                raise PipelineError("ranks.same_batches", world=host.world)
            first = int(digests[0]) if alike else None
        yield item


def _digest_of(item: Any) -> int:
    """One number for all tensors of a batch, in their order."""
    if isinstance(item, Tensor):
        return digest(item)
    parts = item.values() if isinstance(item, dict) else item
    if not isinstance(item, dict | tuple | list):
        parts = ()
    hashed = hashlib.sha256(repr([_digest_of(part) for part in parts]).encode())
    return int.from_bytes(hashed.digest()[:8], "big") >> 1


def digest(tensor: Tensor) -> int:
    """A 63-bit hash of the tensor's bits, dtype and shape.

    >>> digest(torch.zeros(2)) == digest(torch.zeros(2)), digest(torch.tensor([0.0, -0.0])) == (
    ...     digest(torch.zeros(2)))
    (True, False)
    """
    bits = tensor.detach().cpu().contiguous().flatten().view(torch.uint8)
    hashed = hashlib.sha256(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
    hashed.update(bits.numpy().data)
    return int.from_bytes(hashed.digest()[:8], "big") >> 1


def _gather(numbers: list[int], host: Host) -> Tensor:
    """Integers of every rank, one row per rank, on the CPU."""
    on_cuda = host.world > 1 and dist.get_backend() == "nccl"
    device = hosts.device(host) if on_cuda else torch.device("cpu")
    return hosts.gather(torch.tensor(numbers, dtype=torch.int64, device=device), host).cpu()
