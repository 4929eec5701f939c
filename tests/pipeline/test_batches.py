"""The batch of update k depends on k alone: for every kind of data, after any resume."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from tunewright.errors import PipelineError
from tunewright.pipeline import batches
from tunewright.pipeline.hosts import Host

CPU = torch.device("cpu")


class Augmented(torch.utils.data.Dataset):
    """Draws from all three generators for every example."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int):
        noise = torch.rand(1) + random.random() + np.random.rand()
        return torch.tensor(index), noise


class Looped:
    """An existing loader: it can only be iterated."""

    def __iter__(self):
        return iter([torch.tensor([k]) for k in range(3)])


def drawn(data, start=0, total=7, batch_size=4, host=None, workers=0, weights=None):
    source = batches.source(
        data,
        batch_size=batch_size,
        start_step=start,
        total_steps=total,
        order_seed=11,
        example_seed=12,
        device=CPU,
        host=host or Host(),
        weights=weights,
        workers=workers,
    )
    return [source.fetch(item) for _, item in zip(range(start, total), source.items, strict=False)]


def contents(found) -> list:
    return [batches.map_tensors(batch.content, torch.Tensor.tolist) for batch in found]


KINDS = {
    "tensors": (torch.arange(10), torch.arange(10) * 2.0),
    "dict": {"x": torch.arange(10), "y": torch.ones(10)},
    "dataset": Augmented(10),
    "function": lambda step: (torch.tensor([step, step]), "text"),
    "loader": Looped(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", [1, 3, 6])
def test_a_resume_goes_on_where_it_would_have_been(kind: str, start: int) -> None:
    assert contents(drawn(KINDS[kind], start)) == contents(drawn(KINDS[kind]))[start:]


def test_workers_change_nothing() -> None:
    alone = contents(drawn(Augmented(10), total=4))
    assert contents(drawn(Augmented(10), total=4, workers=2)) == alone


def test_data_leaves_the_trainings_generators_alone() -> None:
    torch.manual_seed(5)
    random.seed(5)
    np.random.seed(5)
    expected = (torch.rand(1), random.random(), np.random.rand())
    torch.manual_seed(5)
    random.seed(5)
    np.random.seed(5)
    for workers in (0, 1):
        drawn(Augmented(10), total=2, workers=workers)
    assert (torch.rand(1), random.random(), np.random.rand()) == expected


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 30), st.integers(1, 4), st.integers(1, 3), st.integers(1, 12))
def test_every_example_once_per_epoch_over_all_ranks(size, share, world, total) -> None:
    data = (torch.arange(size),)
    ranks = [drawn(data, 0, total, share * world, Host(rank, world)) for rank in range(world)]
    # Rank r holds every world-th id, so the columns woven together are the shared order.
    seen = torch.cat(
        [
            torch.stack([batch.content[0] for batch in column], dim=1).flatten()
            for column in zip(*ranks, strict=True)
        ]
    )
    for epoch in range(len(seen) // size):
        assert sorted(seen[epoch * size : (epoch + 1) * size].tolist()) == list(range(size))


def test_the_same_order_for_tensors_and_datasets() -> None:
    ids = [batch.content[0].tolist() for batch in drawn((torch.arange(10),))]
    assert [batch.content[0].tolist() for batch in drawn(Augmented(10))] == ids


@pytest.mark.parametrize("data", [(torch.arange(10),), Augmented(10)], ids=["tensors", "dataset"])
@pytest.mark.parametrize("world", [1, 2])
def test_shares_make_a_weighted_mean_over_all_ranks(data, world: int) -> None:
    weights = torch.rand(10, generator=torch.Generator().manual_seed(0))
    weights[3] = 0.0
    ranks = [drawn(data, 0, 5, 4, Host(rank, world), weights=weights) for rank in range(world)]
    for column in zip(*ranks, strict=True):
        ids = torch.cat([batch.content[0] for batch in column])
        # DDP averages over ranks, so the ranks' sums are averaged too.
        mean = sum((batch.shares * batch.content[0]).sum() for batch in column) / world
        expected = (weights[ids] * ids).sum() / weights[ids].sum()
        torch.testing.assert_close(mean, expected)


def test_split_cuts_everything_alike() -> None:
    batch = batches.Batch(
        {"x": torch.arange(6), "pair": (torch.arange(6.0), "name")}, torch.arange(6.0)
    )
    parts = batches.split(batch, 3)
    assert [part.content["x"].tolist() for part in parts] == [[0, 1], [2, 3], [4, 5]]
    assert parts[2].content["pair"][1] == "name" and parts[2].shares.tolist() == [4.0, 5.0]
    assert batches.split(batch, 1) == [batch]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"data": torch.arange(10), "weights": torch.ones(9)}, "9 weights for 10 examples"),
        ({"data": torch.arange(10), "weights": -torch.ones(10)}, "not negative"),
        ({"data": lambda step: step, "weights": torch.ones(3)}, "put the weights into the batch"),
        ({"data": torch.arange(10), "batch_size": 3, "host": Host(0, 2)}, "shared equally"),
        ({"data": iter([torch.ones(1)])}, "gave no batch when it was run through again"),
    ],
)
def test_refused_with_the_remedy(arguments: dict, words: str) -> None:
    with pytest.raises(PipelineError) as refused:
        drawn(**arguments)
    assert words in str(refused.value)


def test_a_batch_that_cannot_be_cut_is_refused() -> None:
    with pytest.raises(PipelineError, match="multiple of accumulate"):
        batches.split(batches.Batch(torch.arange(5)), 2)
