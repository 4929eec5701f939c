"""What stages are like: those that repeat, those that take a batch, and what cannot be compared."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tunewright.probes.throughput.loader_ladder import equal, same_again, size_of, speedup_on_batch


class Picture:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def tobytes(self) -> bytes:
        return self.data


@pytest.mark.parametrize(
    "one, two, expected",
    [
        (np.ones(3), np.ones(3), True),
        (np.ones(3), np.ones(3, "float32"), False),
        (torch.ones(3), torch.ones(3), True),
        (torch.ones(3), torch.zeros(3), False),
        ({"a": [1, "x"]}, {"a": [1, "x"]}, True),
        ({"a": 1}, {"b": 1}, False),
        ((1, 2), (1, 2, 3), False),
        (Picture(b"1"), Picture(b"1"), True),
        (Picture(b"1"), Picture(b"2"), False),
        ((object(),), (object(),), None),
    ],
)
def test_examples_are_compared(one, two, expected) -> None:
    assert equal(one, two) is expected


def test_a_stage_may_change_its_input_and_still_repeat() -> None:
    def in_place(x: np.ndarray) -> np.ndarray:
        x += 1
        return x

    assert same_again(in_place, np.zeros(3)) is True
    assert same_again(lambda x: np.random.rand(3), np.zeros(3)) is False
    assert same_again(lambda x: 1 / 0, 3) is None
    assert same_again(lambda x: object(), 3) is None


def test_a_batch_is_only_better_where_it_gives_the_same() -> None:
    rows = [np.full(8, k, dtype="float32") for k in range(16)]
    assert speedup_on_batch(lambda x: 2 * x + 1, rows) > 1
    assert speedup_on_batch(lambda x: torch.relu(x), [torch.from_numpy(r) for r in rows]) > 1
    assert speedup_on_batch(lambda x: x - x.mean(), rows) is None  # each by its own mean
    assert speedup_on_batch(lambda x: x[::-1], rows) is None  # the wrong way round
    assert speedup_on_batch(lambda x: str(x), rows) is None
    assert speedup_on_batch(lambda x: x, ["a", "b"]) is None
    assert speedup_on_batch(lambda x: x, rows[:1]) is None


def test_sizes() -> None:
    assert size_of({"x": torch.zeros(4), "y": 3, "text": "ab"}) == 26
    assert size_of(Picture(b"1234")) == 4 and size_of((object(), 1)) is None
