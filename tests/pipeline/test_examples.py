"""Examples by their ids: from tensors and datasets alike, in the order asked for."""

from __future__ import annotations

import pytest
import torch
from torch.utils.data import Dataset, TensorDataset

from tunewright.errors import PipelineError
from tunewright.pipeline.examples import count, load, move, take


class Pairs(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return torch.tensor([float(index)]), index % 2


X, Y = torch.arange(6.0)[:, None], torch.arange(6) % 2


@pytest.mark.parametrize(
    "data", [Pairs(), (X, Y), TensorDataset(X, Y), list(zip(X, Y, strict=True))]
)
def test_every_kind_of_data_gives_the_same_batch(data):
    x, y = take(data, torch.tensor([4, 1, 1]))
    assert count(data) == 6
    assert torch.equal(x, torch.tensor([[4.0], [1.0], [1.0]])) and y.tolist() == [0, 1, 1]


def test_dicts_keep_their_names_and_tensors_stay_tensors():
    batch = take({"x": X, "y": Y}, torch.tensor([5, 0]))
    assert batch["x"].tolist() == [[5.0], [0.0]] and batch["y"].tolist() == [1, 0]
    assert torch.equal(take(X, torch.tensor([2])), torch.tensor([[2.0]]))


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_are_loaded_in_order(workers):
    ids = [torch.tensor([3, 2]), torch.tensor([0]), torch.tensor([5, 5, 1])]
    found = [x.flatten().tolist() for x, _ in load(Pairs(), ids, workers)]
    assert found == [[3.0, 2.0], [0.0], [5.0, 5.0, 1.0]]


def test_moving_reaches_every_tensor_and_leaves_the_rest():
    batch = move({"x": (X, "name"), "n": 3}, torch.device("meta"))
    assert batch["x"][0].device.type == "meta" and batch["x"][1] == "name" and batch["n"] == 3


@pytest.mark.parametrize(
    "data, says",
    [(iter([1]), "map-style dataset"), ((X, Y[:4]), r"\[4, 6\] examples")],
)
def test_what_cannot_be_counted_is_refused(data, says):
    with pytest.raises(PipelineError, match=says):
        count(data)
