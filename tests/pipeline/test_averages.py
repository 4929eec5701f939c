"""Batch-norm statistics over ranks, and averaged weights with statistics that belong to them."""

from __future__ import annotations

import copy

import pytest
import torch
from tests.pipeline.rank_worker import CHANNELS
from tests.pipeline.ranks import WORLDS, answers
from torch import nn

from tunewright.errors import PipelineError
from tunewright.pipeline.averages import (
    Averages,
    batch_norm_layers,
    recompute_batch_norm,
    sync_batch_norm,
)
from tunewright.pipeline.ghost_batch_norm import GhostBatchNorm

NORMS = {"plain": lambda: nn.BatchNorm1d(4), "ghost": lambda: GhostBatchNorm(4, 8)}


def model_with(norm: nn.Module, dropout: float = 0.0) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), norm, nn.Dropout(dropout), nn.Linear(4, 2))


def steps(model: nn.Module, averages: Averages | None = None, count: int = 20) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for seed in range(count):
        torch.manual_seed(seed)
        loss = (model(torch.randn(16, 3)) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if averages is not None:
            averages.update(model)


def snapshot(model: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


# ---- over ranks


@pytest.mark.parametrize("norm", NORMS)
def test_one_process_has_nothing_to_sync(norm):
    model = model_with(NORMS[norm]())
    steps(model)
    before = snapshot(model)
    sync_batch_norm(model)
    assert same(before, snapshot(model))


@pytest.mark.parametrize("world", WORLDS)
def test_synced_statistics_are_those_of_all_ranks_together(world):
    """Ranks hold means c + rank and variances 1 + rank; together the spread of the means counts."""
    ranks = torch.arange(world).float()
    mean = torch.arange(CHANNELS) + ranks.mean()
    within, between = 1 + ranks.mean(), ranks.var(correction=0)
    for answer in answers(world):
        for kind, var in (
            ("sync_plain", within + between),
            ("sync_ghost", within),  # describes one virtual batch, so the spread is left out
            ("sync_spread", within + between),
        ):
            assert torch.allclose(answer[kind]["mean"], mean)
            assert torch.allclose(answer[kind]["var"], var.expand(CHANNELS))
            assert torch.equal(answer[kind]["var"], answer[kind]["once"])  # twice is once


@pytest.mark.parametrize("world", WORLDS)
def test_ranks_differ_until_evaluation_syncs_them(world):
    ranks = answers(world)
    apart = torch.stack([rank["statistics_apart"] for rank in ranks])
    assert not torch.allclose(apart[0], apart[1])  # parallel() does not broadcast rank 0's
    for rank in ranks:
        assert torch.allclose(rank["statistics_synced"], apart.mean(0), rtol=1e-12)
        assert rank["norm_evaluation"]["metrics"] == ranks[0]["norm_evaluation"]["metrics"]


@pytest.mark.parametrize("world", WORLDS)
def test_averages_are_synced_for_a_checkpoint(world):
    ranks = [answer["averages"] for answer in answers(world)]
    assert not torch.allclose(ranks[0]["apart"], ranks[1]["apart"])
    mean = torch.stack([rank["apart"] for rank in ranks]).mean(0)
    for rank in ranks:
        assert torch.allclose(rank["together"], mean, rtol=1e-12)


# ---- over steps


@pytest.mark.parametrize("warmup", [False, True])
def test_averages_follow_the_formula(warmup):
    model = model_with(nn.BatchNorm1d(4))
    averages = Averages(model, decay=0.9, warmup=warmup)
    expected = snapshot(model)
    for update in range(15):
        steps(model, count=1)
        averages.update(model)
        decay = min(0.9, (1 + update) / (10 + update)) if warmup else 0.9
        for name, value in model.state_dict().items():
            if value.is_floating_point():
                expected[name] = decay * expected[name] + (1 - decay) * value
            else:
                expected[name] = value.clone()
    with averages.applied(model):
        found = snapshot(model)
    for name in expected:
        assert torch.allclose(found[name], expected[name], rtol=1e-5, atol=1e-7), name
    assert int(found["1.num_batches_tracked"]) == 15  # copied, not averaged


def test_weights_come_back_bit_for_bit_even_after_an_error():
    model = model_with(nn.BatchNorm1d(4))
    averages = Averages(model, decay=0.5)
    steps(model, averages)
    before = snapshot(model)
    with pytest.raises(RuntimeError, match="evaluation failed"), averages.applied(model):
        assert not torch.equal(model.state_dict()["0.weight"], before["0.weight"])
        raise RuntimeError("evaluation failed")
    assert same(before, snapshot(model))


def test_a_resumed_average_continues_bit_for_bit():
    model = model_with(nn.BatchNorm1d(4))
    averages = Averages(model, decay=0.95)
    steps(model, averages)
    other_model = copy.deepcopy(model)
    resumed = Averages(other_model, decay=0.1)
    state = averages.state_dict()
    resumed.load_state_dict({**state, "values": {k: v.clone() for k, v in state["values"].items()}})
    steps(model, averages)
    steps(other_model, resumed)
    with averages.applied(model), resumed.applied(other_model):
        assert same(snapshot(model), snapshot(other_model))


def test_bfloat16_weights_are_averaged_in_float32():
    model = nn.Linear(1, 1, bias=False).bfloat16()
    with torch.no_grad():
        model.weight.fill_(1.0)
    averages = Averages(model, decay=0.999, warmup=False)
    with torch.no_grad():
        model.weight.fill_(2.0)
    for _ in range(100):
        averages.update(model)
    value = averages.state_dict()["values"]["weight"]
    assert value.dtype == torch.float32
    assert float(value) == pytest.approx(2 - 0.999**100, rel=1e-4)  # in bfloat16 it would stay 1


def test_constant_buffers_stay_exact():
    model = nn.Linear(2, 2)
    model.register_buffer("frequencies", torch.tensor([0.1, 1 / 3]))
    model.register_buffer("scratch", torch.zeros(2), persistent=False)
    averages = Averages(model, decay=0.9)
    for _ in range(50):
        averages.update(model)
    assert torch.equal(averages.state_dict()["values"]["frequencies"], model.frequencies)
    assert "scratch" not in averages.state_dict()["values"]


def test_tied_weights_stay_tied():
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    model[1].weight = model[0].weight
    averages = Averages(model, decay=0.5)
    with averages.applied(model):
        assert model[0].weight is model[1].weight
    assert list(averages.state_dict()["values"]) == ["0.weight"]


def test_another_model_is_refused_by_name():
    averages = Averages(nn.Linear(2, 2))
    with pytest.raises(PipelineError, match="bias is missing in this model"):
        averages.update(nn.Linear(2, 2, bias=False))
    with pytest.raises(PipelineError, match=r"weight is \(3, 2\) in this model and \(2, 2\)"):
        averages.update(nn.Linear(2, 3))
    with pytest.raises(PipelineError, match="missing in the checkpoint"):
        averages.load_state_dict(Averages(nn.Linear(2, 2, bias=False)).state_dict())


@pytest.mark.parametrize("decay", [-0.1, 1.0, 2.0])
def test_a_decay_outside_its_range_is_refused(decay):
    with pytest.raises(PipelineError, match="0 <= decay < 1"):
        Averages(nn.Linear(1, 1), decay)


# ---- measured anew


@pytest.mark.parametrize("norm", NORMS)
def test_recomputed_statistics_are_those_of_the_averaged_weights(norm):
    """Averaged weights with the last weights' statistics are a model that nobody trained."""
    model = model_with(NORMS[norm]())
    averages = Averages(model, decay=0.9)
    steps(model, averages)
    batches = torch.randn(50, 8, 3, generator=torch.Generator().manual_seed(1))
    before = snapshot(model)
    with averages.applied(model):
        assert recompute_batch_norm(model, batches) == 50
        inside = [model[0](batch) for batch in batches]
        mean = torch.stack([rows.mean(0) for rows in inside]).mean(0)
        var = torch.stack([rows.var(0, correction=1) for rows in inside]).mean(0)
        assert torch.allclose(model[1].running_mean, mean, rtol=1e-4, atol=1e-6)
        assert torch.allclose(model[1].running_var, var, rtol=1e-4)
    assert same(before, snapshot(model))


@pytest.mark.parametrize("norm", NORMS)
def test_recomputing_leaves_modes_momentum_and_random_state(norm):
    layer = NORMS[norm]()
    model = model_with(layer, dropout=0.5)
    layer.momentum = 0.3
    model.train()
    model[3].eval()
    if norm == "ghost":
        layer.micro_batches = 2
    state = torch.get_rng_state()
    used = recompute_batch_norm(model, ((torch.randn(8, 3), None) for _ in range(300)))
    assert used == 200
    assert layer.momentum == 0.3 and getattr(layer, "micro_batches", 2) == 2
    assert [module.training for module in model] == [True, True, True, False]
    assert int(layer.num_batches_tracked) == 200
    if norm == "plain":  # the batches above draw from the same generator outside
        torch.set_rng_state(state)
        batches = [torch.randn(8, 3) for _ in range(3)]
        state = torch.get_rng_state()
        recompute_batch_norm(model, batches)
        assert torch.equal(torch.get_rng_state(), state)


def test_recomputing_without_batches_is_refused():
    with pytest.raises(PipelineError, match="got no batches"):
        recompute_batch_norm(model_with(nn.BatchNorm1d(4)), [])
    assert recompute_batch_norm(nn.Linear(2, 2), []) == 0


def test_layers_without_statistics_are_left_out():
    model = nn.Sequential(
        nn.BatchNorm1d(2, track_running_stats=False), nn.BatchNorm1d(2), GhostBatchNorm(2, 4)
    )
    assert batch_norm_layers(model) == [model[1], model[2]]
