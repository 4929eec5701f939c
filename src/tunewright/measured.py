"""A measured value with its uncertainty: what an evaluation on n examples can know of a metric."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any

from tunewright.errors import DesignError

_CODES = {"value": "measured.bad_value", "sd": "measured.bad_sd", "n": "measured.bad_n"}
SUFFIXES = ("_sd", "_stderr")  # of a metric that is the standard deviation of another
COUNT = "_n"  # of one that is its number of examples


@dataclass(frozen=True)
class Measured:
    """A value, its standard deviation, and the number of examples it was measured on.

    `sd` is the standard deviation of the value itself: how far it would move on other examples of
    the same kind. For a mean over n examples it is their standard deviation divided by the root of
    n; for an error rate p it is the root of p (1 - p) / n.

        run.log(step, valid_error=tw.Measured(0.081, sd=0.0027, n=10_000))

    A tensor is read at once. The value may be NaN or infinite, as in any other log call.

    >>> found = Measured(0.081, sd=0.0027, n=10_000)
    >>> found.examples_for(0.001)
    72900
    >>> float(found)
    0.081
    """

    value: float  # what was measured
    _: KW_ONLY
    sd: float  # the standard deviation of the value; 0: it is exact
    n: int | None = None  # examples it was measured on; None: not known

    def __post_init__(self) -> None:
        """Take numbers of any library; refuse what is none."""
        sd = _number("sd", self.sd)
        if not (math.isfinite(sd) and sd >= 0):
            raise _bad("sd", self.sd)
        object.__setattr__(self, "value", _number("value", self.value))
        object.__setattr__(self, "sd", sd)
        object.__setattr__(self, "n", None if self.n is None else _count(self.n))

    def __float__(self) -> float:
        """The value alone."""
        return self.value

    def examples_for(self, sd: float) -> int | None:
        """How many examples give this standard deviation; None where n is not known.

        Args:
            sd: the standard deviation that is wanted.
        """
        if self.n is None or not sd > 0:
            return None
        return math.ceil(round(self.n * (self.sd / sd) ** 2, 6))

    def to_data(self) -> dict[str, Any]:
        """As a line of the command protocol has it."""
        return {"value": self.value, "sd": self.sd, "n": self.n}


def read(given: Any) -> Any:
    """The `Measured` that plain data describes; anything else as it is.

    >>> read({"value": 0.1, "sd": 0.01, "n": 900})
    Measured(value=0.1, sd=0.01, n=900)
    >>> read({"a": 1}), read(0.5)
    ({'a': 1}, 0.5)
    """
    if isinstance(given, Mapping) and "value" in given and given.keys() <= _CODES.keys():
        return Measured(given["value"], sd=given.get("sd"), n=given.get("n"))  # type: ignore[arg-type]
    return given


def with_uncertainties(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Metrics of another library, with the standard deviations that it logged beside them.

    `x_sd` or `x_stderr` is the standard deviation of the value `x`, and `x_n` its number of
    examples; they stay metrics as well. What is no standard deviation is left as it is.

    >>> with_uncertainties({"acc": 0.5, "acc_stderr": 0.1, "acc_n": 25, "loss": 1.0})["acc"]
    Measured(value=0.5, sd=0.1, n=25)
    """
    with_sds = dict(metrics)
    for name in metrics:
        for suffix in SUFFIXES:
            base = name.removesuffix(suffix)
            if base != name and base in metrics and not isinstance(metrics[base], Measured):
                with suppress(DesignError):
                    with_sds[base] = Measured(
                        metrics[base], sd=metrics[name], n=metrics.get(f"{base}{COUNT}")
                    )
    return with_sds


def _number(field: str, given: Any) -> float:
    if given is None or isinstance(given, bool | str | bytes):
        raise _bad(field, given)
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise _bad(field, given) from None


def _count(given: Any) -> int:
    try:
        whole = int(given) if isinstance(given, float) and given.is_integer() else given
        count = operator.index(whole)
    except TypeError:
        raise _bad("n", given) from None
    if isinstance(given, bool) or not 1 <= count < 2**63:
        raise _bad("n", given)
    return count


def _bad(field: str, given: Any) -> DesignError:
    try:
        text = repr(given)
    except Exception:  # a number of thousands of digits, or a __repr__ that raises
        text = f"a {type(given).__name__}"
    return DesignError(_CODES[field], field=field, value=text[:60])
