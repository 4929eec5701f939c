"""Which trials share a process after a fault."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tunewright.execution.executors.limits import Limits
from tunewright.execution.executors.local import Local
from tunewright.execution.executors.packed_pool import READINGS, Bay, PackPool, PackSize

pytestmark = pytest.mark.beyond_core  # it starts the warden of Local


@pytest.fixture
def pool() -> Iterator[PackPool]:
    bays = [Bay("0", {}, PackSize(4, most=4)), Bay("1", {}, PackSize(4, most=4))]
    made = PackPool(bays, Limits(), Local(workers=1, devices=[]))
    yield made
    for bay in bays:
        bay.jobs.clear()
    made.close()


def test_trials_go_to_the_emptiest_gpu(pool: PackPool) -> None:
    first, second = pool.bays
    first.jobs = dict.fromkeys(range(3))  # type: ignore[assignment]
    assert pool._room(9) is second
    second.jobs = dict.fromkeys(range(10, 14))  # type: ignore[assignment]
    assert pool._room(9) is first
    first.jobs |= dict.fromkeys([8])  # type: ignore[arg-type]
    assert pool._room(9) is None


def test_suspects_train_in_smaller_packs_only(pool: PackPool) -> None:
    first, second = pool.bays
    second.jobs = dict.fromkeys(range(10, 14))  # type: ignore[assignment]
    first.jobs = dict.fromkeys([0, 1])  # type: ignore[assignment]
    assert pool._room(9) is first
    pool._most[9] = 2  # it was in a pack of four that lost its process
    assert pool._room(9) is None
    pool._most = {1: 2}  # so was one that trains already
    assert pool._room(9) is None


def grown(rate_of: dict[int, float], most: int = 32) -> tuple[int, bool]:
    size = PackSize(8, most=most, adapts=True)
    for _ in range(5 * READINGS):
        size.note_rate(rate_of[size.now])
    return size.now, size.adapts


def test_a_pack_grows_to_the_knee_of_its_throughput() -> None:
    assert grown({8: 400.0, 16: 700.0, 32: 1_000.0}) == (32, False)
    assert grown({8: 400.0, 16: 700.0, 32: 750.0}) == (16, False)
    assert grown({8: 400.0, 16: 380.0, 32: 900.0}) == (8, False)
    assert grown({8: 400.0, 16: 700.0, 20: 900.0}, most=20) == (20, False)


def test_a_given_size_and_a_full_memory_do_not_grow() -> None:
    fixed = PackSize(8, most=8)
    crowded = PackSize(8, most=32, adapts=True)
    crowded.fits(5)
    for _ in range(5 * READINGS):
        fixed.note_rate(400.0)
        crowded.note_rate(400.0)
    assert (fixed.now, crowded.now) == (8, 5)


def test_only_the_pace_of_a_full_pack_counts(pool: PackPool) -> None:
    bay = pool.bays[0]
    bay.size = PackSize(2, most=4, adapts=True)
    for _ in range(READINGS):
        pool._note_pace(bay, {"kind": "pace", "steps": 100, "seconds": 1.0})
    assert bay.size.now == 2
    bay.full_since = 0.0  # long ago by the monotonic clock
    for _ in range(READINGS):
        pool._note_pace(bay, {"kind": "pace", "steps": 100, "seconds": 1.0})
    assert bay.size.now == 4 and pool.slots == 8
