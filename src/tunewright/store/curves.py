"""Curves: every number a trial logged, packed many to a record and never a row per point.

A batch is a magic word, a length, a JSON head and raw little-endian arrays:
`TWC1 | uint32 head length | head | step blocks (int64) | value blocks (float64)`. The head names
each metric with the step block it uses, since metrics logged together share their steps.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tunewright.errors import Damaged

Steps = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]
MAGIC = b"TWC1"


@dataclass(frozen=True, eq=False)
class Curve:
    """One metric of one trial: its value at each step it was logged."""

    steps: Steps
    values: Values

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


def pack(points: Mapping[str, tuple[Sequence[int] | Steps, Sequence[float] | Values]]) -> bytes:
    """Pack the points of several metrics: {metric: (steps, values)}."""
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
    head = json.dumps({"lengths": lengths, "metrics": metrics}).encode()
    return b"".join([MAGIC, struct.pack("<I", len(head)), head, *blocks, *values])


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
    return curves


def merge(batches: Iterable[Batch], only: str | None = None) -> dict[str, Curve]:
    """One curve per metric out of batches in the order they were told.

    A later attempt supersedes earlier points after its start; of one step's points the last counts.
    """
    steps: dict[str, list[Steps]] = {}
    values: dict[str, list[Values]] = {}
    attempt = 0
    for batch in batches:
        if batch.attempt != attempt:
            attempt = batch.attempt
            for name in steps:
                joined, numbers = np.concatenate(steps[name]), np.concatenate(values[name])
                kept = joined <= batch.start_step
                steps[name], values[name] = [joined[kept]], [numbers[kept]]
        for name, curve in unpack(batch.points, only).items():
            steps.setdefault(name, []).append(curve.steps)
            values.setdefault(name, []).append(curve.values)
    return {name: _joined(steps[name], values[name]) for name in steps}


def _joined(steps: list[Steps], values: list[Values]) -> Curve:
    joined, numbers = (
        (steps[0], values[0])
        if len(steps) == 1
        else (np.concatenate(steps), np.concatenate(values))
    )
    if len(joined) > 1 and not np.all(joined[1:] > joined[:-1]):
        # stable, so that of one step's points the one told last stays last
        order = np.argsort(joined, kind="stable")
        joined, numbers = joined[order], numbers[order]
        last = np.append(joined[1:] != joined[:-1], True)
        joined, numbers = joined[last], numbers[last]
    return Curve(joined, numbers)


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
