"""Curves in a receipt: the numbers as JSON, exactly, and a hash of each curve."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tunewright.store.curves import Batch, Curve, Curves, packed

_ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def _number_data(value: float) -> float | str:
    """A float as JSON has it: NaN and infinities are text.

    >>> _number_data(0.5), _number_data(float("inf"))
    (0.5, 'inf')
    """
    number = float(value)
    return number if math.isfinite(number) else str(number)


def _number_from(data: float | int | str) -> float:
    """The float that `_number_data` wrote."""
    return _ODD[data] if isinstance(data, str) else float(data)


def _curve_data(curve: Curve) -> dict[str, Any]:
    """One curve with its number of points and its hash."""
    steps = [int(step) for step in curve.steps]
    data: dict[str, Any] = {
        "points": len(steps),
        "last_step": steps[-1] if steps else None,
        "steps": steps,
        "values": [_number_data(value) for value in curve.values],
    }
    if curve.sd is not None and curve.n is not None:
        data["sd"] = [_number_data(value) for value in curve.sd]
        data["n"] = [int(count) for count in curve.n]
    return {**data, "sha256": _curve_hash(data)}


def _curve_hash(data: Mapping[str, Any]) -> str:
    """The hash of a curve's numbers: every bit of every value counts."""
    digest = hashlib.sha256()
    digest.update(np.array(data["steps"], dtype="<i8").tobytes())
    for name in ("values", "sd"):
        numbers = [_number_from(number) for number in data.get(name, ())]
        digest.update(np.array(numbers, dtype="<f8").tobytes())
    digest.update(np.array(data.get("n", ()), dtype="<i8").tobytes())
    return digest.hexdigest()


def curves_data(curves: Mapping[str, Curve]) -> dict[str, Any]:
    """Every curve of a trial by its metric."""
    return {name: _curve_data(curve) for name, curve in curves.items()}


def curves_from(data: Mapping[str, Any]) -> Curves:
    """The curves of a trial as a receipt has them."""
    curves: dict[str, Curve] = {}
    for name, logged in data.items():
        steps = np.array(logged["steps"], dtype=np.int64)
        values = np.array([_number_from(number) for number in logged["values"]], dtype=np.float64)
        curves[name] = Curve(steps, values)
        if "sd" in logged and "n" in logged:
            sd = np.array([_number_from(number) for number in logged["sd"]], dtype=np.float64)
            curves[name] = Curve(steps, values, sd, np.array(logged["n"], dtype=np.int64))
    return Curves([Batch(1, 0, packed(curves))]) if curves else Curves(())


def broken_curves(trials: Iterable[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], str, bool]]:
    """(trial, metric, shorter) of every curve that contradicts its hash, length or last step."""
    broken = []
    for trial in trials:
        for metric, logged in trial["curves"].items():
            length = len(logged["steps"])
            shorter = length < logged["points"]
            last = logged["steps"][-1] if length else None
            same = (
                length == logged["points"] == len(logged["values"]) and last == logged["last_step"]
            )
            if not same or _curve_hash(logged) != logged["sha256"]:
                broken.append((trial, metric, shorter))
    return broken
