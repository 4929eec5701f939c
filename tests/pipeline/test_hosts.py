"""Seeds, shares and writers: alone, and on 2 and 4 gloo processes against one process."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings, strategies as st
from tests.pipeline import rank_worker
from tests.pipeline.ranks import WORLDS, answers
from torch import nn

from tunewright.errors import PipelineError
from tunewright.pipeline import hosts
from tunewright.pipeline.hosts import Host

sizes, counts, trial_seeds = st.integers(1, 200), st.integers(1, 8), st.integers(0, 2**63 - 1)


@pytest.fixture(scope="module")
def alone():
    losses, seen, model = rank_worker.trained(Host())
    return {"losses": losses, "seen": seen, "model": model}


# ---- alone


def test_only_global_rank_0_is_main():
    assert [Host(rank, 4, local_rank=rank % 2).is_main for rank in range(4)] == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("rank, world", [(2, 2), (-1, 1), (0, 0)])
def test_a_rank_outside_the_world_is_refused(rank, world):
    with pytest.raises(PipelineError, match="rank must lie in"):
        Host(rank, world)


def test_launched_but_not_joined_is_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(PipelineError, match=r"hosts\.start\(\)"):
        hosts.current()


def test_start_alone_does_nothing(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    model = nn.Linear(1, 1)
    assert hosts.start() == Host() and not torch.distributed.is_initialized()
    assert hosts.parallel(model) is model


@settings(deadline=None)
@given(trial_seeds, counts)
def test_seeds_are_alike_or_unlike_as_marked(trial_seed, world):
    ranks = [hosts.seeds(trial_seed, Host(rank, world)) for rank in range(world)]
    marks = {
        name: field.metadata["between ranks"]
        for name, field in hosts.Seeds.__dataclass_fields__.items()
    }
    for name, mark in marks.items():
        distinct = {getattr(one, name) for one in ranks}
        assert len(distinct) == (1 if mark == "alike" else world)
        assert f"{name}={getattr(ranks[0], name)} ({mark})" in str(ranks[0])
    one = ranks[0]
    assert len({one.init, one.order, one.split, one.eval, one.data}) == 5
    for seed in (one.init, one.data):
        torch.Generator().manual_seed(seed)  # torch takes them


def test_example_seeds_differ_by_rank_epoch_and_example():
    ranks = [hosts.seeds(1, Host(rank, 2)) for rank in range(2)]
    drawn = [s.for_example(epoch, i) for s in ranks for epoch in range(3) for i in range(20)]
    assert len(set(drawn)) == len(drawn)


@settings(deadline=None)
@given(sizes, counts, counts, trial_seeds)
def test_every_example_once_per_epoch_whatever_the_batch_and_the_world(size, world, each, seed):
    batch_size = world * each
    steps = -(-2 * size // batch_size)
    per_rank = [
        [hosts.batch_ids(step, batch_size, size, seed, Host(rank, world)) for rank in range(world)]
        for step in range(1, steps + 1)
    ]
    # Interleaving the ranks gives the one-process stream back, and its epochs drop nothing.
    stream = torch.cat([torch.stack(ranks, dim=1).flatten() for ranks in per_rank])
    alone = torch.cat([hosts.global_ids(s, batch_size, size, seed) for s in range(1, steps + 1)])
    assert torch.equal(stream, alone)
    everything = torch.arange(size)
    assert torch.equal(stream[:size].sort().values, everything)
    assert torch.equal(stream[size : 2 * size].sort().values, everything)


def test_epochs_and_seeds_give_different_orders():
    orders = {tuple(hosts.permutation(50, seed, epoch)) for seed in (1, 2) for epoch in (0, 1)}
    assert len(orders) == 4
    with pytest.raises(ValueError, match="read-only"):
        hosts.permutation(50, 1, 0)[0] = 7


@settings(deadline=None)
@given(sizes, counts)
def test_shares_cover_every_id_once_and_are_even(size, world):
    shares = [hosts.shard(torch.arange(size), Host(rank, world)) for rank in range(world)]
    assert torch.equal(torch.cat(shares).sort().values, torch.arange(size))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_a_batch_that_ranks_cannot_share_equally_is_refused():
    with pytest.raises(PipelineError, match="99 or 102"):
        hosts.batch_ids(1, 100, 1000, 0, Host(0, 3))


@pytest.mark.parametrize("step, batch_size, size", [(0, 4, 10), (1, 0, 10), (1, 4, 0)])
def test_impossible_requests_are_refused(step, batch_size, size):
    with pytest.raises(PipelineError, match="steps count updates from 1"):
        hosts.global_ids(step, batch_size, size, 0)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # inside torch, on loading its compiler
def test_unwrapping_takes_off_compile():
    model = nn.Linear(2, 2)
    compiled = torch.compile(model)
    assert hosts.bare(compiled) is model and hosts.unwrap(compiled) is compiled


def test_work_on_main_returns_and_raises_alone():
    assert hosts.on_main(lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        hosts.on_main(lambda: 1 / 0)


# ---- several processes


@pytest.mark.parametrize("world", WORLDS)
def test_training_on_several_hosts_equals_one_process(world, alone):
    ranks = answers(world)
    interleaved = torch.stack([rank["seen"] for rank in ranks], dim=2).flatten(1)
    assert torch.equal(interleaved, alone["seen"])
    for rank in ranks:
        assert torch.allclose(rank["losses"], alone["losses"], rtol=1e-12)
        for name, parameter in alone["model"].named_parameters():
            assert torch.allclose(rank["parameters"][name], parameter, rtol=1e-10)
            assert torch.equal(rank["parameters"][name], ranks[0]["parameters"][name])


@pytest.mark.parametrize("world", WORLDS)
def test_only_one_process_writes_though_two_have_local_rank_0(world):
    ranks = answers(world)
    assert ranks[0]["log"] == ["rank 0"]
    assert [rank["wrote"] for rank in ranks] == [0] + [None] * (world - 1)
    assert [rank["host"][0] for rank in ranks] == list(range(world))
    if world == 2:  # two machines, see ranks.py
        assert [rank["host"][2] for rank in ranks] == [0, 0]


@pytest.mark.parametrize("world", WORLDS)
def test_a_failure_on_main_ends_every_rank(world):
    raised = [rank["raised"] for rank in answers(world)]
    assert raised == ["ZeroDivisionError"] + ["PipelineError"] * (world - 1)
