r"""Measurements in the lines that a program prints anyway, found by regular expressions.

    read = r"step (?P<step>\d+): train loss (?P<train_loss>\S+), val loss (?P<val_loss>\S+)"

Each named group is a metric, except `step`. Several patterns may share a log: a line without a step
belongs to the step read last. If no pattern has a step, each line of the first pattern is one.

A pattern may not take long on any line. Lines longer than 500 characters are not read, no group
may repeat, and `.*` may occur twice at most.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tunewright.measured import Measured
from tunewright.messages import Message

STEP = "step"
LONGEST = 500  # characters of a line that is read
MOST_PATTERNS = 20
_MOST_ANY = 2  # repeats of `.` in one pattern
_AROUND = ".,;:%)]}"  # what may stick to a number
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True)
class Reading:
    """What a line reports."""

    step: int
    metrics: dict[str, float | Measured] = field(default_factory=dict)


class LineReader:
    """Reads the lines of one program in order.

    >>> reader = LineReader([r"Epoch (?P<step>\\d+)/", r"val_loss: (?P<val_loss>\\S+)"])
    >>> reader.read("Epoch 3/10"), reader.read("10/10 - loss: 0.4 - val_loss: 0.5")
    (None, Reading(step=3, metrics={'val_loss': 0.5}))
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        """The patterns must have no problems."""
        self._patterns = tuple(re.compile(pattern) for pattern in patterns)
        self._clocked = any(STEP in pattern.groupindex for pattern in self._patterns)
        self._step = 0

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._patterns)

    def read(self, line: str) -> Reading | None:
        """The measurements of a line; None when it has none."""
        line = COLOURS.sub("", line).strip()
        if not line or len(line) > LONGEST:
            return None
        metrics: dict[str, float | Measured] = {}
        for at, pattern in enumerate(self._patterns):
            match = pattern.search(line)
            if match is None:
                continue
            numbers = {name: number(text) for name, text in match.groupdict().items()}
            step = numbers.pop(STEP, None)
            if step is not None and step >= 0 and step.is_integer():
                self._step = int(step)
            elif not self._clocked and at == 0:
                self._step += 1
            metrics |= {name: value for name, value in numbers.items() if value is not None}
        return Reading(self._step, metrics) if metrics else None


def number(text: str | None) -> float | None:
    """The number that a group has captured; None if it is none.

    >>> [number(text) for text in ("4.18,", "91.2%", "1,000", "nan", "adam", None)]
    [4.18, 91.2, 1000.0, nan, None, None]
    """
    if text is None:
        return None
    try:
        return float(text.strip().rstrip(_AROUND).replace(",", ""))
    except ValueError:
        return None


def problems(patterns: Sequence[object]) -> Iterator[Message]:
    """What is wrong with the patterns of a command, every problem at once."""
    if len(patterns) > MOST_PATTERNS:
        yield Message("read.too_many", {"count": len(patterns), "most": MOST_PATTERNS})
    named: set[str] = set()
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern.strip():
            yield Message("read.not_text", {"pattern": pattern})
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # a pattern that will mean something else one day
                groups = re.compile(pattern).groupindex
        except (re.error, RecursionError, OverflowError, Warning) as error:
            yield Message("read.not_regex", {"pattern": pattern, "error": str(error)})
            continue
        named |= groups.keys()
        if not groups:
            yield Message("read.no_group", {"pattern": pattern})
        if why := slow(pattern):
            yield Message("read.slow", {"pattern": pattern, "why": why, "most": _MOST_ANY})
    if patterns and named == {STEP}:
        yield Message("read.step_alone", {"patterns": [str(each) for each in patterns]})


def slow(pattern: str) -> str:
    r"""Why a pattern may take very long on a certain line; empty if it cannot.

    >>> slow(r"(\S+\s*)+x"), slow(r".*a.*b.*c"), slow(r"step (?P<step>\d+)")
    ('group', 'any', '')
    """
    any_repeats, after, at = 0, "", 0
    while at < len(pattern):
        atom = pattern[at]
        if atom == "\\":
            after, at = "atom", at + 2
            continue
        if atom == "[":
            at = _end_of_class(pattern, at)
            after = "atom"
            continue
        if atom in "*+{" and not (atom == "{" and not re.match(r"\{\d*,?\d*\}", pattern[at:])):
            if after == "group":
                return "group"
            any_repeats += after == "any"
            if any_repeats > _MOST_ANY:
                return "any"
            after = "repeat"
        else:
            after = {")": "group", ".": "any"}.get(atom, "atom")
        at += 1
    return ""


def _end_of_class(pattern: str, at: int) -> int:
    """The place after a character class that begins here."""
    end = at + 1
    if pattern[end : end + 1] == "^":
        end += 1
    if pattern[end : end + 1] == "]":  # the first one is a character of the class
        end += 1
    while end < len(pattern) and pattern[end] != "]":
        end += 2 if pattern[end] == "\\" else 1
    return end + 1
