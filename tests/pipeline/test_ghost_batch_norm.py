"""GhostBatchNorm against torch's batch norm: alone, in groups, over ranks and micro-batches."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings, strategies as st
from tests.pipeline.rank_worker import (
    CHANNELS,
    MICRO,
    VIRTUAL,
    ghost,
    images,
    normalised,
    running_statistics,
    trained,
)
from tests.pipeline.ranks import WORLDS, answers
from torch import nn

from tunewright.errors import PipelineError
from tunewright.pipeline.ghost_batch_norm import (
    FEW,
    GhostBatchNorm,
    convert_batch_norm,
    group_sizes,
    set_micro_batches,
)
from tunewright.pipeline.hosts import Host

BATCH_NORMS = {2: nn.BatchNorm1d, 3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d}


def plain(layer: GhostBatchNorm, dimensions: int = 4, **options) -> nn.Module:
    """torch's layer with the same weights."""
    other = BATCH_NORMS[dimensions](layer.num_features, eps=layer.eps, **options).double()
    other.load_state_dict(layer.state_dict())
    return other


def assert_close(found: dict, expected: dict) -> None:
    for name in found:
        assert torch.allclose(found[name], expected[name], rtol=1e-10, atol=1e-12), name


@pytest.mark.parametrize("dimensions", [2, 3, 4, 5])
@pytest.mark.parametrize("mode", ["split", "subsample"])
@pytest.mark.parametrize("running", ["ghost", "total"])
def test_equals_plain_batch_norm_when_the_batch_is_the_virtual_batch(dimensions, mode, running):
    shape = (VIRTUAL, CHANNELS, *[3, 2, 2][: dimensions - 2])
    batch, target = torch.randn(2, *shape, dtype=torch.float64)
    layer = ghost(mode=mode, running=running)
    reference = plain(layer, dimensions)
    assert_close(normalised(layer, batch, target), normalised(reference, batch, target))
    assert int(layer.num_batches_tracked) == int(reference.num_batches_tracked) == 1


@pytest.mark.parametrize("momentum", [0.1, 0.01, None])
def test_momentum_means_what_torch_means(momentum):
    layer = GhostBatchNorm(CHANNELS, VIRTUAL, momentum, dtype=torch.float64)
    reference = plain(layer, momentum=momentum)
    for seed in range(5):
        torch.manual_seed(seed)
        batch = torch.randn(VIRTUAL, CHANNELS, 2, 2, dtype=torch.float64) + seed
        layer(batch), reference(batch)
    assert torch.allclose(layer.running_mean, reference.running_mean, rtol=1e-12)
    assert torch.allclose(layer.running_var, reference.running_var, rtol=1e-12)


@pytest.mark.parametrize("groups", [2, FEW, FEW + 1])
@pytest.mark.parametrize("channels_last", [False, True])
def test_split_equals_plain_batch_norm_per_group(groups, channels_last):
    batch, target = images(VIRTUAL * groups)
    if channels_last:
        batch = batch.contiguous(memory_format=torch.channels_last)
    found = normalised(ghost(), batch, target)
    parts = []
    for index in range(groups):
        rows = slice(index * VIRTUAL, (index + 1) * VIRTUAL)
        parts.append(normalised(plain(ghost(), momentum=1.0), batch[rows], target[rows]))
    assert found["out"].is_contiguous(memory_format=torch.channels_last) == channels_last
    for name in ("out", "gradient"):
        assert torch.allclose(found[name], torch.cat([part[name] for part in parts]), rtol=1e-10)
    for name in ("weight_gradient", "bias_gradient"):
        assert torch.allclose(found[name], sum(part[name] for part in parts), rtol=1e-10)
    # One update by the mean of the groups' means and unbiased variances, not one update per group.
    mean = torch.stack([part["running_mean"] for part in parts]).mean(0)
    var = torch.stack([part["running_var"] for part in parts]).mean(0)
    assert torch.allclose(found["running_mean"], 0.1 * mean, rtol=1e-12)
    assert torch.allclose(found["running_var"], 0.9 + 0.1 * var, rtol=1e-12)


