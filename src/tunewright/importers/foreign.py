"""Trials as another system recorded them, made plain: before they have a round or roles.

Nothing that is read here is trusted: names and values become text, numbers, True, False or None of
a bounded size, nested settings become dotted names, and nothing is ever executed or unpickled.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tunewright.design.conditions import LONGEST_NAME
from tunewright.design.ranges import LARGEST_INTEGER, Range, Value, as_plain
from tunewright.measured import COUNT, SUFFIXES
from tunewright.messages import Message
from tunewright.store.curves import Spreads
from tunewright.store.judge import not_finite
from tunewright.store.plain_json import storable
from tunewright.store.trial import Status

_LONGEST_VALUE = 500  # characters of a hyperparameter's text
_DEEPEST = 20  # of nested settings; what lies deeper is text
_MOST_SETTINGS = 5_000  # hyperparameters of one trial; more is a file of something else
NO_REASON = "foreign.no_reason"
Points = Mapping[str, tuple[Sequence[int], Sequence[float]]]  # metric -> steps and values


@dataclass(frozen=True)
class ForeignTrial:
    """One trial of another system."""

    name: str  # what the other system calls it
    configuration: Mapping[str, Value]
    status: Status
    reason: Message | None = None
    points: Points = field(default_factory=dict)
    seconds: float = 0.0
    number: int | None = None  # None: numbered in the order found
    seed: int | None = None
    detail: str = ""  # a traceback

    def __post_init__(self) -> None:
        # a duration that is NaN, infinite or negative is not known
        object.__setattr__(self, "seconds", duration_or_none(self.seconds) or 0.0)


@dataclass(frozen=True)
class Source:
    """Everything that was read from another tool."""

    origin: str  # in words, such as "the Optuna study 'width'"
    name: str  # what to call the round by default
    trials: tuple[ForeignTrial, ...]  # those that ended
    ranges: Mapping[str, Range] = field(default_factory=dict)  # what the source declares
    search: str = ""  # which search suggested the trials; empty: laid out beforehand, or unknown
    notes: tuple[Message, ...] = ()  # what could not be taken over


def plain_name(name: Any) -> str:
    r"""A name that a round can hold: printable, not empty, not too long.

    >>> plain_name("lr\x1b[2J"), plain_name(""), len(plain_name("a" * 1000))
    ('lr\\x1b[2J', '?', 200)
    """
    text = storable(str(name), longest=10 * LONGEST_NAME)
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text.strip()[:LONGEST_NAME] or "?"


def plain_value(value: Any) -> Value:
    """A value that a configuration can hold; lists and other objects become their text.

    >>> plain_value([64, 32]), plain_value(float("inf")), plain_value(2**60)
    ('[64, 32]', 'inf', '1152921504606846976')
    """
    value = as_plain(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= LARGEST_INTEGER else str(value)[:_LONGEST_VALUE]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if not isinstance(value, str):
        try:
            value = json.dumps(value, sort_keys=True, default=str)
        except (TypeError, ValueError, RecursionError):
            value = type(value).__name__
    return storable(value, _LONGEST_VALUE)


def flat_settings(settings: Mapping[Any, Any]) -> dict[str, Value]:
    """Nested settings under dotted names, with plain names and values.

    >>> flat_settings({"optimizer": {"lr": 0.1, "betas": [0.9, 0.99]}, "seed": 1})
    {'optimizer.lr': 0.1, 'optimizer.betas': '[0.9, 0.99]', 'seed': 1}
    """
    flat: dict[str, Value] = {}
    waiting: list[tuple[str, Any, int]] = [("", settings, 0)]  # the next one last
    while waiting and len(flat) < _MOST_SETTINGS:
        prefix, value, depth = waiting.pop()
        if isinstance(value, Mapping) and (value or not prefix) and depth < _DEEPEST:
            inner = itertools.islice(value.items(), _MOST_SETTINGS)
            below = [
                (f"{prefix}.{key}" if prefix else str(key), nested, depth + 1)
                for key, nested in inner
            ]
            waiting += reversed(below)
        else:
            flat[_free(flat, plain_name(prefix))] = plain_value(value)
    return flat


def _free(taken: Mapping[str, Any], name: str) -> str:
    while name in taken:
        name = name[: LONGEST_NAME - 1] + "_"
        if name in taken and len(name) == LONGEST_NAME:
            name = name[:-8] + f"{len(taken):08d}"
    return name


def parse_value(text: str) -> Value:
    """The value that a text means, in a file that holds nothing but text.

    >>> [parse_value(t) for t in ("0.1", "12", "True", "adam", "", "None", "nan")]
    [0.1, 12, True, 'adam', None, None, 'nan']
    """
    bare = text.strip()
    if bare in ("", "None", "null"):
        return None
    if bare in ("True", "true", "False", "false"):
        return bare in ("True", "true")
    if len(bare) <= 40 and "_" not in bare:  # Python reads 1_000 as a number; nobody writes it so
        for kind in (int, float):
            try:
                return plain_value(kind(bare))
            except ValueError:
                continue
    return storable(text, _LONGEST_VALUE)


def number_or_none(value: Any) -> float | None:
    """A float, nan and infinities included; None for anything else.

    >>> number_or_none("NaN"), number_or_none(True), number_or_none("adam")
    (nan, None, None)
    """
    value = as_plain(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def duration_or_none(value: Any) -> float | None:
    """Seconds that something can have lasted; None for anything else.

    >>> duration_or_none(1.5), duration_or_none("inf"), duration_or_none(-1)
    (1.5, None, None)
    """
    number = number_or_none(value)
    return number if number is not None and math.isfinite(number) and number >= 0 else None


def whole_or_none(value: Any) -> int | None:
    """A whole number that a step or a seed can be; None for anything else."""
    number = number_or_none(value)
    if number is None or not math.isfinite(number) or number != int(number):
        return None
    return int(number) if abs(number) <= LARGEST_INTEGER else None


class PointsInOrder:
    """Collects single points into the curves of a trial.

    A tool that was given no step records all points of a metric at one; these are numbered from 1
    in the order found. With `stepped`, every step is one that somebody wrote.

    >>> points = PointsInOrder()
    >>> points.add("loss", 0, 0.5), points.add("loss", 0, 0.4), points.points()
    (None, None, {'loss': ([1, 2], [0.5, 0.4])})
    """

    def __init__(self, stepped: bool = False) -> None:
        """Begin without any."""
        self._stepped = stepped
        self._beside: PointsInOrder | None = None
        self._points: dict[str, tuple[list[int], list[float]]] = {}

    def add(self, metric: str, step: int, value: float) -> None:
        """Add one point; of several at one step the last counts. No step is beyond 2**53."""
        if abs(step) > LARGEST_INTEGER:
            return
        steps, values = self._points.setdefault(plain_name(metric), ([], []))
        steps.append(step)
        values.append(value)

    @property
    def beside(self) -> PointsInOrder:
        """Points that are not metrics: what is known of the others."""
        if self._beside is None:
            self._beside = PointsInOrder(stepped=True)
        return self._beside

    def add_at_end(self, metrics: Iterable[tuple[str, float]]) -> None:
        """Add final values at the last step of all curves, for metrics without a curve."""
        last = max((max(steps) for steps, _ in self.points().values()), default=1)
        for metric, value in metrics:
            if plain_name(metric) not in self._points:
                self.add(metric, last, value)

    def points(self) -> Points:
        """What was collected."""
        if self._stepped:
            return self._points
        return {
            metric: (list(range(1, len(steps) + 1)), values)
            if len(steps) > 1 and len(set(steps)) == 1
            else (steps, values)
            for metric, (steps, values) in self._points.items()
        }


def uncertain(points: Points) -> Spreads:
    """(sd, n) of the metrics whose standard deviation was logged beside them at the same steps.

    >>> uncertain({"e": ([1, 2], [0.5, 0.4]), "e_sd": ([2], [0.1]), "e_n": ([2], [25])})
    {'e': ([nan, 0.1], [0, 25])}
    """
    spreads: Spreads = {}
    for name, (steps, _) in points.items():
        beside = [points[f"{name}{suffix}"] for suffix in SUFFIXES if f"{name}{suffix}" in points]
        if not beside:
            continue
        counts = points.get(f"{name}{COUNT}", ((), ()))
        sds, ns = (
            {int(s): v for s, v in zip(*curve, strict=True)} for curve in (beside[0], counts)
        )
        known = [sds.get(int(step), math.nan) for step in steps]
        sd = [each if math.isfinite(each) and each >= 0 else math.nan for each in known]
        n = [ns.get(int(step), 0) for step in steps]
        spreads[name] = sd, [int(each) if math.isfinite(each) and each >= 1 else 0 for each in n]
    return spreads


def no_reason(source: str, state: str) -> Message:
    """The reason of a trial whose system keeps none; `state` is what it calls such an end."""
    return Message(NO_REASON, {"source": source, "state": state})


def first_non_finite(points: Points, names: Iterable[str]) -> Message | None:
    """Where one of these metrics was first not finite; None if never."""
    for metric in names:
        steps, values = points.get(metric, ((), ()))
        for step, value in zip(steps, values, strict=True):
            if not math.isfinite(value):
                return not_finite(metric, value, step)
    return None
