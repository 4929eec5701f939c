"""Curves: every number a trial logged, packed many to a record and never a row per point.

A batch is a magic word, a checksum, a length, a JSON head and raw little-endian arrays:
`TWC2 | uint32 crc32 | uint32 head length | head | step blocks (int64) | value blocks (float64)`.
The checksum covers everything after it and is verified on every reading, since a database does not
notice a bit that flips inside a blob. Batches of an older program (`TWC1`) have none and are read
as they are. The head names each metric with the step block it uses, since metrics logged together
share their steps. A metric may carry the uncertainty of its values: the head then names it under
`uncertain`, and its standard deviations (float64) and counts (int64) follow all values. A reader
that does not know them passes over them.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tunewright.errors import Damaged
from tunewright.measured import Measured, read

Steps = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]
MAGIC = b"TWC2"
UNCHECKED = b"TWC1"  # what an older program wrote: without a checksum
_POINT = ("steps", "values")


@dataclass(frozen=True, eq=False)
class Curve:
    """One metric of one trial: its value at each step it was logged."""

    steps: Steps
    values: Values
    sd: Values | None = None  # the standard deviation of each value; NaN: not known
    n: Steps | None = None  # examples that each value was measured on; 0: not known

    def __len__(self) -> int:
        """How many points it has."""
        return len(self.steps)

    def measurement(self, place: int) -> Measured | None:
        """The point at a place with its uncertainty; None where that is not known."""
        if self.sd is None or not np.isfinite(self.sd[place]):
            return None
        n = None if self.n is None or self.n[place] < 1 else int(self.n[place])
        return Measured(float(self.values[place]), sd=float(self.sd[place]), n=n)

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
    body = b"".join([struct.pack("<I", len(text)), text, *blocks, *values])
    return b"".join([MAGIC, struct.pack("<I", zlib.crc32(body)), body])


Logged = dict[str, tuple[list[int], list[float | Measured]]]  # by metric, as a program logs
Spreads = dict[str, tuple[list[float], list[int]]]  # sd and n, by metric


def plain(logged: Logged) -> tuple[dict[str, tuple[list[int], list[float]]], Spreads]:
    """Logged points as numbers, and the uncertainty of the metrics that have one.

    >>> plain({"e": ([1, 2], [0.5, Measured(0.4, sd=0.1, n=9)])})
    ({'e': ([1, 2], [0.5, 0.4])}, {'e': ([nan, 0.1], [0, 9])})
    """
    points: dict[str, tuple[list[int], list[float]]] = {}
    spreads: Spreads = {}
    for name, (steps, values) in logged.items():
        if not any(issubclass(kind, Measured) for kind in set(map(type, values))):
            points[name] = steps, values  # type: ignore[assignment]
            continue
        known = [value if isinstance(value, Measured) else None for value in values]
        points[name] = steps, [float(value) for value in values]
        spreads[name] = (
            [np.nan if measured is None else measured.sd for measured in known],
            [0 if measured is None else measured.n or 0 for measured in known],
        )
    return points, spreads


def packed(curves: Mapping[str, Curve]) -> bytes:
    """Pack whole curves, with the uncertainty of those that have one."""
    spreads = {n: (c.sd, c.n) for n, c in curves.items() if c.sd is not None and c.n is not None}
    return pack({name: (c.steps, c.values) for name, c in curves.items()}, spreads)


def unpack(data: bytes, only: str | None = None) -> dict[str, Curve]:
    """The curves of one batch; with `only`, just that metric, if it is there.

    A batch whose checksum is wrong, or that cannot be read, is Damaged.
    """
    try:
        return _read_batch(data, _head_at(data), only)
    except (
        ValueError,
        LookupError,
        TypeError,
        ArithmeticError,
        RecursionError,
        struct.error,
    ) as error:
        raise Damaged("curve.unreadable", error=error) from None


def _head_at(data: bytes) -> int:
    """Where the length of the head stands, once the checksum before it was found right."""
    if data[:4] == UNCHECKED:
        return 4
    if data[:4] != MAGIC:
        raise ValueError("it does not begin with TWC2")
    (checksum,) = struct.unpack_from("<I", data, 4)
    if zlib.crc32(memoryview(data)[8:]) != checksum:
        raise ValueError("its checksum is wrong")
    return 8


def _read_batch(data: bytes, at: int, only: str | None) -> dict[str, Curve]:
    (size,) = struct.unpack_from("<I", data, at)
    head = json.loads(data[at + 4 : at + 4 + size])
    lengths: list[int] = head["lengths"]
    starts = [at + 4 + size]
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
    """One curve per metric out of batches in the order they were logged.

    A later attempt supersedes earlier points after its start; of one step's points the last counts.
    """
    parts: dict[str, list[Curve]] = {}
    attempt = 0
    for batch in batches:
        if batch.attempt != attempt:
            attempt = batch.attempt
            for name, pieces in parts.items():
                whole = _concatenate(pieces)
                parts[name] = [_select(whole, whole.steps <= batch.start_step)]
        for name, curve in unpack(batch.points, only).items():
            parts.setdefault(name, []).append(curve)
    return {name: _by_step(_concatenate(pieces)) for name, pieces in parts.items()}


def _concatenate(parts: list[Curve]) -> Curve:
    """One curve after the other; NaN and 0 where some carry an uncertainty and others none."""
    if len(parts) == 1:
        return parts[0]
    steps, values = (np.concatenate([getattr(c, which) for c in parts]) for which in _POINT)
    if all(curve.sd is None or curve.n is None for curve in parts):
        return Curve(steps, values)
    sd = [np.full(len(c), np.nan) if c.sd is None else c.sd for c in parts]
    n = [np.zeros(len(c), dtype=np.int64) if c.n is None else c.n for c in parts]
    return Curve(steps, values, np.concatenate(sd), np.concatenate(n))


def _by_step(curve: Curve) -> Curve:
    """By step; of one step's points the one logged last stays."""
    steps = curve.steps
    if len(steps) < 2 or np.all(steps[1:] > steps[:-1]):
        return curve
    order = np.argsort(steps, kind="stable")  # so that the last one stays last
    last = np.append(steps[order][1:] != steps[order][:-1], True)
    return _select(curve, order[last])


