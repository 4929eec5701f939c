"""Bounds that no value can pass: where a range ends at one, a wider range makes no sense."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tunewright.design.names import Meaning
from tunewright.design.ranges import Range, is_number

# meanings whose values cannot pass 1
_BELOW_ONE = ("momentum", "beta1", "beta2")


@dataclass(frozen=True)
class NaturalBound:
    """A value that no other can pass."""

    value: float
    off: bool = False  # whether the hyperparameter is switched off there


def natural_bound(
    name: str, searched: Range, side: Literal["low", "high"], meaning: Meaning
) -> NaturalBound | None:
    """The bound no value can pass, when this end of the range lies at it.

    >>> from tunewright.design.ranges import linear
    >>> natural_bound("dropout", linear(0.0, 0.5), "low", Meaning())
    NaturalBound(value=0.0, off=True)
    """
    low, high = searched.ends or (math.nan, math.nan)
    at = float(low if side == "low" else high)
    off = meaning.off_by_name.get(name)
    if is_number(off) and float(off) == at:  # type: ignore[arg-type]
        return NaturalBound(at, off=True)
    if side == "low" and at == 0:
        return NaturalBound(0.0, off=name in meaning.regularisers)
    unit_like = meaning.of(name) in _BELOW_ONE or name in meaning.regularisers
    if side == "high" and at == 1 and unit_like:
        return NaturalBound(1.0)
    return None
