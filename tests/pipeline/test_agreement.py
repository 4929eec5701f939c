"""Ranks that agree pass; each disagreement is refused on every rank, naming what differs."""

from __future__ import annotations

import pytest
import torch
from tests.pipeline.ranks import WORLDS, answers
from torch import nn

from tunewright.errors import PipelineError
from tunewright.pipeline import hosts
from tunewright.pipeline.agreement import check_batch, check_start, digest


def test_one_process_agrees_with_itself():
    ids = hosts.global_ids(1, 8, 20, seed=3)
    check_start(nn.Linear(2, 2), hosts.seeds(1), ids, ids)


def test_a_wrong_batch_is_refused_on_one_process_too():
    with pytest.raises(PipelineError, match="1 are held twice, 1 by nobody"):
        check_batch(torch.tensor([0, 1, 1]), torch.tensor([0, 1, 2]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.int64])
def test_a_digest_sees_one_bit_the_shape_and_the_dtype(dtype):
    tensor = torch.arange(6).to(dtype)
    changed = tensor.clone()
    changed.view(torch.uint8)[0] ^= 1
    others = [changed, tensor.view(2, 3), tensor.view(torch.uint8)]
    assert digest(tensor) == digest(tensor.clone())
    assert digest(tensor) not in {digest(other) for other in others}


def test_a_digest_follows_values_not_storage():
    tensor = torch.randn(4, 3)
    assert digest(tensor.t()) == digest(tensor.t().contiguous())


@pytest.mark.parametrize("world", WORLDS)
def test_ranks_that_agree_pass(world):
    assert [rank["agreed"] for rank in answers(world)] == [""] * world


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(
    "case, says",
    [
        ("drifted", "0.bias (rank 1)"),
        ("other_model", "they built different models"),
        ("same_batch", "all ranks hold the same examples"),
        ("other_order", "by nobody"),
        ("uneven", "shares must be equal"),
        ("same_data_seed", "seeds.data must differ between ranks"),
        ("other_init", "seeds.init must be alike on all ranks"),
    ],
)
def test_disagreement_is_refused_on_every_rank(world, case, says):
    for rank in answers(world):
        assert says in rank[case]
