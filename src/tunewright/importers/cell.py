"""The value a cell of a table means, given what the round declares for its column.

Tables lose types: a column of several kinds becomes text, one with gaps becomes fractions, and a
CSV file has text alone. The declaration knows what was meant.
"""

from __future__ import annotations

from typing import Any, Final

from tunewright.design.ranges import Range, Value, same_value
from tunewright.importers.foreign import number_or_none


class _Missing:
    """No value, where None may be one."""


MISSING: Final = _Missing()


def as_value(declared: Range | Value, cell: Any) -> Any:
    """The value of the declared range (or fixed value) that a cell means; MISSING if none.

    >>> from tunewright.design.ranges import choice, integers
    >>> as_value(choice(1, "auto"), "1"), as_value(integers(1, 9), 3.0)
    (1, 3)
    """
    if not isinstance(declared, Range):  # fixed at this value
        return _among((declared,), cell)
    if declared.choices is not None:
        return _among(declared.choices, cell)
    if cell is None or isinstance(cell, bool):
        return MISSING
    number = number_or_none(cell)
    if number is None:  # a kind of range whose values are no numbers
        return cell if declared.contains(cell) else MISSING
    if not declared.contains(number):
        return MISSING
    # a table may have made 3.0 of the whole number 3
    return number if declared.count is None else declared.value(declared.unit(number))


def _among(values: tuple[Value, ...], cell: Any) -> Any:
    for own in values:
        if same_value(own, cell):
            return own
    if cell is None:
        return MISSING
    for own in values:
        if str(own) == str(cell) or _same_number(own, cell):
            return own
    return MISSING


def _same_number(own: Value, cell: Any) -> bool:
    """Whether text is another spelling of a number, or 1 means True."""
    if isinstance(own, str) or own is None:
        return False
    if isinstance(own, bool):
        return (
            str(cell).lower() in ("true", "1", "1.0")
            if own
            else str(cell).lower()
            in (
                "false",
                "0",
                "0.0",
            )
        )
    return isinstance(cell, str) and number_or_none(cell) == own
