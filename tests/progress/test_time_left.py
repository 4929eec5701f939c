from __future__ import annotations

from hypothesis import given, strategies as st

from tunewright.progress.tally import time_left

lengths = st.floats(min_value=0.01, max_value=1e5)


@given(
    st.integers(min_value=0, max_value=1000),
    st.lists(st.tuples(lengths, st.none() | lengths), max_size=8),
    st.lists(lengths, max_size=50),
)
def test_it_is_a_range_or_unknown(
    pending: int, running: list[tuple[float, float | None]], ended: list[float]
) -> None:
    found = time_left(pending, running, max(1, len(running)), ended)
    if found is None:
        assert not ended or not pending
        return
    assert 0 < found[0] <= found[1]


def test_the_truth_lies_inside_for_equal_trials() -> None:
    low, high = time_left(
        pending=90, running=[(0.0, None), (0.0, None)], slots=2, ended_s=[10.0] * 8
    ) or (
        0,
        0,
    )
    assert low <= 460 <= high
    assert high <= 500


def test_more_ended_trials_narrow_it() -> None:
    few = time_left(100, [], 1, [8.0, 12.0])
    many = time_left(100, [], 1, [8.0, 12.0] * 50)
    assert few is not None
    assert many is not None
    assert many[1] - many[0] < few[1] - few[0]


def test_nothing_is_promised_before_the_first_trial_ended() -> None:
    assert time_left(5, [(1.0, None)], 1, []) is None
