"""Ranges: what a hyperparameter may be, on the scale it is searched on; the names that others use.

`Range` is the protocol (design/range.py), `register` makes a kind of your own known by its name,
and each kind of ours is a file of design/kinds/.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tunewright.design import kinds as kinds
from tunewright.design.kinds.choice import (
    Choice as Choice,
    choice as choice,
    choices_of as choices_of,
)
from tunewright.design.kinds.integers import Integers as Integers, integers as integers
from tunewright.design.kinds.linear import Linear as Linear, linear as linear
from tunewright.design.kinds.log import Log as Log, log as log
from tunewright.design.kinds.log_from_one import (
    LogFromOne as LogFromOne,
    log_from_one as log_from_one,
)
from tunewright.design.range import (
    LARGEST_INTEGER as LARGEST_INTEGER,
    Bins as Bins,
    Range as Range,
    Value as Value,
    Wider as Wider,
    as_number as as_number,
    as_plain as as_plain,
    check_plain as check_plain,
    is_number as is_number,
    is_storable as is_storable,
    same_value as same_value,
    short as short,
)
from tunewright.design.registry import register as register


def as_range(given: Any) -> Range | None:
    """The range a declaration means: a range itself, a list as a choice, None for a plain value."""
    if isinstance(given, Range):
        return given
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return Choice(tuple(given))
    return None
