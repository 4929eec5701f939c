"""Ranges: the kinds of ranges, the `Range` protocol, and the registry for a kind of your own.

    tw.Round("r", goal="?", nuisance={"decay": tw.ranges.log_from_one(0.9, 0.999)})

`log`, `linear`, `integers` and `choice` are also names of `tunewright` itself.
"""

from __future__ import annotations

from tunewright.design.kinds.choice import Choice, choice
from tunewright.design.kinds.integers import Integers, integers
from tunewright.design.kinds.linear import Linear, linear
from tunewright.design.kinds.log import Log, log
from tunewright.design.kinds.log_from_one import LogFromOne, log_from_one
from tunewright.design.kinds.powers_of_two import PowersOfTwo, powers_of_two
from tunewright.design.range import Bins, Range, Wider
from tunewright.design.registry import kinds, register

__all__ = [
    "Bins",
    "Choice",
    "Integers",
    "Linear",
    "Log",
    "LogFromOne",
    "PowersOfTwo",
    "Range",
    "Wider",
    "choice",
    "integers",
    "kinds",
    "linear",
    "log",
    "log_from_one",
    "powers_of_two",
    "register",
]
