"""How good is the model now? The same answer for every batch size and number of hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tunewright.pipeline.hosts import Host

Metrics = Callable[[nn.Module, Any], Mapping[str, Tensor]]  # one value per example


@dataclass(frozen=True)
class Evaluation:
    """What one evaluation found."""

    metrics: Mapping[str, float]  # weighted mean of each metric over the data set
    weight: float  # sum of weights: the number of examples where no weights are given
    batch_size: int  # examples per rank and forward pass
    class_counts: tuple[Any, ...] = ()  # per class: correct of total, with a Wilson interval
    predictions: Any = None  # of the fixed examples
    values: Mapping[str, Tensor] | None = None  # per example, in the data's order


def eval_interval(max_train_steps: int, evaluations: int = 100) -> int:
    """Steps between two evaluations."""
    raise NotImplementedError


def eval_due(step: int, max_train_steps: int, every: int | None = None) -> bool:
    """Whether to evaluate after update `step`: a pure function of the step, always at the last."""
    raise NotImplementedError


def find_batch_size(
    model: nn.Module,
    data: Any,
    metrics: Metrics,
    train_batch_size: int,
    *,
    at_most: int | None = None,
    device: torch.device | str | None = None,
    host: Host | None = None,
) -> int:
    """The largest evaluation batch that fits: the training batch, doubled until it does not."""
    raise NotImplementedError


def evaluate(
    model: nn.Module,
    data: Any,
    metrics: Metrics,
    *,
    batch_size: int | None = None,
    train_batch_size: int = 64,
    weights: Tensor | None = None,
    labels: Tensor | None = None,
    correct: str | None = None,
    predict: Callable[[nn.Module, Any], Tensor] | None = None,
    keep_values: bool = False,
    device: torch.device | str | None = None,
    host: Host | None = None,
    seed: int = 0,
) -> Evaluation:
    """The weighted mean of each metric over all of `data`; every rank calls it and gets the same.

    `data`: a tensor, a tuple or dict of tensors with one first dimension, or a map-style dataset
    (len and [i]). `metrics(model, batch)` gives one value per example, {"valid_error": (b,)}.
    Batch norm is synced over ranks first; the model is in eval mode inside and back in its own mode
    afterwards; the random state is left as it was.
    """
    raise NotImplementedError
