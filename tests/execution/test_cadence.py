"""When to evaluate and to save is a function of the step alone."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from tunewright.execution.cadence import EVALUATIONS, due, period

steps = st.integers(1, 20_000)


@given(steps, st.integers(1, 1000))
def test_it_happens_about_so_often_and_always_at_the_end(total: int, times: int) -> None:
    found = [step for step in range(1, total + 1) if due(step, total, times)]
    assert found[-1] == total
    assert min(total, times) <= len(found) <= min(total, 2 * times + 1)
    gaps = {later - step for step, later in pairwise(found[:-1])}  # the last comes when it comes
    assert gaps <= {period(total, times)}


@given(steps, st.integers(0, 30_000))
def test_nothing_but_the_step_and_the_length_decides(total: int, step: int) -> None:
    first = due(step, total, EVALUATIONS)
    assert all(due(step, total, EVALUATIONS) == first for _ in range(3))
    assert first == (step == total or step % max(1, total // 100) == 0)
