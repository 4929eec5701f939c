"""Studies with a known truth: recorded tables, cut into two halves, and simulated surfaces.

Every data set has a *tuning* half, on which rules and constants are chosen, and a *held* half, on
which the reported figures are measured. Tables and random searches are split by a fixed permutation
of their configurations, surrogate tasks by their place in the alphabet, simulated worlds by seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import qmc
from search.onnx_network import Network

Floats = npt.NDArray[np.float64]
Half = Literal["tuning", "held"]

DATA = Path(__file__).parents[3] / "shared" / "data"
SPLIT = 20261116  # the seed of the permutation that halves a table
IMDB = "FixedTextRNNClassification_imdb_"
# set, task, column of the objective, 1 if less is better
TABLES = (
    ("fcnet", "naval_propulsion", "val_loss", 1),
    ("hpobench_mlp", "blood_transfusion", "val_acc", -1),
    ("hpobench_mlp", "kc1", "val_acc", -1),
    ("opda", "alexnet_imagenet", "best_valid_top_1", -1),
    ("taskset", IMDB + "patch128_LSTM128_avg_bs64", "best_valid_loss", 1),
    ("taskset", IMDB + "patch32_GRU64_avg_bs128", "best_valid_loss", 1),
    ("taskset", IMDB + "patch32_VRNN64_tanh_avg_bs128", "best_valid_loss", 1),
)
FROM_ONE = frozenset({"beta1", "beta2"})  # sampled on a log scale of 1 - value
SURROGATE = 4000  # random points of one surrogate task


@dataclass(frozen=True, eq=False)
class Table:
    """Configurations as positions from 0 to 1, with the loss of every recorded seed."""

    name: str
    columns: tuple[str, ...]
    ordered: npt.NDArray[np.bool_]  # which columns have an order
    units: Floats  # (configurations, columns)
    losses: Floats  # (configurations, seeds); infinite where it diverged

    def draw(self, random: np.random.Generator, count: int) -> tuple[Floats, Floats]:
        """A random study of so many feasible trials, one seed each."""
        rows = random.choice(len(self.units), min(4 * count, len(self.units)), replace=False)
        seeds = random.integers(0, self.losses.shape[1], len(rows))
        losses = self.losses[rows, seeds]
        kept = np.flatnonzero(np.isfinite(losses))[:count]
        return self.units[rows][kept], losses[kept]


def available() -> bool:
    """Whether the recorded tuning data lies beside the repository."""
    return DATA.exists()


def tables(half: Half) -> list[Table]:
    """This half of every recorded table and surrogate."""
    found = [_halved(_table(*one), half) for one in TABLES]
    tasks = sorted(p.parent.name for p in (DATA / "yahpo_rbv2_rpart").glob("*/space.json"))
    return found + [_surrogate(task) for task in tasks[half == "held" :: 2]]


def _halved(table: Table, half: Half) -> Table:
    order = np.random.default_rng(SPLIT).permutation(len(table.units))
    rows = order[: len(order) // 2] if half == "tuning" else order[len(order) // 2 :]
    name, columns, ordered = table.name, table.columns, table.ordered
    return Table(name, columns, ordered, table.units[rows], table.losses[rows])


@lru_cache
def _table(name: str, task: str, value: str, sign: int) -> Table:
    import polars

    folder = DATA / name / task
    space = json.loads((folder / "space.json").read_text())["parameters"]
    configs = polars.read_parquet(folder / "configs.parquet").sort("config_id")
    runs = polars.read_parquet(folder / "runs.parquet").sort("config_id", "seed")
    seeds = runs.height // configs.height
    losses = sign * runs[value].cast(polars.Float64).fill_null(np.inf * sign).to_numpy()
    losses = np.where(np.isfinite(losses), losses, np.inf).reshape(configs.height, seeds)
    if "status" in runs.columns:
        completed = (runs["status"] == "completed").to_numpy().reshape(losses.shape)
        losses = np.where(completed, losses, np.inf)
    kept = [p for p in space if configs[p["name"]].n_unique() > 1]
    units = np.stack([_positions(p, configs[p["name"]].to_list()) for p in kept], axis=1)
    ordered = np.array([p["type"] != "categorical" for p in kept])
    return Table(f"{name} {task[:28]}", tuple(p["name"] for p in kept), ordered, units, losses)


def _positions(parameter: dict, values: list) -> Floats:
    choices = parameter.get("choices")
    if choices:
        places = [choices.index(v) for v in values]
        return np.array(places, dtype=float) / (len(choices) - 1)
    own = np.array(values, dtype=float)
    if parameter["name"] in FROM_ONE:
        own = -np.log(1 - own)
    elif parameter.get("log"):
        own = np.log(own)
    return np.asarray((own - own.min()) / (own.max() - own.min()))


@lru_cache
def _surrogate(task: str) -> Table:
    base = DATA / "yahpo_rbv2_rpart"
    meta = json.loads((base / "surrogate.json").read_text())
    own = json.loads((base / task / "space.json").read_text())
    space = own["parameters"]
    units = qmc.Halton(len(space), rng=np.random.default_rng(SPLIT)).random(SURROGATE)
    whole = {meta["instance_name"]: own["instance"], **own["fidelity_default"]}
    rows = [
        {p["name"]: _value(p, u) for p, u in zip(space, place, strict=True)} | whole
        for place in units
    ]
    codes = [[meta["encoding"][k][str(row[k])] for k in meta["cat_names"]] for row in rows]
    numbers = [[row[k] for k in meta["cont_names"]] for row in rows]
    out = _network()(x_cat=np.array(codes, np.int32), x_cont=np.array(numbers, np.float32))
    losses = out[:, meta["y_names"].index("logloss")].astype(float)[:, None]
    ordered = np.array([p["type"] != "categorical" for p in space])
    for column in np.flatnonzero(~ordered):
        many = len(space[column]["choices"])
        units[:, column] = np.minimum((units[:, column] * many).astype(int), many - 1) / (many - 1)
    return Table(f"yahpo {task}", tuple(p["name"] for p in space), ordered, units, losses)


@lru_cache
def _network() -> Network:
    return Network(DATA / "yahpo_rbv2_rpart" / "model.onnx")


def _value(parameter: dict, unit: float) -> float | int | str:
    if parameter["type"] == "categorical":
        choices = parameter["choices"]
        return choices[min(int(unit * len(choices)), len(choices) - 1)]
    low, high = parameter["low"], parameter["high"]
    value = low * (high / low) ** unit if parameter.get("log") else low + unit * (high - low)
    return round(value) if parameter["type"] == "int" else float(value)


@dataclass(frozen=True)
class Surface:
    """A simulated surface: one axis rules, the others add their share; some do not matter."""

    name: str
    weights: tuple[float, ...]  # of the axes; 0: without effect
    shape: Callable[[Floats], Floats]  # of the distance from the optimum
    ceiling: float | None = None  # the loss of a trial that learned nothing
    noise: float = 0.02

    def study(
        self, seed: int, count: int, optimum: Floats | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """Positions, losses and the optimum of one scrambled Halton study."""
        random = np.random.default_rng([seed, count, len(self.weights)])
        at = random.uniform(0.2, 0.8, len(self.weights)) if optimum is None else optimum
        halton = qmc.Halton(len(self.weights), scramble=True, rng=random)
        units = halton.random(count)
        losses = (np.array(self.weights) * self.shape(np.abs(units - at))).sum(axis=1)
        if self.ceiling is not None:
            losses = np.minimum(losses, self.ceiling)
        return units, losses + self.noise * random.normal(size=count), at


def square(distance: Floats) -> Floats:
    """A bowl."""
    return np.asarray(distance**2)


def absolute(distance: Floats) -> Floats:
    """A wedge."""
    return np.asarray(distance / 2)


def steep(distance: Floats) -> Floats:
    """Flat around the optimum, then steep."""
    return np.asarray(2 * distance**4)


def surfaces() -> Iterator[Surface]:
    """One ruling axis among 4, 6 and 8; bowls, wedges, ceilings."""
    for axes in (4, 6, 8):
        for second in (0.3, 0.1):
            weights = (1.0, second, second, *(0.0,) * (axes - 3))
            for shape in (square, absolute, steep):
                name = f"{axes} axes, {second:g}, {shape.__name__}"
                yield Surface(name, weights, shape)
            yield Surface(f"{axes} axes, {second:g}, ceiling", weights, square, ceiling=0.1)


def seeds(half: Half, count: int) -> range:
    """Seeds of simulated studies: even ones for tuning, odd ones held."""
    return range(int(half == "held"), 2 * count, 2)