@pytest.mark.parametrize("shape", [(CHANNELS,), (CHANNELS, 3), (CHANNELS, 2, 1, 3)])
@pytest.mark.parametrize("examples", [VIRTUAL * 2, VIRTUAL * 2 + 3, VIRTUAL * (FEW + 2)])
def test_groups_are_rows_that_follow_each_other_in_every_shape(shape, examples):
    batch = torch.randn(examples, *shape, dtype=torch.float64)
    if len(shape) == 4:
        batch = batch.contiguous(memory_format=torch.channels_last_3d)
    out = ghost(strict=False)(batch)
    sizes = group_sizes(examples, VIRTUAL, strict=False)
    parts = [plain(ghost(), batch.dim())(rows) for rows in batch.split(sizes)]
    assert len(parts) >= 2 and torch.allclose(out, torch.cat(parts), rtol=1e-10)


@pytest.mark.parametrize("mode", ["split", "subsample"])
@pytest.mark.parametrize("examples", [VIRTUAL * 3, VIRTUAL * 2 + 3, VIRTUAL * (FEW + 1)])
def test_total_statistics_are_those_of_the_whole_batch(mode, examples):
    batch, target = images(examples)
    found = normalised(ghost(mode=mode, running="total", strict=False), batch, target)
    whole = normalised(plain(ghost()), batch, target)
    assert torch.allclose(found["running_mean"], whole["running_mean"], rtol=1e-10)
    assert torch.allclose(found["running_var"], whole["running_var"], rtol=1e-10)


def test_ghost_variance_is_unbiased():
    """Biased variances of groups of 16 would be 6 % too small; ours are right to within 1 %."""
    torch.manual_seed(0)
    layer = GhostBatchNorm(64, virtual_batch_size=16, momentum=None)
    for _ in range(40):
        layer(torch.randn(128, 64))
    assert float(layer.running_var.mean()) == pytest.approx(1.0, abs=0.01)


def test_subsample_normalises_the_whole_batch_by_a_sample_of_it():
    batch, _ = images(VIRTUAL * 4)
    layer = ghost(mode="subsample", momentum=1.0)
    torch.manual_seed(5)
    out = layer(batch)
    torch.manual_seed(5)
    drawn = torch.rand(len(batch)).argsort()[:VIRTUAL]
    mean = batch[drawn].mean((0, 2, 3))
    var = batch[drawn].var((0, 2, 3), correction=0)
    flat = (batch - mean.view(1, -1, 1, 1)) / (var + layer.eps).sqrt().view(1, -1, 1, 1)
    expected = flat * layer.weight.view(1, -1, 1, 1) + layer.bias.view(1, -1, 1, 1)
    assert torch.allclose(out, expected, rtol=1e-10)
    assert torch.allclose(layer.running_mean, mean)
    assert torch.allclose(layer.running_var, batch[drawn].var((0, 2, 3), correction=1))
    # The sample is drawn anew: the next pass over the same batch differs.
    assert not torch.allclose(layer(batch), out)


@pytest.mark.parametrize("mode", ["split", "subsample"])
@pytest.mark.parametrize("examples", [4, 8, 4 * (FEW + 1)])
def test_gradients_flow_through_the_statistics(mode, examples):
    torch.manual_seed(0)
    layer = GhostBatchNorm(3, 4, mode=mode, dtype=torch.float64)
    batch = torch.randn(examples, 3, 2, dtype=torch.float64, requires_grad=True)

    def out(rows, weight, bias):
        torch.manual_seed(1)  # the same sample at every evaluation of the function
        with torch.no_grad():
            layer.weight.copy_(weight), layer.bias.copy_(bias)
        return torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (rows,))

    weight = torch.rand(3, dtype=torch.float64, requires_grad=True)
    bias = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(out, (batch, weight, bias))


@pytest.mark.parametrize("mode", ["split", "subsample"])
def test_evaluation_does_not_depend_on_the_batch(mode):
    layer = ghost(mode=mode)
    layer(images(VIRTUAL * 2)[0])
    layer.eval()
    before = layer.state_dict()["running_mean"].clone()
    batch, _ = images(11)  # no multiple of anything: evaluation takes any size
    whole = layer(batch)
    alone = torch.cat([layer(row[None]) for row in batch])
    assert torch.allclose(whole, alone, rtol=1e-12)
    assert torch.equal(layer(batch.flip(0)).flip(0), whole)
    assert torch.equal(layer.running_mean, before)


