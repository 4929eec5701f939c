"""What the model predicts for a few chosen examples, kept at every evaluation to look at later."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tunewright.errors import PipelineError
from tunewright.pipeline import examples

_KEPT = 64  # examples: enough to see a pattern, small enough to keep at every evaluation


@dataclass(frozen=True, eq=False)
class Predictions:
    """The model's output for fixed examples."""

    ids: Tensor  # which examples of the evaluation data
    values: Tensor  # one row of output per example


def fixed_ids(size: int, kept: int = _KEPT) -> Tensor:
    """The examples whose predictions are kept: spread evenly, the same at every evaluation.

    >>> fixed_ids(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return torch.linspace(0, size - 1, min(size, kept), dtype=torch.float64).round().long()


def predict_fixed(
    model: nn.Module,
    data: Any,
    predict: Callable[[nn.Module, Any], Tensor],
    device: torch.device | str,
    ids: Tensor | None = None,
) -> Predictions:
    """The predictions for the examples `ids` of `data`, or for as many fixed ones."""
    ids = fixed_ids(examples.count(data)) if ids is None else ids
    with torch.no_grad():
        values = predict(model, examples.move(examples.take(data, ids), device))
    if values.dim() < 1 or len(values) != len(ids):
        raise PipelineError("predictions.bad_shape", shape=tuple(values.shape), examples=len(ids))
    return Predictions(ids, values.detach().cpu())


def save_predictions(folder: Path | str, step: int, predictions: Predictions) -> Path:
    """Write them to `folder/step-<12 digits>.safetensors`, complete or not at all."""
    from safetensors.torch import save_file

    path = Path(folder) / f"step-{step:012d}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".tmp")
    save_file({"ids": predictions.ids, "values": predictions.values.contiguous()}, str(unfinished))
    os.replace(unfinished, path)
    return path


def load_predictions(folder: Path | str) -> dict[int, Predictions]:
    """What was kept, by step."""
    from safetensors.torch import load_file

    kept = {}
    for path in sorted(Path(folder).glob("step-*.safetensors")):
        tensors = load_file(str(path))
        kept[int(path.stem.removeprefix("step-"))] = Predictions(tensors["ids"], tensors["values"])
    return kept
