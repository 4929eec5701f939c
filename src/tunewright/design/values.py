"""Values of hyperparameters: which are allowed, when two are one value, how a number is written."""

from __future__ import annotations

import math
from typing import Any

from tunewright.errors import DesignError

Value = bool | int | float | str | None
# beyond it a float (and JSON in other languages) cannot separate neighbours
LARGEST_INTEGER = 2**53


def as_plain(value: Any) -> Any:
    """A scalar of numpy or torch as Python's own number; anything else as it is."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        return value.item()
    return value


def same_value(a: Value, b: Value) -> bool:
    """Equality that distinguishes True from 1 and, unlike `is`, takes 1 and 1.0 for one number."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def is_number(x: Any) -> bool:
    """Whether it is a finite number that a float can hold.

    >>> is_number(3), is_number(True), is_number(10**400), is_number(float("nan"))
    (True, False, False, False)
    """
    if isinstance(x, bool) or not isinstance(x, int | float):
        return False
    try:
        return math.isfinite(x)
    except OverflowError:  # a whole number beyond every float
        return False


def short(x: Value) -> str:
    """A value for readers, as short as it can be without losing a digit.

    >>> short(0.00001), short(0.30000000000000004), short("adam")
    ('1e-05', '0.30000000000000004', "'adam'")
    """
    if isinstance(x, float) and float(f"{x:g}") == x:
        return f"{x:g}"
    return repr(x)


def check_plain(value: Any, where: str) -> None:
    """Refuse a value that a configuration could not carry to a program or a record."""
    if not isinstance(value, bool | int | float | str | None):
        raise DesignError("value.not_plain", place=where, value=value, type=type(value).__name__)
    if isinstance(value, float) and not math.isfinite(value):
        raise DesignError("value.not_finite", place=where, value=value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST_INTEGER:
        raise DesignError("value.beyond_integers", place=where, value=value)
    if isinstance(value, str) and not is_storable(value):
        raise DesignError("value.unstorable", place=where, value=value)


def is_storable(text: str) -> bool:
    """Whether every program and record can hold this text: no NUL, no lone surrogate."""
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
