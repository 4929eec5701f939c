"""The line through small sizes, and the largest size it leads to in known worlds."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings, strategies as st
from tests.probes.step_worlds import World

from tunewright.probes.throughput.largest_size import (
    Bounds,
    Largest,
    MemoryModel,
    MemoryPoint,
    find_largest,
    fit_line,
    flat,
    limit_of,
)
from tunewright.probes.throughput.rig import Device, Rigs


def largest(world: World, sharing: bool = True, smallest: int = 1, **bounds: object) -> Largest:
    limits = Bounds(**{"most": 2**20, **bounds})  # type: ignore[arg-type]
    with contextlib.closing(Rigs(world.open, sharing)) as rigs:
        device, held = rigs.use(
            lambda rig: (rig.build(smallest), rig.run([1, 1, 1]).reserved_mb or 0.0)
        )
        first = MemoryPoint(smallest, held)
        return find_largest(rigs, limits, device, first, lambda line: None)


@settings(max_examples=60, deadline=None)
@given(
    fixed=st.floats(100, 5_000),
    per_example=st.floats(0.2, 50),
    total=st.floats(8_000, 140_000),
    fragmented=st.floats(1.0, 1.25),
)
def test_the_largest_size_is_found_without_running_out(
    fixed: float, per_example: float, total: float, fragmented: float
) -> None:
    world = World(
        per_example_s=1e-9,
        fixed_mb=fixed,
        mb_per_example=per_example,
        total_mb=total,
        fragmented=fragmented,
    )
    found = largest(world)
    true = (0.92 * total / fragmented - fixed) / per_example
    assert world.out_of_memory == 0 and found.out_of_memory == 0
    assert found.how == "memory model"
    assert found.batch_size <= true
    assert found.batch_size >= min(0.93 * true, true - 16)


def test_a_line_is_fitted_to_the_largest_sizes() -> None:
    hidden = [MemoryPoint(b, max(300.0, 200 + b)) for b in (1, 2, 4, 128, 256, 512)]
    assert fit_line(hidden) == MemoryModel(pytest.approx(200), pytest.approx(1), 0.0)
    bent = fit_line([MemoryPoint(b, 300 + 0.01 * b**2) for b in (64, 128, 256)])
    assert not bent.straight
    assert flat([MemoryPoint(1, 300.0), MemoryPoint(512, 300.4)])


def test_memory_that_is_no_line_is_found_by_doubling() -> None:
    world = World(per_example_s=1e-9, memory_mb=lambda b: 500 + 0.002 * b**2, total_mb=16_000)
    found = largest(world)
    true = ((0.92 * 16_000 - 500) / 0.002) ** 0.5
    assert found.how == "doubling" and found.out_of_memory <= 3
    assert 0.9 * true <= found.batch_size <= true


def test_a_jump_that_no_small_size_shows_is_survived() -> None:
    """Beyond 2000 examples the library takes an algorithm with a large workspace."""
    world = World(
        per_example_s=1e-9,
        memory_mb=lambda b: 500 + 4 * b + (8_000 if b > 2000 else 0),
        total_mb=16_000,
    )
    found = largest(world)
    assert world.needs_mb(found.batch_size) <= 0.92 * 16_000
    assert found.batch_size >= 1500 and found.out_of_memory <= 5


def test_limits_of_ones_own_and_of_others() -> None:
    assert limit_of(Device("cpu", 10_000, 9_900), 1_000) == pytest.approx(920)
    assert limit_of(Device("cuda", 100_000, 40_000), None) == 40_000  # a neighbour holds the rest
    found = largest(World(per_example_s=1e-9), memory_mb=2_000.0)
    assert found.limit_mb == pytest.approx(1840) and 600 <= found.batch_size <= 670


def test_what_ends_the_search_is_said() -> None:
    assert largest(World(per_example_s=1e-9), most=64).how == "asked"
    slow = largest(World(per_example_s=0.01, mb_per_example=0.5), longest_step_s=5.0)
    assert slow.how == "step time" and slow.batch_size <= 512
    refused = largest(World(per_example_s=1e-9, most=300))
    assert refused.how == "refused" and refused.batch_size == 256
    assert "only 300 examples" in refused.reason
    constant = largest(World(per_example_s=0.0, mb_per_example=0.0), most=4096)
    assert constant.how == "not limited" and constant.batch_size == 4096


def test_sizes_are_shared_evenly_by_the_processes() -> None:
    found = largest(World(per_example_s=1e-9), smallest=6, unit=6, sharing=False)
    assert found.batch_size % 24 == 0


def test_memory_that_cannot_be_seen_is_found_by_doubling() -> None:
    world = World(mb_per_example=10.0, fixed_mb=500.0, total_mb=8_000, unseen_memory=True)
    found = largest(world)
    assert found.how == "doubling" and 720 <= found.batch_size <= 750  # which is where it fails
    assert found.limit_mb is None and found.reserved_mb is None and found.model is None
    assert world.out_of_memory >= 1
    asked = largest(World(unseen_memory=True), most=64)
    assert (asked.batch_size, asked.how, asked.out_of_memory) == (64, "asked", 0)
    slow = largest(World(per_example_s=0.01, unseen_memory=True), longest_step_s=2.0)
    assert slow.how == "step time" and slow.batch_size == 128
