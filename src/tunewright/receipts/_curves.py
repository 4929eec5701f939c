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
    own = float(value)
    return own if math.isfinite(own) else str(own)


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
    made = hashlib.sha256()
    made.update(np.array(data["steps"], dtype="<i8").tobytes())
    for name in ("values", "sd"):
        numbers = [_number_from(one) for one in data.get(name, ())]
        made.update(np.array(numbers, dtype="<f8").tobytes())
    made.update(np.array(data.get("n", ()), dtype="<i8").tobytes())
    return made.hexdigest()


def curves_data(curves: Mapping[str, Curve]) -> dict[str, Any]:
    """Every curve of a trial by its metric."""
    return {name: _curve_data(curve) for name, curve in curves.items()}


def curves_from(data: Mapping[str, Any]) -> Curves:
    """The curves of a trial as a receipt has them."""
    found: dict[str, Curve] = {}
    for name, own in data.items():
        steps = np.array(own["steps"], dtype=np.int64)
        values = np.array([_number_from(one) for one in own["values"]], dtype=np.float64)
        found[name] = Curve(steps, values)
        if "sd" in own and "n" in own:
            sd = np.array([_number_from(one) for one in own["sd"]], dtype=np.float64)
            found[name] = Curve(steps, values, sd, np.array(own["n"], dtype=np.int64))
    return Curves([Batch(1, 0, packed(found))]) if found else Curves(())


def broken_curves(trials: Iterable[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], str, bool]]:
    """(trial, metric, shorter) of every curve that contradicts its hash, length or last step."""
    found = []
    for trial in trials:
        for metric, own in trial["curves"].items():
            length = len(own["steps"])
            shorter = length < own["points"]
            last = own["steps"][-1] if length else None
            same = length == own["points"] == len(own["values"]) and last == own["last_step"]
            if not same or _curve_hash(own) != own["sha256"]:
                found.append((trial, metric, shorter))
    return found
