"""Seeds: alike where the ranks must agree, different where they must not."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tunewright.execution.processes.surroundings import plant, rank
from tunewright.seeds import SMALL, seeds, small

any_seed = st.integers(0, 2**63 - 1)


@given(any_seed, any_seed, st.integers(1, 4096))
def test_ranks_agree_on_all_but_the_data(trial: int, split: int, other: int) -> None:
    here, there = seeds(trial, split, 0), seeds(trial, split, other)
    assert (here.init, here.order, here.split) == (there.init, there.order, there.split)
    assert here.data != there.data


@given(any_seed, any_seed, any_seed)
def test_the_split_belongs_to_the_round(one: int, two: int, split: int) -> None:
    assert seeds(one, split).split == seeds(two, split).split


@given(any_seed, any_seed)
def test_every_library_takes_them(trial: int, split: int) -> None:
    own = seeds(trial, split)
    found = [own.trial, own.init, own.order, own.data, own.split]
    assert all(0 <= seed < SMALL for seed in found)
    np.random.RandomState(own.init)  # refuses 2**32 and more
    assert len({own.init, own.order, own.eval, own.data}) == 4


@given(st.integers(0, SMALL - 1))
def test_small_seeds_stay_as_they_are(seed: int) -> None:
    assert small(seed) == seed == seeds(seed, 0).trial


def test_the_rank_is_the_launchers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    assert rank() == 0
    monkeypatch.setenv("RANK", "3")
    assert rank() == 3
    monkeypatch.setenv("RANK", "")
    assert rank() == 0


def test_a_program_that_seeds_nothing_repeats() -> None:
    draws = []
    for trial in (1, 1, 2):
        plant(seeds(trial, 0))
        draws.append((random.random(), np.random.random()))
    assert draws[0] == draws[1] != draws[2]
