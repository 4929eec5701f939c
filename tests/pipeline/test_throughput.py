"""The clock against a clock that the test turns itself; verdicts at their thresholds."""

from __future__ import annotations

import itertools

import pytest
import torch

from tunewright.errors import PipelineError
from tunewright.pipeline import throughput
from tunewright.pipeline.throughput import Clock, Throughput, slowdown


class Time:
    """perf_counter, moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(throughput, "time", made)
    return made


def items(time: Time, wait_s: float):
    for number in itertools.count():
        time.now += wait_s
        yield number


def test_steps_waiting_and_pauses(time: Time) -> None:
    clock = Clock(batch_size=32, device=torch.device("cpu"), settling=10)
    feed = items(time, 0.25)
    assert clock.read().steps == 0
    for step in range(30):
        assert clock.next(feed) == step
        time.now += 50.0 if step < 10 else 0.75  # compilation and the like are not counted
        clock.count_step()
        if step % 5 == 4:
            with clock.pause():
                time.now += 1000.0  # an evaluation
    found = clock.read()
    assert found.steps == 20
    assert found.seconds == pytest.approx(20.0) and found.waiting_s == pytest.approx(5.0)
    assert found.time_per_step_s == pytest.approx(1.0)
    assert found.examples_per_s == pytest.approx(32.0)
    assert found.waiting_share == pytest.approx(0.25)
    assert found.device_busy_share is None
    assert str(found) == "1000 ms per step, 32 examples/s, 25.0% waiting for data"


@pytest.mark.parametrize(
    "steps, share, verdict",
    [
        (199, 0.5, "cannot_judge"),
        (200, 0.11, "input_bound"),
        (200, 0.10, "watch"),
        (200, 0.031, "watch"),
        (200, 0.03, "fine"),
        (200, 0.0, "fine"),
    ],
)
def test_verdicts(steps: int, share: float, verdict: str) -> None:
    assert Throughput(steps, 100.0, 100.0 * share, 1).verdict == verdict


def test_nothing_measured() -> None:
    empty = Throughput(0, 0.0, 0.0, 8)
    assert empty.waiting_share == 0.0 and empty.verdict == "cannot_judge"
    assert empty.time_per_step_s != empty.time_per_step_s  # nan


def test_slowdown_compares_medians_of_alternating_windows(time: Time) -> None:
    order: list[str] = []

    def real() -> None:
        order.append("real")
        time.now += 3.0 if len(order) < 4 else 1.5  # the first window is disturbed

    def cached() -> None:
        order.append("cached")
        time.now += 1.0

    assert slowdown(real, cached, steps=2, windows=3) == pytest.approx(1.5)
    assert order == ["real", "real", "cached", "cached"] * 3
    with pytest.raises(PipelineError, match="at least 1"):
        slowdown(real, cached, steps=0)
