"""Examples by their ids: the one way in which data comes into the pipeline.

Data is a tensor, a tuple or dict of tensors with one first dimension, or a map-style dataset
(`len(data)` and `data[i]`). Who takes which ids is decided elsewhere (`hosts`, `evaluate`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset, default_collate

from tunewright.errors import PipelineError


def count(data: Any) -> int:
    """The number of examples.

    >>> count({"image": torch.zeros(5, 3), "label": torch.zeros(5)})
    5
    """
    parts = tensors_of(data)
    if parts is None:
        if hasattr(data, "__len__") and hasattr(data, "__getitem__"):
            return len(data)
        raise PipelineError("data.not_indexable", kind=type(data).__name__)
    sizes = sorted({len(part) for part in parts})
    if len(sizes) != 1:
        raise PipelineError("data.unequal_parts", sizes=sizes)
    return sizes[0]


def take(data: Any, ids: Tensor) -> Any:
    """The batch of these examples, in this order.

    >>> take((torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0, 1, 0])), torch.tensor([2, 0]))
    (tensor([3., 1.]), tensor([0, 0]))
    """
    parts = tensors_of(data)
    if parts is None:
        return default_collate([data[index] for index in ids.tolist()])
    taken = tuple(part[ids.to(part.device)] for part in parts)
    if isinstance(data, dict):
        return dict(zip(data, taken, strict=True))
    return taken[0] if isinstance(data, Tensor) else taken


def load(data: Any, batches: Sequence[Tensor], workers: int = 0) -> Iterator[Any]:
    """The batches of these ids one after the other; `workers` load a map-style dataset ahead."""
    if not workers or tensors_of(data) is not None:
        return (take(data, ids) for ids in batches)
    return iter(
        DataLoader(
            data,
            batch_sampler=[ids.tolist() for ids in batches],
            num_workers=workers,
            pin_memory=torch.cuda.is_available(),
        )
    )


def move(batch: Any, device: torch.device | str) -> Any:
    """The batch on the device; what is no tensor stays as it is."""
    if isinstance(batch, Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {name: move(part, device) for name, part in batch.items()}
    if isinstance(batch, (tuple, list)):
        return tuple(move(part, device) for part in batch)
    return batch


def tensors_of(data: Any) -> tuple[Tensor, ...] | None:
    """The tensors the data is made of, which are indexed as a whole; None for a dataset."""
    if isinstance(data, TensorDataset):
        return data.tensors
    if isinstance(data, Tensor):
        return (data,)
    parts = tuple(data.values()) if isinstance(data, dict) else data
    if isinstance(parts, tuple) and parts and all(isinstance(part, Tensor) for part in parts):
        return parts
    return None


def check_weights(weights: Tensor, size: int) -> None:
    """Refuse weights that are not one finite number from 0 on for each of so many examples."""
    if len(weights) != size:
        raise PipelineError("batches.weight_count", weights=len(weights), size=size)
    if not bool((weights >= 0).all() & weights.isfinite().all()):
        raise PipelineError("batches.bad_weights")
