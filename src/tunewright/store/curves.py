"""Curves: every number a trial logged, packed many to a record and never a row per point.

A batch is a magic word, a length, a JSON head and raw little-endian arrays:
`TWC1 | uint32 head length | head | step blocks (int64) | value blocks (float64)`. The head names
each metric with the step block it uses, since metrics logged together share their steps. A metric
may carry the uncertainty of its values: the head then names it under `uncertain`, and its standard
deviations (float64) and counts (int64) follow all values. A reader that does not know them passes
over them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tunewright.errors import Damaged

Steps = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]
MAGIC = b"TWC1"
_POINT = ("steps", "values")


@dataclass(frozen=True, eq=False)
class Curve:
    """One metric of one trial: its value at each step it was logged."""

    steps: Steps
    values: Values
    sd: Values | None = None  # the standard deviation of one measurement at each step
    n: Steps | None = None  # how many measurements each value is the mean of

    def __len__(self) -> int:
        """How many points it has."""
        return len(self.steps)

    def __repr__(self) -> str:
        """The number of points and the last one."""
        last = f", last {self.values[-1]:.4g} at step {self.steps[-1]}" if len(self) else ""
        return f"Curve({len(self)} points{last})"


@dataclass(frozen=True)
class Batch:
    """Packed points of one attempt, with the number of updates that attempt started from."""

    attempt: int
    start_step: int
    points: bytes


def pack(
    points: Mapping[str, tuple[Sequence[int] | Steps, Sequence[float] | Values]],
    uncertain: Mapping[str, tuple[Sequence[float] | Values, Sequence[int] | Steps]] | None = None,
) -> bytes:
    """Pack the points of several metrics: {metric: (steps, values)}, {metric: (sd, n)}."""
    blocks: list[bytes] = []
    known: dict[bytes, int] = {}
    lengths: list[int] = []
    metrics: list[tuple[str, int]] = []
    values: list[bytes] = []
    for name, (steps, numbers) in points.items():
        packed = np.asarray(steps, dtype="<i8").tobytes()
        if packed not in known:
            known[packed] = len(blocks)
            blocks.append(packed)
            lengths.append(len(steps))
        metrics.append((name, known[packed]))
        values.append(np.asarray(numbers, dtype="<f8").tobytes())
    head: dict[str, Any] = {"lengths": lengths, "metrics": metrics}
    spreads = {name: spread for name, spread in (uncertain or {}).items() if name in points}
    for name, (sd, n) in spreads.items():
        head.setdefault("uncertain", []).append(name)
        if not len(sd) == len(n) == len(points[name][0]):
            raise ValueError(f"{name}: as many sd and n as values")
        values += [np.asarray(sd, dtype="<f8").tobytes(), np.asarray(n, dtype="<i8").tobytes()]
    text = json.dumps(head).encode()
    return b"".join([MAGIC, struct.pack("<I", len(text)), text, *blocks, *values])


def packed(curves: Mapping[str, Curve]) -> bytes:
    """Pack whole curves, with the uncertainty of those that have one."""
    spreads = {n: (c.sd, c.n) for n, c in curves.items() if c.sd is not None and c.n is not None}
    return pack({name: (c.steps, c.values) for name, c in curves.items()}, spreads)


def unpack(data: bytes, only: str | None = None) -> dict[str, Curve]:
    """The curves of one batch; with `only`, just that metric, if it is there."""
    if data[:4] != MAGIC or len(data) < 8:
        raise Damaged("a curve batch does not begin with TWC1: the record is damaged")
    try:
        return _unpacked(data, only)
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
        raise Damaged(f"a curve batch cannot be read ({error}): the record is damaged") from None


def _unpacked(data: bytes, only: str | None) -> dict[str, Curve]:
    (size,) = struct.unpack_from("<I", data, 4)
    head = json.loads(data[8 : 8 + size])
    lengths: list[int] = head["lengths"]
    starts = [8 + size]
    for length in lengths:
        starts.append(starts[-1] + 8 * length)
    at = starts[-1]
    curves: dict[str, Curve] = {}
    for name, block in head["metrics"]:
        length = lengths[block]
        if only is None or name == only:
            curves[name] = Curve(
                np.frombuffer(data, "<i8", length, starts[block]),
                np.frombuffer(data, "<f8", length, at),
            )
        at += 8 * length
    blocks = dict(head["metrics"])
    for name in head.get("uncertain", ()):
        length = lengths[blocks[name]]
        if name in curves:
            sd = np.frombuffer(data, "<f8", length, at)
            n = np.frombuffer(data, "<i8", length, at + 8 * length)
            curves[name] = replace(curves[name], sd=sd, n=n)
        at += 16 * length
    return curves


def merge(batches: Iterable[Batch], only: str | None = None) -> dict[str, Curve]:
    """One curve per metric out of batches in the order they were told.

    A later attempt supersedes earlier points after its start; of one step's points the last counts.
    """
    parts: dict[str, list[Curve]] = {}
    attempt = 0
    for batch in batches:
        if batch.attempt != attempt:
            attempt = batch.attempt
            for name, own in parts.items():
                whole = _joined(own)
                parts[name] = [_taken(whole, whole.steps <= batch.start_step)]
        for name, curve in unpack(batch.points, only).items():
            parts.setdefault(name, []).append(curve)
    return {name: _ordered(_joined(own)) for name, own in parts.items()}


def _joined(parts: list[Curve]) -> Curve:
    """One curve after the other; NaN and 0 where some carry an uncertainty and others none."""
    if len(parts) == 1:
        return parts[0]
    steps, values = (np.concatenate([getattr(c, which) for c in parts]) for which in _POINT)
    if all(curve.sd is None or curve.n is None for curve in parts):
        return Curve(steps, values)
    sd = [np.full(len(c), np.nan) if c.sd is None else c.sd for c in parts]
    n = [np.zeros(len(c), dtype=np.int64) if c.n is None else c.n for c in parts]
    return Curve(steps, values, np.concatenate(sd), np.concatenate(n))


def _ordered(curve: Curve) -> Curve:
    """By step; of one step's points the one logged last stays."""
    steps = curve.steps
    if len(steps) < 2 or np.all(steps[1:] > steps[:-1]):
        return curve
    order = np.argsort(steps, kind="stable")  # so that the last one stays last
    last = np.append(steps[order][1:] != steps[order][:-1], True)
    return _taken(curve, order[last])


