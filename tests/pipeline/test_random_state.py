"""A row of bytes brings every generator back to where it was."""

from __future__ import annotations

import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tunewright.errors import PipelineError  # noqa: E402
from tunewright.pipeline.hosts import Host  # noqa: E402
from tunewright.pipeline.random_state import (  # noqa: E402
    random_row,
    random_rows,
    seed_all,
    set_random_row,
    set_random_rows,
)

CPU = torch.device("cpu")


def draw() -> list[float]:
    return [
        random.random(),
        random.gauss(0, 1),
        float(np.random.rand()),
        float(np.random.randn()),
        float(torch.rand(1)),
        float(torch.randn(1)),
    ]


@pytest.mark.parametrize("burn", [0, 1, 2, 700])
def test_what_was_drawn_is_drawn_again(burn: int) -> None:
    seed_all(3)
    for _ in range(burn):  # odd counts leave a second Gaussian waiting in Python and numpy
        random.gauss(0, 1)
        np.random.randn()
        torch.randn(1)
    row = random_row(CPU)
    expected = [draw() for _ in range(3)]
    seed_all(99)
    set_random_row(row, CPU)
    assert [draw() for _ in range(3)] == expected


def test_seeding_is_reproducible_and_takes_large_seeds() -> None:
    seed_all(2**63 - 1)
    one = draw()
    seed_all(2**63 - 1)
    assert draw() == one


def test_rows_of_ranks() -> None:
    seed_all(1)
    rows = random_rows(CPU, Host())
    assert rows.shape == (1, random_row(CPU).numel())
    expected = draw()
    assert set_random_rows(rows, CPU, Host(), seed=5, step=7)
    assert draw() == expected


def test_another_number_of_ranks_seeds_anew_but_reproducibly() -> None:
    rows = random_rows(CPU, Host())
    drawn = []
    for _ in range(2):
        assert not set_random_rows(rows, CPU, Host(rank=1, world=2), seed=5, step=7)
        drawn.append(draw())
    assert drawn[0] == drawn[1]
    set_random_rows(rows, CPU, Host(rank=1, world=2), seed=5, step=8)
    assert draw() != drawn[0]


def test_a_row_of_another_kind_is_refused() -> None:
    with pytest.raises(PipelineError, match="another kind of device"):
        set_random_row(random_row(CPU)[:-1], CPU)
