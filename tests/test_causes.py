"""The exceptions behind an exception."""

from __future__ import annotations

from tunewright.causes import causes


def test_a_chain_is_followed_to_its_first_cause() -> None:
    first, second, third = OSError("first"), ValueError("second"), KeyError("third")
    third.__cause__, second.__context__ = second, first
    assert list(causes(third)) == [third, second, first]
    assert list(causes(None)) == []


def test_a_cycle_is_followed_once() -> None:
    alone, one, other = ValueError(), ValueError("one"), ValueError("other")
    alone.__context__ = alone
    one.__cause__, other.__cause__ = other, one
    assert list(causes(alone)) == [alone]
    assert list(causes(one)) == [one, other]
