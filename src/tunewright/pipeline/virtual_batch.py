"""A batch cut into virtual batches, and laid out so that one kernel normalises all of them."""

from __future__ import annotations

import torch
from torch import Tensor

from tunewright.errors import PipelineError


def group_sizes(examples: int, virtual_batch_size: int, strict: bool = True) -> list[int]:
    """How a batch is cut into virtual batches; not strict: the nearest sizes, at least half of it.

    >>> group_sizes(128, 64), group_sizes(100, 64, strict=False), group_sizes(90, 64, strict=False)
    ([64, 64], [50, 50], [90])
    """
    groups, rest = divmod(examples, virtual_batch_size)
    if not rest:
        return [virtual_batch_size] * groups
    groups = max(1, min(round(examples / virtual_batch_size), examples // 2))
    sizes = [examples // groups + (index < examples % groups) for index in range(groups)]
    if strict:
        raise PipelineError(
            "batch_norm.not_divisible",
            examples=examples,
            virtual_batch_size=virtual_batch_size,
            sizes=", ".join(map(str, sizes)),
        )
    return sizes


def side_by_side(batch: Tensor, groups: int) -> Tensor:
    """The groups of a batch as groups * C channels of one virtual batch."""
    if _channels_last(batch):
        rows = batch.movedim(1, -1).reshape(groups, -1, batch.shape[1])
        return rows.transpose(0, 1).flatten(1)
    return batch.reshape(groups, -1, *batch.shape[1:]).transpose(0, 1).flatten(1, 2)


def one_after_another(stacked: Tensor, batch: Tensor, groups: int) -> Tensor:
    """The inverse, in the shape and memory format of the batch."""
    if _channels_last(batch):
        rows = stacked.reshape(-1, groups, batch.shape[1]).transpose(0, 1)
        return rows.reshape(batch.movedim(1, -1).shape).movedim(-1, 1)
    rows = stacked.reshape(-1, groups, *batch.shape[1:]).transpose(0, 1)
    return rows.reshape(batch.shape)


def pooled(means: Tensor, variances: Tensor, sizes: list[int], each: int) -> tuple[Tensor, Tensor]:
    """Mean and unbiased variance of the whole batch from those of its groups."""
    # Plain numbers: copying a tensor of counts to the device cannot be captured in a CUDA graph.
    counts, total = [size * each for size in sizes], sum(sizes) * each
    mean = torch.stack([n * m for n, m in zip(counts, means, strict=True)]).sum(0) / total
    squares = torch.stack(
        [
            (n - 1) * v + n * (m - mean).square()
            for n, m, v in zip(counts, means, variances, strict=True)
        ]
    )
    return mean, squares.sum(0) / (total - 1)


def _channels_last(batch: Tensor) -> bool:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return (
        batch.dim() in formats
        and not batch.is_contiguous()
        and batch.is_contiguous(memory_format=formats[batch.dim()])
    )
