"""Evaluations by replay: the values of `evaluate`, bit for bit, as the weights change."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tunewright.pipeline.capture import CapturedEvaluation, _batches
from tunewright.pipeline.evaluate import evaluate
from tunewright.pipeline.stretch import OwnProcess

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def metrics(model: nn.Module, batch) -> dict[str, torch.Tensor]:
    noisy = model(batch[0]) + torch.rand_like(batch[0][:, :2])  # draws in evaluation mode too
    return {"loss": nn.functional.cross_entropy(noisy, batch[1], reduction="none")}


@needs_cuda
@pytest.mark.parametrize("weighted", [False, True])
def test_replays_equal_evaluations(weighted: bool) -> None:
    made = torch.Generator().manual_seed(0)
    x = torch.randn(103, 6, generator=made).cuda()
    data = x, (x[:, 0] > 0).long()
    weights = torch.rand(103, generator=made) if weighted else None
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 2)).cuda()
    device = torch.device("cuda", 0)
    about = {"batch_size": 16, "weights": weights, "device": device}
    first = evaluate(model, data, metrics, **about)
    replayed = CapturedEvaluation(
        model, data, metrics, weights, first, precision="fp32", device=device, lane=OwnProcess()
    )
    assert replayed.reason is None
    for _ in range(3):
        with torch.no_grad():
            model[0].weight.add_(0.1)
        expected, state = evaluate(model, data, metrics, **about), torch.cuda.get_rng_state()
        assert replayed().metrics == expected.metrics
        assert replayed().weight == expected.weight
        assert torch.equal(torch.cuda.get_rng_state(), state)
    assert model.training


@needs_cuda
def test_metrics_that_read_the_device_are_not_captured() -> None:
    def reads(model: nn.Module, batch) -> dict[str, torch.Tensor]:
        found = model(batch).squeeze(1)
        assert found.sum().item() < 1e9
        return {"loss": found}

    data, model, device = torch.ones(8, 1).cuda(), nn.Linear(1, 1).cuda(), torch.device("cuda", 0)
    first = evaluate(model, data, reads, batch_size=4)
    replayed = CapturedEvaluation(
        model, data, reads, None, first, precision="fp32", device=device, lane=OwnProcess()
    )
    assert replayed.reason is not None


def test_the_last_batch_is_filled_up_with_weight_0() -> None:
    batches = _batches(torch.zeros(5, 1), None, 2, torch.device("cpu"))
    assert [places.tolist() for places, _ in batches] == [[0, 1], [2, 3], [4, 4]]
    assert [mask.tolist() for _, mask in batches] == [[1, 1], [1, 1], [1, 0]]
