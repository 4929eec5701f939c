"""Cases 11 and 12: 2 to 16 processes on one store: no lock error, the total as asked."""

from __future__ import annotations

import pytest
from tests.faults.quick_rounds import REPETITIONS, Askers, check

import tunewright as tw


def share(store: str, journal, processes: int, trials: int) -> None:
    askers = Askers(store, journal, trials)
    try:
        askers.start(processes)
        askers.go()
        said = askers.finish()
    finally:
        askers.close()
    assert said == [""] * processes, "no lock error, and nothing else to say"
    check(tw.load(store, "quick"), journal, trials)


def test_case_11_and_12(store_url, tmp_path):
    share(store_url, tmp_path / "journal", processes=4, trials=60)


@pytest.mark.slow
@pytest.mark.parametrize("repetition", REPETITIONS)
@pytest.mark.parametrize("processes", [2, 4, 8, 16])
def test_case_11_and_12_many(store_url, tmp_path, processes, repetition):
    share(store_url, tmp_path / "journal", processes, 400)
