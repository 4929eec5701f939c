"""A belief about where in a range the best value lies: a value, and how far it may be off.

A belief changes no range: every value stays possible, quasi-random search covers the range evenly,
and a Bayesian search starts near the value and drops the belief when the trials contradict it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tunewright.design.values import Value, as_plain, is_number, short
from tunewright.errors import DesignError

if TYPE_CHECKING:
    from tunewright.design.range import Range

KEYS = ("around", "factor", "width")  # of a table in a round file, beside the range's own
R = TypeVar("R", bound="Range")


@dataclass(frozen=True)
class Belief:
    """The best value is probably this one, or as near as `factor` or `width`.

    `factor`: one standard deviation on a log scale, or how many times as likely as every other
    value of a list. `width`: one standard deviation on a linear scale, in the range's own units.
    """

    value: Value
    factor: float | None = None
    width: float | None = None

    def to_data(self) -> dict[str, Any]:
        """Plain data, as a round file writes it next to the range.

        >>> Belief(3e-4, factor=3.0).to_data()
        {'around': 0.0003, 'factor': 3.0}
        """
        around = {"none": True} if self.value is None else self.value
        far = {"factor": self.factor, "width": self.width}
        return {"around": around, **{key: x for key, x in far.items() if x is not None}}

    def __str__(self) -> str:
        far = f"factor={short(self.factor)}" if self.width is None else f"width={short(self.width)}"
        return f".around({short(self.value)}, {far})"


def believed(own: R, value: Value, factor: float | None, width: float | None) -> R:
    """The range with a belief; a DesignError where it makes no sense for this kind of range."""
    value = as_plain(value)
    if not own.contains(value):
        raise DesignError("belief.outside", value=value, range=own)
    if own.count is not None:
        value = own.value(own.unit(value))  # 3.0 among whole numbers is 3
    wanted, given = ("width", width) if has_width(own) else ("factor", factor)
    other = factor if wanted == "width" else width
    if given is None or other is not None:
        raise DesignError("belief.other_unit", range=own, value=value, wanted=wanted)
    given = as_plain(given)
    least = 0.0 if wanted == "width" else 1.0
    if not is_number(given) or not given > least:
        raise DesignError("belief.bad_size", range=own, wanted=wanted, given=given, least=least)
    made = copy.copy(own)
    object.__setattr__(made, "belief", Belief(value, **{wanted: float(given)}))  # a frozen copy
    return made


def has_width(own: Range) -> bool:
    """Whether a belief is off by a difference; by a factor on a log scale and in a list."""
    return is_measured(own) and own.scale == "linear"


def is_measured(own: Range) -> bool:
    """Whether neighbours are alike, so that a value next to a good one is good too."""
    return own.ordered and own.choices is None


def read_belief(own: R, data: Mapping[str, Any]) -> R:
    """The range with the belief that the keys of a round file mean, if there are any."""
    given = {key: data[key] for key in KEYS if key in data}
    if not given:
        return own
    if "around" not in given:
        raise DesignError("belief.no_value", range=own, keys=list(given))
    value = None if given["around"] == {"none": True} else given["around"]
    return believed(own, value, given.get("factor"), given.get("width"))
