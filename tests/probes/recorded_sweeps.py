"""The constant-learning-rate sweeps of DeepOBS as something to train: recorded curves, cut."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tunewright.probes.rate_sweep import Measured
from tunewright.store.curves import Curve

FOLDER = Path(__file__).parents[2].parent / "shared" / "data" / "deepobs"


class RecordedSweep:
    """All learning rates of one problem and optimizer with one seed, by epoch."""

    def __init__(self, task: str, optimizer: str, metric: str, seed: int = 42) -> None:
        import polars as pl

        configs = pl.read_parquet(FOLDER / task / "configs.parquet")
        configs = configs.filter(pl.col("optimizer") == optimizer)
        rates = dict(configs.select("config_id", "learning_rate").iter_rows())
        runs = pl.read_parquet(FOLDER / task / "runs.parquet").filter(pl.col("seed") == seed)
        status = dict(runs.select("config_id", "status").iter_rows())
        rows = pl.read_parquet(FOLDER / task / "curves.parquet").filter(
            (pl.col("seed") == seed) & (pl.col("metric") == metric) & (pl.col("step") > 0)
        )
        self.metric = metric
        self.curves: dict[float, Curve | None] = {}
        for (name,), own in rows.partition_by("config_id", as_dict=True).items():
            if name in rates:
                ordered = own.sort("step")
                curve = Curve(ordered["step"].to_numpy(), ordered["value"].to_numpy().astype(float))
                self.curves[rates[name]] = curve if status[name] == "completed" else None

    def nearest(self, rate: float) -> float:
        return min(self.curves, key=lambda known: abs(math.log(known / rate)))

    def train(self, rates: Sequence[float], length: int) -> Mapping[float, Measured]:
        """The nearest recorded learning rates, up to this many epochs."""
        found = {}
        for rate in rates:
            curve = self.curves[self.nearest(rate)]
            if curve is None or not np.isfinite(curve.values[:length]).all():
                found[rate] = Measured(None)
            else:
                cut = curve.steps <= length
                found[rate] = Measured({self.metric: Curve(curve.steps[cut], curve.values[cut])})
        return found
