"""The terms of the batch-size probe: defaults, what is refused, and the key of its answers."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

import tunewright as tw
from tunewright.errors import DesignError
from tunewright.probes.throughput.size_sweep import BatchSizeTerms
from tunewright.probes.throughput.timing import TimingRule


@pytest.mark.parametrize(
    "wrong, code, fact",
    [
        ({"processes": 0}, "throughput.no_process", ("processes", 0)),
        ({"memory_gb": -1.0}, "throughput.bad_memory_limit", ("memory_gb", -1.0)),
        ({"smallest": 0}, "throughput.bad_size", ("size", 0)),
        ({"sizes": [3, 4], "processes": 2}, "throughput.uneven_size", ("size", 3)),
        ({"smallest": 64, "largest": 8}, "throughput.largest_below_smallest", ("largest", 8)),
    ],
)
def test_questions_that_make_no_sense(wrong: dict[str, Any], code: str, fact: Any) -> None:
    with pytest.raises(DesignError) as caught:
        BatchSizeTerms(**wrong)
    (problem,) = [one for one in caught.value.problems if one.code == code]
    assert problem.facts[fact[0]] == fact[1] and str(fact[1]) in problem.text


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(DesignError) as caught:
        BatchSizeTerms(smallest=8, largest=4, memory_gb=0.0)
    assert len(caught.value.problems) == 2


def test_where_sizes_begin_and_end() -> None:
    assert (BatchSizeTerms().first, BatchSizeTerms().most) == (1, 2**20)
    assert BatchSizeTerms(processes=4).first == 4
    exact = BatchSizeTerms(sizes=[64, 16, 16])
    assert (exact.first, exact.most, exact.plan.sizes) == (16, 64, (16, 64))
    assert BatchSizeTerms(sizes=[16, 64], largest=32).most == 32
    assert BatchSizeTerms(memory_gb=2).bounds.memory_mb == 2048


def test_the_key_of_an_answer_is_that_of_earlier_versions() -> None:
    """Answers in a store were written under these names: another key would measure anew."""
    key = BatchSizeTerms(largest=512, smallest=8, longest={"length": 4}).key()
    assert key == {
        "sizes": (),
        "smallest": 8,
        "most": 512,
        "everything": False,
        "processes": 1,
        "memory_gb": None,
        "rule": vars(TimingRule()),
        "longest_step_s": 20.0,
        "longest": "length=4",
    }
    assert BatchSizeTerms().key()["longest"] == ""


def test_it_is_public_and_frozen() -> None:
    assert tw.probes.BatchSizeTerms is BatchSizeTerms
    with pytest.raises(FrozenInstanceError):
        BatchSizeTerms().smallest = 3  # type: ignore[misc]
