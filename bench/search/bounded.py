"""Bounded, always feasible, noisy tasks to build on: ridges that improve towards a corner.

As complete tables of small networks look: a loss between a floor and chance, an optimal learning
rate that moves with batch size and width, a slow gain along that ridge up to a corner of the box,
a few hyperparameters that hardly matter, and noise as large as the differences among good trials.
The parameters are drawn once, from the number of the problem. Slices of a real table stand beside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tunewright as tw

from .problem import Configuration, Problem

CONTINUOUS = {"rate": tw.log(1e-4, 1.0), "batch": tw.log(8, 512), "width": tw.log(16, 1024)}
GRID = {"rate": tw.integers(0, 9), "batch": tw.integers(0, 5), "width": tw.integers(0, 7)}
NOISES = (0.03, 0.06, 0.1, 0.15)


@dataclass(frozen=True)
class Ridge:
    """A loss whose best learning rate moves with batch size and width."""

    number: int
    space: dict[str, Any]

    def __call__(self, configuration: Configuration) -> float:
        """Between a floor and chance."""
        random = np.random.default_rng([0x21D6E, self.number])
        at = {
            n: (r.unit(configuration[n]) if n != "kind" else float(configuration[n] == "b"))
            for n, r in self.space.items()
        }
        along, across = random.uniform(-0.6, 0.6, 2)
        middle = random.uniform(0.35, 0.65)
        narrow = random.uniform(0.12, 0.3)
        gains = random.uniform(0.1, 0.8, 2) * random.choice([-1.0, 1.0], 2)
        off = at["rate"] - middle - along * (at["batch"] - 0.5) - across * (at["width"] - 0.5)
        reached = math.exp(-((off / narrow) ** 2))
        better = 0.5 + 0.5 * float(gains @ (at["batch"] - 0.5, at["width"] - 0.5))
        loss = 1.0 - reached * min(max(better, 0.05), 1.0)
        for name in list(at)[3:]:
            weight, best = 0.15 * random.random() ** 2, random.random()
            loss += weight * (at[name] - best) ** 2
        return loss


def _ridge(number: int) -> Problem:
    grid = number % 2 == 0
    space: dict[str, Any] = dict(GRID if grid else CONTINUOUS)
    for extra in range(1 + number % 4):
        space[f"other_{extra}"] = tw.integers(0, 4) if grid else tw.linear(0.0, 1.0)
    if grid:
        space["kind"] = tw.choice("a", "b")
    ridge = Ridge(number, space)
    return Problem(f"ridge_{number}", "real", space, ridge, noise=NOISES[number % len(NOISES)])


BOUNDED = tuple(_ridge(number) for number in range(8))


@dataclass(frozen=True)
class Slice:
    """A table with one axis held at one place."""

    path: Path
    names: tuple[str, ...]
    axis: int
    place: int

    @property
    def values(self) -> Any:
        """By position on the axes that are left, and seed last."""
        return _slice(self.path, self.axis, self.place)

    def mean(self, c: Configuration) -> float:
        """Over the seeds."""
        return float(self.values[tuple(int(c[n]) for n in self.names)].mean(dtype=np.float64))  # type: ignore[arg-type]

    def one(self, c: Configuration, number: int) -> float:
        """One of the seeds."""
        seeds = self.values[tuple(int(c[n]) for n in self.names)]  # type: ignore[arg-type]
        return float(seeds[number % len(seeds)])


_READ: dict[tuple[Path, int, int], Any] = {}


def _slice(path: Path, axis: int, place: int) -> Any:
    key = (path, axis, place)
    if key not in _READ:
        _READ[key] = np.take(np.load(path)["values"], place, axis=axis)
    return _READ[key]


def slices(folder: Path) -> list[Problem]:
    """Of the building table: depth held at each of its values, and two widths."""
    sizes = {"alpha": 10, "batch": 10, "depth": 3, "learning_rate": 10, "width": 10}
    names = list(sizes)
    made = []
    for held, place in (("depth", 0), ("depth", 1), ("depth", 2), ("width", 3), ("width", 9)):
        left = tuple(n for n in names if n != held)
        table = Slice(folder / "mlp_blood_transfusion.npz", left, names.index(held), place)
        ranges = {n: tw.integers(0, sizes[n] - 1) for n in left}
        name = f"mlp_blood_{held}_{place}"
        made.append(Problem(name, "real", ranges, table.mean, draw=table.one))
    return made
