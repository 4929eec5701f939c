"""The metrics of an offline evaluation, as points of the trial's curves and as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tunewright.measured import Measured, read
from tunewright.store.curves import pack, plain

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