def _taken(curve: Curve, chosen: npt.NDArray[Any]) -> Curve:
    """The points at these places."""
    sd, n = (None if part is None else part[chosen] for part in (curve.sd, curve.n))
    return Curve(curve.steps[chosen], curve.values[chosen], sd, n)


class Curves(Mapping[str, Curve]):
    """The curves of a trial by metric, unpacked when first looked at."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        """Take the trial's batches in the order they were told."""
        self._batches = tuple(batches)
        self._merged: dict[str, Curve] | None = None

    def only(self, metric: str) -> Curve | None:
        """One metric alone, without unpacking the rest."""
        if self._merged is not None:
            return self._merged.get(metric)
        return merge(self._batches, only=metric).get(metric)

    def _all(self) -> dict[str, Curve]:
        if self._merged is None:
            self._merged = merge(self._batches)
        return self._merged

    def __getitem__(self, metric: str) -> Curve:
        """The curve of a metric."""
        return self._all()[metric]

    def __iter__(self) -> Iterator[str]:
        """The metrics, in the order they were first logged."""
        return iter(self._all())

    def __len__(self) -> int:
        """How many metrics were logged."""
        return len(self._all())

    def __repr__(self) -> str:
        """Each metric with its number of points."""
        return f"Curves({', '.join(f'{name}: {len(c)}' for name, c in self._all().items())})"
