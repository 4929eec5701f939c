"""Which sizes share a process, and when none is shared, in known worlds."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings, strategies as st
from tests.probes.step_worlds import World
from tests.probes.throughput.test_batch_size import probed, true_knee

from tunewright.probes.throughput.rig import CannotStep, OutOfMemory, Rig, Rigs


def stepped(size: int):
    def work(rig: Rig) -> float:
        rig.build(size)
        return rig.run([1]).reserved_mb or 0.0

    return work


@settings(max_examples=40, deadline=None)
@given(
    per_example=st.floats(0.5, 200.0),
    speed=st.floats(-8.0, -4.0),
    everything=st.booleans(),
)
def test_small_sizes_share_and_large_ones_do_not(
    per_example: float, speed: float, everything: bool
) -> None:
    """Every size above half of the memory has a process to itself, with no memory held beside."""
    world = World(per_example_s=10**speed, mb_per_example=per_example, kind="cuda", busy_share=0.9)
    answer, _ = probed(world, everything=everything)
    assert world.out_of_memory == 0 and all(rig.closed for rig in world.rigs)
    large = [b for b in world.built if world.needs_mb(b) > 0.5 * 0.92 * world.total_mb]
    first, *others = world.rigs
    assert max(map(world.needs_mb, first.sizes)) <= 0.5 * 0.92 * world.total_mb
    for rig in others:
        # the check of the largest comes first in its process; what follows there is small
        assert all(size not in large for size in rig.sizes[1:])
    assert len(world.rigs) <= 2 + 2 * len(large)  # after a large one the others begin anew
    assert answer.row(answer.rows[0].batch_size).busy_share == pytest.approx(0.9)
    assert answer.row(answer.knee).busy_share == pytest.approx(0.9)


def test_what_is_measured_again_is_measured_in_another_process() -> None:
    world = World(mb_per_example=0.1)
    answer, _ = probed(world)
    first, second = world.rigs
    assert first.sizes.count(answer.knee) == 2  # of the ladder, and timed
    assert answer.knee in second.sizes[1:]  # the second has tried the largest before
    assert second.sizes[0] == answer.largest.batch_size
    assert answer.knee == true_knee(world)


def test_what_leaves_memory_behind_is_not_shared() -> None:
    leaking, clean = World(leaks=0.5), World(leaks=0.001)
    probed(leaking)
    probed(clean)
    assert len(clean.rigs) == 2
    # the small ones leave less than 2 % of the memory
    kept = [rig for rig in leaking.rigs if len(rig.sizes) > 1]
    assert all(
        0.5 * leaking.needs_mb(b) <= 0.03 * leaking.total_mb for r in kept for b in r.sizes[:-1]
    )
    assert len(leaking.rigs) > 10


def test_what_can_be_built_once_has_a_process_for_every_size() -> None:
    world = World(builds_once=True)
    answer, _ = probed(world)
    assert max(len(rig.sizes) for rig in world.rigs) == 1
    assert answer.knee == true_knee(world)


def test_a_failure_ends_its_process_and_is_tried_again_alone() -> None:
    world = World(total_mb=1_000.0)
    with contextlib.closing(Rigs(world.open)) as rigs:
        assert rigs.use(stepped(1)) == 502.0
        with pytest.raises(OutOfMemory):
            rigs.use(stepped(500))
        assert [rig.closed for rig in world.rigs] == [True, True] and rigs.out_of_memory == 2
        assert rigs.use(stepped(8)) == 516.0
        with pytest.raises(OutOfMemory):
            rigs.trial(stepped(500))
        assert rigs.out_of_memory == 3
    assert all(rig.closed for rig in world.rigs)
    refusing = World(most=4)
    with contextlib.closing(Rigs(refusing.open)) as rigs:
        with pytest.raises(CannotStep):
            rigs.use(stepped(8))
        assert len(refusing.rigs) == 1  # a fresh process has nobody else to blame


def test_one_is_started_ahead() -> None:
    world = World()
    rigs = Rigs(world.open, ahead=True)
    rigs.use(stepped(1))
    assert len(world.rigs) == 2
    rigs.trial(stepped(2))
    assert len(world.rigs) == 2 and world.rigs[1].sizes == [2]
    rigs.alone(stepped(4))
    assert [rig.closed for rig in world.rigs] == [True, True, True]
    unused = Rigs(world.open, ahead=True)
    unused.use(stepped(1))
    unused.close()
    assert all(rig.closed for rig in world.rigs)
