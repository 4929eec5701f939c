"""A whole evaluation as one CUDA graph, for a validation set that lies on the device.

It runs the operations of `pipeline.evaluate` in their order, so its values are the same bit for
bit. The checks that need the host (every example counted once, weights above 0) were done by the
first evaluation of a training, which is never captured.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from tunewright.pipeline import examples
from tunewright.pipeline.capture import side_stream, try_capture, waits_inside
from tunewright.pipeline.eval_batch import Metrics, evaluating
from tunewright.pipeline.evaluate import WEIGHT, Evaluation, add_rows, sds_of, sum_of_squares
from tunewright.pipeline.precision import Precision, autocast
from tunewright.pipeline.stretch import Lane, Replayable

_SEED = 0  # of the random numbers of an evaluation, as `evaluate` has it


class CapturedEvaluation:
    """Evaluates a model by replay; `reason` is why it cannot."""

    def __init__(
        self,
        model: nn.Module,
        data: Any,
        metrics: Metrics,
        weights: Tensor | None,
        first: Evaluation,
        *,
        precision: Precision,
        device: torch.device,
        lane: Lane,
    ) -> None:
        """`first` is the training's first evaluation: its batch size and weight hold for all."""
        self._first, self._lane, self._device = first, lane, device
        self._names: list[str] = []
        self._sums: Tensor | None = None
        self._fetched: list[float] | None = None  # sums on the host
        self._random = torch.Generator(device=device)
        self._graph = torch.cuda.CUDAGraph()
        batches = _batches(data, weights, first.batch_size, device)

        def whole() -> None:
            rows: dict[str, Tensor] = {}
            size = examples.count(data)
            with autocast(precision, device, cache=False):
                for places, mask in batches:
                    values = metrics(model, examples.take(data, places))
                    add_rows(rows, values, mask, places, size)
            self._names = sorted(rows)
            weights = rows[WEIGHT]
            total = weights.sum()
            sums = [rows[name].sum() for name in self._names]
            squares = [sum_of_squares(rows[name], weights, total) for name in self._names]
            self._sums = torch.stack([*sums, *squares, (weights > 0).double().sum()])

        self._kept = batches  # the graph reads these tensors wherever they lie
        self.reason = self._capture(model, whole)

    def _capture(self, model: nn.Module, whole: Any) -> str | None:
        stream, place = side_stream(), torch.cuda.default_generators[self._device.index]
        with evaluating(model, _SEED):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream), waits_inside(True) as waits:
                whole()
            torch.cuda.current_stream().wait_stream(stream)
            if waits:
                return f"{waits[0]} waits for the device"
            usual = place.graphsafe_get_state()
            self._random.manual_seed(_SEED)
            place.graphsafe_set_state(self._random.graphsafe_get_state())
            try:
                return try_capture(self._graph, stream, whole)
            finally:
                place.graphsafe_set_state(usual)

    def ready(self) -> tuple[Replayable, int]:
        """What to replay once the model is as it is to be evaluated; `fetch` comes after it."""
        self._random.manual_seed(_SEED)
        return self._graph, 1

    def fetch(self) -> None:
        """Wait for the device and copy the sums."""
        assert self._sums is not None
        self._fetched = self._sums.tolist()

    def __call__(self) -> Evaluation:
        """The evaluation that was fetched, or one of the model as it is now."""
        if self._fetched is None:
            self._lane.replay(self.ready(), then=self.fetch)
        assert self._fetched is not None
        numbers, self._fetched = self._fetched, None
        count, examples_seen = len(self._names), int(numbers[-1])
        pairs = zip(numbers[:count], numbers[count:-1], strict=True)
        sums = dict(zip(self._names, pairs, strict=True))
        total = sums.pop(WEIGHT)[0]
        return Evaluation(
            metrics={name: value / total for name, (value, _) in sums.items()},
            weight=total,
            batch_size=self._first.batch_size,
            sd=sds_of(sums, total, examples_seen),
            examples=examples_seen,
        )


def _batches(
    data: Any, weights: Tensor | None, batch_size: int, device: torch.device
) -> list[tuple[Tensor, Tensor]]:
    """(ids, weights) of each batch on the device; the last is filled up with weight 0."""
    size = examples.count(data)
    ids = torch.full((math.ceil(size / batch_size) * batch_size,), size - 1)
    ids[:size] = torch.arange(size)
    every = torch.ones(size) if weights is None else weights.detach().cpu()
    mask = every[ids].double()
    mask[size:] = 0.0
    pairs = zip(torch.split(ids, batch_size), torch.split(mask, batch_size), strict=True)
    return [(places.to(device), part.to(device)) for places, part in pairs]
