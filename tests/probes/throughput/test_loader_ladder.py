"""The loader alone: as the training has it, at other numbers of workers and batches ahead."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from tunewright.probes.throughput.loader_ladder import (
    _with_workers,
    climb,
    describe_loader,
    stages_of,
    waits_at,
)

torch_data = pytest.importorskip("torch.utils.data")


class Stream(torch_data.IterableDataset):
    def __iter__(self) -> Any:
        return iter(np.ones((64, 4), "float32"))


class Numbers(torch_data.Dataset):
    """Every `every`-th example takes long to read."""

    def __init__(self, every: int = 0, slow_s: float = 0.0) -> None:
        self.every, self.slow_s = every, slow_s

    def __len__(self) -> int:
        return 256

    def __getitem__(self, place: int) -> Any:
        if self.every and place % self.every == self.every - 1:
            time.sleep(self.slow_s)
        return np.full(4, place, dtype="float32")


def test_a_stream_of_examples_is_timed_and_has_no_stages() -> None:
    loader = torch_data.DataLoader(Stream(), batch_size=8, drop_last=True)
    assert stages_of(loader, 0.01) == []
    ((workers, rate),) = climb(loader, [0], 0.01)
    assert workers == 0 and rate > 0
    assert describe_loader(loader).examples_mb is None and describe_loader(None) is None


@pytest.mark.parametrize("workers", [0, 2])
def test_the_loader_is_timed_as_the_training_has_it(workers: int) -> None:
    loader = torch_data.DataLoader(
        Numbers(),
        batch_size=8,
        num_workers=1,
        persistent_workers=True,
        prefetch_factor=5,
        timeout=30,
    )
    own = _with_workers(loader, workers)
    told = (own.num_workers, own.persistent_workers, own.prefetch_factor, own.timeout)
    assert told == ((2, True, 5, 30) if workers else (0, False, None, 0))
    assert _with_workers(loader, 2, 7).prefetch_factor == 7
    seen = describe_loader(loader)
    assert (seen.workers, seen.epoch, seen.prefetch_factor) == (1, 32, 5)
    assert seen.examples_mb == pytest.approx(256 * 16 / 2**20)


def test_waiting_is_measured_at_each_depth() -> None:
    loader = torch_data.DataLoader(Numbers(), batch_size=8)
    ((two), (four)) = waits_at(loader, 1, [2, 4], step_s=0.001, seconds=0.05)
    assert (two.prefetch_factor, four.prefetch_factor) == (2, 4)
    assert 0 <= two.waiting_share < 1 and 0 <= four.waiting_share < 1


@pytest.mark.slow
def test_batches_that_now_and_then_take_long_are_waited_for_less_with_more_ahead() -> None:
    # a batch in eight takes 120 ms, a step 20: one worker keeps up on average, with 8 ahead
    loader = torch_data.DataLoader(Numbers(64, 0.120), batch_size=8)
    shallow, deep = waits_at(loader, 1, [1, 16], step_s=0.020, seconds=2.0)
    assert deep.waiting_share < shallow.waiting_share / 2


def test_a_stage_shows_what_it_waits_for_and_whether_it_repeats() -> None:
    generator = np.random.default_rng(0)

    class Images(Numbers):
        def __init__(self) -> None:
            super().__init__(every=1, slow_s=0.002)

            def scale(x: Any) -> Any:
                return 2.0 * x

            def noise(x: Any) -> Any:
                return x + generator.normal(size=x.shape).astype("float32")

            class Compose:
                transforms = (scale, noise)

                def __call__(self, x: Any) -> Any:
                    return noise(scale(x))

            self.transform = Compose()

        def __getitem__(self, place: int) -> Any:
            return self.transform(super().__getitem__(place)), place

    found = {s.name: s for s in stages_of(torch_data.DataLoader(Images(), 8), 0.02)}
    assert list(found) == ["read", "scale", "noise", "collate"]
    assert found["read"].waiting_share > 0.5 and found["read"].same_again
    assert found["scale"].same_again and found["scale"].batched_speedup > 1
    assert found["noise"].same_again is False and found["noise"].batched_speedup is None
    assert found["collate"].waiting_share is None and found["collate"].same_again is None