def test_micro_batches_make_one_update_per_optimizer_step():
    batch, _ = images(VIRTUAL * 6)
    whole, cut = ghost(), ghost(micro_batches=3)
    for step in range(2):
        rows = batch[step * VIRTUAL * 3 : (step + 1) * VIRTUAL * 3]
        whole(rows)
        for index in range(3):
            if index:  # nothing moves until the step is complete
                assert int(cut.num_batches_tracked) == step
            cut(rows[index * VIRTUAL : (index + 1) * VIRTUAL])
    assert int(cut.num_batches_tracked) == int(whole.num_batches_tracked) == 2
    assert torch.allclose(cut.running_mean, whole.running_mean, rtol=1e-12)
    assert torch.allclose(cut.running_var, whole.running_var, rtol=1e-12)


def test_set_micro_batches_reaches_every_layer():
    model = convert_batch_norm(nn.Sequential(nn.BatchNorm1d(2), nn.Sequential(nn.BatchNorm1d(2))))
    set_micro_batches(model, 4)
    assert [m.micro_batches for m in model.modules() if isinstance(m, GhostBatchNorm)] == [4, 4]
    with pytest.raises(PipelineError, match="at least 1 forward pass"):
        set_micro_batches(model, 0)


@settings(deadline=None)
@given(st.integers(2, 300), st.integers(2, 100))
def test_group_sizes_hold_every_example_in_groups_of_half_to_twice_the_virtual_batch(n, virtual):
    sizes = group_sizes(n, virtual, strict=False)
    assert sum(sizes) == n and max(sizes) - min(sizes) <= 1 and min(sizes) >= 2
    if n >= virtual:
        assert virtual / 2 <= min(sizes) and max(sizes) <= 2 * virtual
    if n % virtual == 0:
        assert set(sizes) == {virtual}


@pytest.mark.parametrize(
    "examples, says", [(12, "groups of 6, 6|groups of 12"), (4, "larger micro-batches")]
)
def test_batches_that_do_not_fit_are_refused_in_training(examples, says):
    layer = ghost()
    with pytest.raises(PipelineError, match=says):
        layer(images(examples)[0])
    loose = ghost(strict=False)
    assert loose(images(examples)[0]).shape[0] == examples


@pytest.mark.parametrize(
    "options, says",
    [
        ({"virtual_batch_size": 1}, "at least 2 examples"),
        ({"mode": "whole"}, "use 'split' or 'subsample'"),
        ({"running": "mean"}, "use 'ghost' or 'total'"),
        ({"micro_batches": 0}, "at least 1 forward pass"),
    ],
)
def test_wrong_options_are_refused(options, says):
    with pytest.raises(PipelineError, match=says):
        GhostBatchNorm(3, **options)


def test_a_wrong_shape_is_refused():
    with pytest.raises(PipelineError, match=r"shape \(8, 4\).*takes \(examples, 5"):
        ghost()(torch.zeros(8, 4))


def test_bfloat16_keeps_its_dtype_and_float32_statistics():
    for mode in ("split", "subsample"):
        layer = GhostBatchNorm(4, 8, mode=mode)
        batch = (torch.randn(16, 4, 3) * 3 + 5).bfloat16()
        assert layer(batch).dtype == torch.bfloat16
        assert layer.running_mean.dtype == torch.float32
        assert torch.allclose(layer.running_mean, torch.full((4,), 0.5), atol=0.2)


# ---- converting


