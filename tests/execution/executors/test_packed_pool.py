"""Which trials share a process after a fault."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tunewright.execution.executors.limits import Limits
from tunewright.execution.executors.local import Local
from tunewright.execution.executors.packed_pool import Bay, PackPool

pytestmark = pytest.mark.beyond_core  # it starts the warden of Local


@pytest.fixture
def pool() -> Iterator[PackPool]:
    bays = [Bay("0", {}, capacity=4), Bay("1", {}, capacity=4)]
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
