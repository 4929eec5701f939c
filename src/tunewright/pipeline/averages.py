"""Averages that evaluation reads: batch-norm statistics over ranks, and weights over steps (Polyak)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn

from tunewright.pipeline.hosts import Host


def sync_batch_norm(model: nn.Module, host: Host | None = None, spread: bool | None = None) -> None:
    """Give every rank the same batch-norm statistics: call it on all ranks before evaluating or saving."""
    raise NotImplementedError


def recompute_batch_norm(
    model: nn.Module,
    batches: Iterable[Any],
    forward: Callable[[nn.Module, Any], object] | None = None,
    host: Host | None = None,
) -> int:
    """Measure the batch-norm statistics anew over `batches` (200 or more); returns how many were used."""
    raise NotImplementedError


class Averages:
    """The exponential moving average of a model's weights and of its batch-norm statistics."""

    def __init__(self, model: nn.Module, decay: float = 0.999, warmup: bool = True) -> None:
        raise NotImplementedError

    def update(self, model: nn.Module) -> None:
        """Take in the weights after one optimizer step."""
        raise NotImplementedError

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[nn.Module]:
        """Evaluate with the averages: they stand in the model inside the block, the weights after it."""
        raise NotImplementedError
        yield model

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        raise NotImplementedError

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        raise NotImplementedError
