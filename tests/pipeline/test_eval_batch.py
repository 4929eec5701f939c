"""The evaluation batch is the training batch doubled while it fits, the same on every rank."""

from __future__ import annotations

import pytest
import torch
from tests.pipeline.ranks import WORLDS, answers
from torch import nn

from tunewright.errors import PipelineError
from tunewright.pipeline.eval_batch import find_batch_size
from tunewright.pipeline.evaluate import evaluate


def fitting(largest: int, tried: list[int]):
    """Metrics that run out of memory above `largest` examples, and note what was tried."""

    def values(model, batch):
        tried.append(len(batch))
        if len(batch) > largest:
            torch.empty(2**46, dtype=torch.uint8)
        return {"value": batch}

    return values


@pytest.mark.parametrize(
    "largest, expected, tries",
    [
        (10**9, 512, [32, 64, 128, 256, 512]),  # ends at 16 training batches
        (100, 64, [32, 64, 128]),  # ends where memory does
        (32, 32, [32, 64]),
    ],
)
def test_it_doubles_while_it_fits(largest, expected, tries):
    tried: list[int] = []
    data = torch.arange(10_000.0)
    assert find_batch_size(nn.Identity(), data, fitting(largest, tried), 32) == expected
    assert tried == tries


@pytest.mark.parametrize(
    "size, at_most, expected", [(50, None, 50), (20, None, 20), (10_000, 100, 100)]
)
def test_it_ends_at_the_data_or_where_it_is_told(size, at_most, expected):
    data = torch.arange(float(size))
    found = find_batch_size(nn.Identity(), data, fitting(10**9, []), 32, at_most=at_most)
    assert found == expected


def test_a_training_batch_that_does_not_fit_is_refused():
    with pytest.raises(PipelineError, match="batch of 32 does not fit"):
        find_batch_size(nn.Identity(), torch.arange(100.0), fitting(16, []), 32)


def test_other_errors_come_through():
    with pytest.raises(ZeroDivisionError):
        find_batch_size(nn.Identity(), torch.arange(9.0), lambda m, b: {"v": 1 / 0}, 2)


def test_evaluate_finds_one_by_itself():
    tried: list[int] = []
    found = evaluate(nn.Identity(), torch.arange(300.0), fitting(100, tried), train_batch_size=32)
    assert found.batch_size == 64 and found.metrics["value"] == 149.5
    assert tried[:3] == [32, 64, 128] and set(tried[3:]) == {64}


@pytest.mark.parametrize("world", WORLDS)
def test_all_ranks_take_the_smallest_answer(world):
    assert [rank["found"] for rank in answers(world)] == [32] * world