def test_converted_models_keep_weights_statistics_and_modes():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 6, 3),
        nn.BatchNorm2d(6, momentum=0.2, eps=1e-3),
        nn.ModuleList([nn.BatchNorm1d(2)]),
    )
    model[1](torch.randn(8, 6, 2, 2))
    model[2][0].eval()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    parameters = list(model.parameters())
    converted = convert_batch_norm(model, 4, mode="subsample", running="total", strict=False)
    ghosts = [layer for layer in converted.modules() if isinstance(layer, GhostBatchNorm)]
    assert len(ghosts) == 2 and converted is model
    assert (ghosts[0].momentum, ghosts[0].eps, ghosts[0].mode) == (0.2, 1e-3, "subsample")
    assert [layer.training for layer in ghosts] == [True, False]
    assert all(a is b for a, b in zip(model.parameters(), parameters, strict=True))
    assert converted.state_dict().keys() == state.keys()
    assert all(torch.equal(value, state[name]) for name, value in converted.state_dict().items())


@pytest.mark.parametrize("norm", [nn.BatchNorm2d(3, affine=False), nn.SyncBatchNorm(3)])
def test_a_batch_norm_by_itself_is_converted(norm):
    layer = convert_batch_norm(norm, 4)
    assert isinstance(layer, GhostBatchNorm) and (layer.weight is None) == (not norm.affine)
    assert layer(torch.randn(8, 3, 2, 2)).shape == (8, 3, 2, 2)


@pytest.mark.parametrize(
    "norm, says",
    [
        (nn.BatchNorm1d(3, track_running_stats=False), "track_running_stats=True"),
        (nn.LazyBatchNorm1d(), "run one forward pass first"),
    ],
)
def test_what_cannot_be_converted_is_refused(norm, says):
    with pytest.raises(PipelineError, match=says):
        convert_batch_norm(nn.Sequential(norm))


# ---- several processes


@pytest.mark.parametrize("world", WORLDS)
def test_ranks_with_a_virtual_batch_each_equal_plain_batch_norm_per_shard(world):
    batch, target = images(VIRTUAL * world)
    for index, rank in enumerate(answers(world)):
        rows = slice(index * VIRTUAL, (index + 1) * VIRTUAL)
        assert_close(rank["shard"], normalised(plain(ghost()), batch[rows], target[rows]))


@pytest.mark.parametrize("world", WORLDS)
def test_training_on_hosts_equals_one_process_with_the_same_virtual_batches(world):
    """The promise of ghost batch norm: hosts are one more way to cut the batch."""
    losses, _, model = trained(Host(), GhostBatchNorm(6, 24 // world), like_world=world)
    for rank in answers(world):
        assert torch.allclose(rank["norm_losses"], losses, rtol=1e-10)
        assert torch.allclose(rank["statistics_synced"], running_statistics(model), rtol=1e-10)


@pytest.mark.parametrize("world", WORLDS)
def test_ranks_with_half_a_virtual_batch_share_it_in_pairs(world):
    batch, target = images(MICRO * world)
    ranks = answers(world)
    for pair in range(world // 2):
        rows = slice(pair * VIRTUAL, (pair + 1) * VIRTUAL)
        whole = normalised(plain(ghost()), batch[rows], target[rows])
        one, two = ranks[2 * pair]["group"], ranks[2 * pair + 1]["group"]
        for name in ("out", "gradient"):
            assert torch.allclose(torch.cat([one[name], two[name]]), whole[name], rtol=1e-9)
        for name in ("weight_gradient", "bias_gradient"):
            assert torch.allclose(one[name] + two[name], whole[name], rtol=1e-9)
        for name in ("running_mean", "running_var"):
            assert torch.allclose(one[name], whole[name], rtol=1e-10)
            assert torch.allclose(two[name], whole[name], rtol=1e-10)


@pytest.mark.parametrize("world", WORLDS)
def test_a_virtual_batch_that_ranks_cannot_hold_is_refused_or_made_smaller(world):
    batch, _ = images(MICRO * world)
    for index, rank in enumerate(answers(world)):
        assert (
            f"{world} process(es) cannot be taken in groups that hold 12" in rank["group_refused"]
        )
        pair = index // 2 * 2
        whole = plain(ghost())(batch[pair * MICRO : (pair + 2) * MICRO])
        mine = whole[(index - pair) * MICRO : (index - pair + 1) * MICRO]
        assert torch.allclose(rank["group_loose"], mine, rtol=1e-9)
