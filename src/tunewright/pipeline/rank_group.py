"""Sums over a group of ranks that autograd sees: a virtual batch larger than one device's batch."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from tunewright.errors import PipelineError
from tunewright.pipeline import hosts


def rank_group(
    examples: int, virtual_batch_size: int, strict: bool = True
) -> dist.ProcessGroup | None:
    """The ranks that together hold one virtual batch, when one holds `examples`; None: this alone.

    Not strict: the largest group up to that size which the number of processes allows.
    """
    world = hosts.current().world
    wanted = -(-virtual_batch_size // examples)
    if strict and (virtual_batch_size % examples or world % wanted):
        raise PipelineError(
            "batch_norm.no_rank_group",
            examples=examples,
            virtual_batch_size=virtual_batch_size,
            world=world,
        )
    together = max(size for size in range(1, wanted + 1) if world % size == 0)
    return None if together == 1 else _subgroup(dist.group.WORLD, together)


def sum_over_ranks(values: Tensor, group: dist.ProcessGroup | None) -> Tensor:
    """The sum over the group's ranks; its gradient is the sum of every rank's gradient."""
    summed: Tensor = _SumOverRanks.apply(values, group)  # type: ignore[no-untyped-call]
    return summed


class _SumOverRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, group: dist.ProcessGroup | None) -> Tensor:
        ctx.group = group
        return _summed(values, group)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _summed(gradients[0], ctx.group), None


def _summed(values: Tensor, group: dist.ProcessGroup | None) -> Tensor:
    out = values.contiguous().clone()
    if group is not None:
        dist.all_reduce(out, group=group)
    return out


@lru_cache(maxsize=16)
def _subgroup(world: Any, size: int) -> dist.ProcessGroup:
    # Making groups is a collective call, so the answer is kept per (process group, size); all
    # ranks come here at the same layer of their first step.
    mine: dist.ProcessGroup
    mine, _ = dist.new_subgroups(size)  # type: ignore[no-untyped-call]
    return mine
