"""JSON in and out of the record, with limits."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tunewright.errors import Damaged, StoreError
from tunewright.store.plain_json import LONGEST_FIELD, dumps, finite, loads

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(values)
def test_what_is_written_is_read(value: object) -> None:
    assert loads(dumps(value), "x") == value
    assert finite(value) == value


def test_what_others_could_not_read_is_not_written() -> None:
    for bad in (float("nan"), float("inf"), object(), {1: object()}):
        with pytest.raises(StoreError):
            dumps({"x": bad})
    with pytest.raises(StoreError, match="more than the database takes"):
        dumps("x" * (LONGEST_FIELD + 1))


def test_what_is_too_deep_or_too_long_is_not_read() -> None:
    for bad in ("[" * 10**5, "[" * 10**5 + "]" * 10**5, "{", "", "\x80\x04N."):
        with pytest.raises(Damaged, match="the field"):
            loads(bad, "the field")
    with pytest.raises(Damaged, match="more than"):
        loads("1" * 11, "the field", longest=10)
