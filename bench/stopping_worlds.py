"""Training curves for bench/stopping.py: recorded sets of ../shared/data, and simulated ones."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tunewright.stats.early_stopping import Array

DATA = Path(__file__).parents[2] / "shared" / "data"


@dataclass(frozen=True)
class World:
    """Recorded curves, smaller is better, with the positions of their configurations."""

    name: str
    curves: Array  # a row per configuration, a column per evaluation; NaN from divergence on
    places: Array  # positions in the unit cube

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Evaluations until the end or the first one that is not finite."""
        bad = ~np.isfinite(self.curves)
        return np.where(bad.any(axis=1), bad.argmax(axis=1), self.curves.shape[1])


def worlds(only: list[str]) -> list[World]:
    """Every set that was asked for: recorded ones where they are there, and the simulated ones."""
    made: list[World] = []
    if DATA.exists():
        sys.path.insert(0, str(DATA))
        import load

        for task in load.tasks("taskset"):
            made.append(_recorded(load, "taskset", task, f"taskset_{task.split('_')[3]}"))
        made.append(_recorded(load, "baker2018", "deep_resnets_tinyimagenet", "baker2018"))
        made.append(_recorded(load, "opda", "alexnet_imagenet", "opda_alexnet"))
        for task in load.tasks("deepobs"):
            made.append(_recorded(load, "deepobs", task, f"deepobs_{task}"))
    made += [simulated("crossing_mild", 0.15), simulated("crossing_strong", 0.6)]
    return [world for world in made if not only or world.name in only]


def _recorded(load: Any, name: str, task: str, shown: str) -> World:
    import polars as pl

    space = load.space(name, task)
    objective = space["objective"]
    sign = 1.0 if objective["direction"] == "minimize" else -1.0
    names = [p["name"] for p in space["parameters"]]
    rows = load.frame(name, task, "configs").iter_rows(named=True)
    configurations = {row["config_id"]: [row[n] for n in names] for row in rows}
    frame = load.frame(name, task, "curves").filter(pl.col("metric") == objective["metric"])
    curves, settings = [], []
    for (config, _), group in frame.group_by("config_id", "seed", maintain_order=True):
        values = sign * group.sort("step")["value"].to_numpy().astype(float)
        settings.append(configurations[config])
        curves.append(values)
    if name == "opda":  # the number of epochs is searched: shares of each trial's own schedule
        curves = [
            _by_share(c, s[names.index("epochs")]) for c, s in zip(curves, settings, strict=True)
        ]
    return World(shown, np.array(curves), _positions(settings))


def _by_share(values: Array, planned: int, points: int = 50) -> Array:
    at = np.maximum(1, np.round(np.arange(1, points + 1) / points * planned)).astype(int) - 1
    return np.array([values[i] if i < len(values) else np.nan for i in at])


def _positions(settings: list[list[Any]]) -> Array:
    """Ranks of numbers, and a column per choice."""
    columns: list[Array] = []
    for column in zip(*settings, strict=True):
        if isinstance(column[0], str):
            columns += [np.array([v == c for v in column], float) for c in sorted(set(column))]
        else:
            kinds, places = np.unique(np.array(column, float), return_inverse=True)
            columns.append(places / max(1, len(kinds) - 1))
    return np.stack(columns, axis=1)


def simulated(name: str, strength: float, count: int = 1000, points: int = 50) -> World:
    """Cosine decay: a larger rate is worse until late, by `strength`, and ends better up to 0.7."""
    rng = np.random.default_rng(7)
    places = rng.uniform(size=(count, 3))
    rate, time = places[:, :1], np.arange(1, points + 1)[None, :] / points
    decay = 0.5 * (1 + np.cos(np.pi * time))
    final = 0.3 + 1.2 * (rate - 0.7) ** 2 + 0.2 * (places[:, 1:2] - 0.4) ** 2
    final = final + 0.01 * rng.normal(size=(count, 1))
    fast = 0.8 * np.exp(-time * (6 + 14 * (1 - rate)))
    wander = strength * rate * decay * (1 + 0.3 * rng.normal(size=(count, 1)))
    noise = 0.01 * np.maximum(decay, 0.1) * rng.normal(size=(count, points))
    curves = final + fast + wander + noise
    curves[(rate > 0.93)[:, 0], 5:] = np.nan  # diverged
    return World(name, curves, places)
