"""Repetitions of every fault in the long tier, and the round that survives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

REPETITIONS = 3  # of every case in the long tier


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Do every test of a fault three times in the long tier, unless it says how often itself."""
    long = metafunc.config.getoption("markexpr") == "slow or not slow"
    if long and not {"repetition", "seed"} & set(metafunc.fixturenames):
        metafunc.fixturenames.append("repetition")
        metafunc.parametrize("repetition", range(REPETITIONS))


@pytest.fixture
def endurance(store_url: str, tmp_path: Path) -> Iterator[Callable]:
    """Makes a round that can be killed and started again, on each kind of store."""
    from tests.faults.endurance import Endurance

    made = []

    def make(trials: int, **more) -> Endurance:
        made.append(Endurance(store_url, tmp_path, trials, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()