def _select(curve: Curve, chosen: npt.NDArray[Any]) -> Curve:
    """The points at these places."""
    sd, n = (None if part is None else part[chosen] for part in (curve.sd, curve.n))
    return Curve(curve.steps[chosen], curve.values[chosen], sd, n)


class Curves(Mapping[str, Curve]):
    """The curves of a trial by metric, unpacked when first looked at."""

    def __init__(self, batches: Sequence[Batch], of: str = "") -> None:
        """Take the trial's batches in logged order; `of` names it if one is damaged."""
        self._batches = tuple(batches)
        self._of = of
        self._merged: dict[str, Curve] | None = None

    def only(self, metric: str) -> Curve | None:
        """One metric alone, without unpacking the rest."""
        if self._merged is not None:
            return self._merged.get(metric)
        return self._read(metric).get(metric)

    @property
    def last_step(self) -> int | None:
        """The last step at which anything was logged; None: nothing was."""
        return max((int(c.steps[-1]) for c in self._all().values() if len(c)), default=None)

    def _all(self) -> dict[str, Curve]:
        if self._merged is None:
            self._merged = self._read(None)
        return self._merged

    def _read(self, only: str | None) -> dict[str, Curve]:
        try:
            return merge(self._batches, only)
        except Damaged as error:
            if not self._of:
                raise
            raise Damaged("curve.damaged", error=error, trial=self._of) from None

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


# ---- The metrics of an offline evaluation, as points of the trial's curves and as plain data.


Metrics = Mapping[str, float | Measured]


def packed_metrics(step: int, metrics: Metrics) -> bytes:
    """The metrics of an evaluation as points of its trial."""
    return pack(*plain({name: ([step], [value]) for name, value in metrics.items()}))


def metrics_data(metrics: Metrics) -> dict[str, Any]:
    """Metrics as the store has them."""
    return {n: v.to_data() if isinstance(v, Measured) else v for n, v in metrics.items()}


def metrics_from(data: Mapping[str, Any]) -> dict[str, float | Measured]:
    """What `metrics_data` made; null is a value that was not finite.

    >>> metrics_from({"e": {"value": 0.1, "sd": 0.01, "n": 9}, "loss": None})
    {'e': Measured(value=0.1, sd=0.01, n=9), 'loss': nan}
    """
    return {name: _metric(value) for name, value in data.items()}


def _metric(value: Any) -> float | Measured:
    nan = float("nan")
    if isinstance(value, dict):
        known: float | Measured = read({**value, "value": nan} if value["value"] is None else value)
        return known
    return nan if value is None else float(value)
