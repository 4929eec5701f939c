"""Times per step from the lines that a program prints: every step, seldom, in bursts, and none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from tunewright.probes.throughput.command_worker import ENOUGH_S, TOGETHER_S, Silent, Stamps


class Program:
    """A program on a clock of its own: it trains whenever somebody looks whether it is alive."""

    def __init__(self, step_s: float, every: int, last: int = 10**9) -> None:
        self.now, self.step = 0.0, 0
        self.step_s, self.every, self.last = step_s, every, last
        self.stamps = Stamps(lambda: self.now, look_s=0)

    def alive(self) -> bool:
        if self.step >= self.last:
            return False
        self.step += self.every
        self.now += self.every * self.step_s
        self.stamps.add(self.step)
        return True

    def windows(self, *steps: int) -> list[float]:
        return self.stamps.windows(steps, self.alive, 1e6)


@given(step_s=st.floats(0.003, 1.0), every=st.integers(1, 40), steps=st.integers(1, 60))
def test_windows_are_the_slope_between_stamps(step_s: float, every: int, steps: int) -> None:
    found = Program(step_s, every).windows(steps, steps, steps)
    assert found == pytest.approx([steps * step_s] * 3)


def test_lines_of_one_buffer_count_once() -> None:
    now = [0.0]
    stamps = Stamps(lambda: now[0], look_s=0)
    for burst in range(5):
        now[0] = 10.0 * burst
        for line in range(100):  # a hundred steps take ten seconds and arrive together
            now[0] += TOGETHER_S / 2
            stamps.add(100 * burst + line + 1)
    found = stamps.windows([1], feeding(stamps, now, [600, 700]), 1e6)
    assert found == pytest.approx([0.1], rel=0.01)


def feeding(stamps: Stamps, now: list[float], steps: list[int]) -> Callable[[], bool]:
    def alive() -> bool:
        if not steps:
            return False
        now[0] += 10.0
        stamps.add(steps.pop(0))
        return True

    return alive


def test_a_second_line_of_a_step_and_a_step_back_are_no_stamps() -> None:
    now = [0.0]
    stamps = Stamps(lambda: now[0], look_s=0)
    for at, step in ((0.0, 10), (1.0, 20), (1.5, 20), (1.6, 5)):
        now[0] = at
        stamps.add(step)
    assert stamps.last is not None and (stamps.last.step, stamps.last.at) == (20, 1.0)


def test_a_program_that_prints_seldom_gets_fewer_windows() -> None:
    program = Program(step_s=0.1, every=int(ENOUGH_S * 10 / 2))
    assert program.windows(*[1] * 10) == pytest.approx([0.1] * 3)
    assert Program(step_s=0.1, every=1).windows(*[1] * 10) == pytest.approx([0.1] * 10)


def test_the_end_of_a_program() -> None:
    assert len(Program(0.1, 1, last=6).windows(*[1] * 10)) == 5  # from the first line on
    with pytest.raises(Silent):
        Program(0.1, 1, last=3).windows(*[1] * 10)
    with pytest.raises(Silent):
        Program(0.1, 1, last=0).windows(1)
