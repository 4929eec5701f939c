"""Choice: one of several values that the user lists."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from tunewright.design.range import (
    MOST_SHOWN,
    Bins,
    Range,
    Value,
    as_plain,
    check_plain,
    is_number,
    same_value,
    short,
    thin,
)
from tunewright.design.registry import register
from tunewright.errors import DesignError


@register
@dataclass(frozen=True)
class Choice(Range):
    """One of several values, in the order given."""

    kind: ClassVar[str] = "choice"
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(as_plain(v) for v in self.values))
        _check_choices(self.values)

    @property
    def bins(self) -> Bins:
        """One part for each value."""
        return Bins(0, len(self.values) - 1)

    @property
    def choices(self) -> tuple[Value, ...]:
        """The values."""
        return self.values

    @property
    def ends(self) -> tuple[float, float] | None:
        """The smallest and the largest of those values that are numbers."""
        numbers = [v for v in self.values if is_number(v)]
        return (min(numbers), max(numbers)) if numbers else None

    def value(self, unit: float) -> Value:
        """The value whose bin this position lies in."""
        count = len(self.values)
        return self.values[min(max(math.floor(unit * count), 0), count - 1)]

    def unit(self, value: Value) -> float:
        """The middle of this value's bin."""
        for position, choice in enumerate(self.values):
            if same_value(choice, value):
                return (position + 0.5) / len(self.values)
        raise DesignError("range.not_a_choice", value=value, values=list(self.values))

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers, all growing or all falling: then edges mean something."""
        numbers = [v for v in self.values if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(numbers) < len(self.values):
            return False
        pairs = list(itertools.pairwise(numbers))
        return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)

    @property
    def falls(self) -> bool:
        """Whether the values are numbers that get smaller."""
        first, last = self.values[0], self.values[-1]
        return self.ordered and first > last  # type: ignore[operator]

    def along(self, position: float) -> float:
        """A position stretched so that the smallest value lies at 0 and the largest at 1.

        >>> [Choice((3, 2, 1)).along(unit) for unit in (1 / 6, 3 / 6, 5 / 6)]
        [1.0, 0.5, 0.0]
        """
        count = len(self.values)
        if count == 1:
            return 0.5
        at = min(int(position * count), count - 1) / (count - 1)
        return 1.0 - at if self.falls else at

    def with_ends(self, low: float, high: float) -> Range | None:
        """None: a list has no values but its own."""
        del low, high
        return None

    def covered(self, other: Range) -> float:
        """The share of the values that another list has too."""
        if other.choices is None:
            return 1.0
        kept = [v for v in self.values if any(same_value(v, was) for was in other.choices)]
        return len(kept) / len(self.values)

    def near(self, value: float) -> Range | None:
        """None: a list has no values but its own."""
        del value
        return None

    def ticks(self) -> Sequence[Value]:
        """The values, of a long list a few."""
        return thin(self.values, MOST_SHOWN)

    def to_data(self) -> list[Value]:
        """Plain data, as a round file writes it: the values."""
        return list(self.values)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """The list that plain data means; `{none = true}` is None, which TOML does not have."""
        values = data["choice"]
        if not isinstance(values, list | tuple):
            raise DesignError("declaration.bad_choice", data=values)
        return cls(tuple(None if value == {"none": True} else value for value in values))

    @property
    def text(self) -> str:
        """How it is written."""
        return f"choice({', '.join(map(short, self.values))})"


def choice(*values: Value) -> Choice:
    """Search one of several values; a plain list means the same.

    Args:
        values: numbers, text or booleans, each once.

    >>> choice("adam", "sgd").choices
    ('adam', 'sgd')
    """
    return Choice(tuple(values))


def choices_of(declared: Any) -> tuple[Value, ...] | None:
    """The values of a declaration that is a list; None for any other.

    >>> choices_of(choice("adam", "sgd")), choices_of(0.1)
    (('adam', 'sgd'), None)
    """
    return declared.choices if isinstance(declared, Range) else None


def _check_choices(values: tuple[Value, ...]) -> None:
    if not values:
        raise DesignError("range.no_choices")
    seen: set[tuple[bool, Value]] = set()
    for position, value in enumerate(values):
        check_plain(value, f"choice(): value {position + 1}")
        key = (isinstance(value, bool), value)  # distinguishes True from 1, as same_value does
        if key in seen:
            raise DesignError("range.choice_twice", value=value)
        seen.add(key)
