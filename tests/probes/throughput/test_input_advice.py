"""Advice on the input: each spoken where its trait was measured, silent where not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tunewright.probes.throughput.input_bound import DataSize, advice_for
from tunewright.probes.throughput.loader_ladder import COPY, Stage

SMALL, LARGE = DataSize(100.0, 10_000.0), DataSize(9_000.0, 10_000.0)
READ = Stage("read", 8e-3)
REST = [Stage("collate", 2e-3)]


def codes(stage: Stage, size: DataSize | None = LARGE, **unused: float) -> list[str]:
    found = advice_for([stage, *REST], unused, size)
    return [one.code.removeprefix("probe.input_advice.") for one in found]


@pytest.mark.parametrize(
    "traits, size, expected",
    [
        ({}, SMALL, []),  # nothing is known of it
        ({"waiting_share": 0.9}, None, ["colocate"]),
        ({"waiting_share": 0.2}, None, []),
        ({"waiting_share": 0.9, "same_again": True}, LARGE, ["colocate"]),
        ({"waiting_share": 0.9, "same_again": True}, SMALL, ["colocate", "cache"]),
        ({"waiting_share": 0.0, "same_again": True}, LARGE, ["offline"]),
        ({"waiting_share": 0.0, "same_again": True}, None, ["offline"]),
        ({"waiting_share": 0.0, "same_again": True}, SMALL, ["cache"]),
        ({"same_again": False}, SMALL, ["on_device"]),
        ({"batched_speedup": 5.0}, None, ["batch_first"]),
        ({"batched_speedup": 1.5}, None, []),
    ],
)
def test_each_by_its_trait(traits: dict, size: DataSize | None, expected: list[str]) -> None:
    assert codes(replace(READ, **traits), size) == expected


def test_a_transform_that_waits_is_no_matter_of_where_the_data_lies() -> None:
    assert codes(Stage("decode", 8e-3, waiting_share=0.9)) == []
    assert codes(Stage("decode", 8e-3, waiting_share=0.9, same_again=True)) == ["offline"]


def test_small_stages_and_the_copy_are_left_alone() -> None:
    small = Stage("crop", 1e-3, 0.0, same_again=True, batched_speedup=9.0)
    assert advice_for([small, Stage("decode", 9e-3)], {}, SMALL) == ()
    copied = [Stage("decode", 1e-3, same_again=True), Stage(COPY, 1.0, same_again=True)]
    (one,) = advice_for(copied, {}, None)  # the copy is not work of the loader
    assert one.facts == {"stage": "decode", "ms": 1.0, "share": 1.0}


def test_the_largest_stage_comes_first() -> None:
    stages = [Stage("read", 4e-3, 0.9), Stage("augment", 6e-3, same_again=False)]
    assert [one.facts["stage"] for one in advice_for(stages, {}, None)] == ["augment", "read"]


def test_unused_features_that_weigh_something() -> None:
    (one,) = advice_for([], {"caption": 0.5, "id": 0.01, "depth": 0.2}, None)
    assert one.facts == {"names": ["caption", "depth"], "share": pytest.approx(0.7)}
    assert advice_for([], {"id": 0.01}, None) == ()
