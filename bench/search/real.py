"""Real tuning tasks: complete tables, forests fitted to recorded trials, and stored surrogates.

Read from the arrays that `python -m bench.search prepare` writes; without them this list is empty.
Ordered values of a grid are whole numbers to every contestant (its position), others are choices. A
trial of a table sees one recorded seed; regret is by the mean over the seeds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tunewright as tw

from .bounded import slices
from .onnx_network import Network
from .problem import Configuration, Problem

PREPARED = Path(__file__).parents[2] / "out" / "search"
ALEXNET = "alexnet_imagenet"
TASKSET = {
    "rnn_gru64": "FixedTextRNNClassification_imdb_patch32_GRU64_avg_bs128",
    "rnn_lstm128": "FixedTextRNNClassification_imdb_patch128_LSTM128_avg_bs64",
    "rnn_vanilla64": "FixedTextRNNClassification_imdb_patch32_VRNN64_tanh_avg_bs128",
}
SHORT = {"rnn_gru64_short": (TASKSET["rnn_gru64"], 2000)}  # the validation loss at a step
RESNET = "resnet_tinyimagenet"
YAHPO = {
    f"rpart_{task}": task
    for task in ("6", "42", "1457", "23381", "334", "1489", "40978", "41138", "41212")
}
# surrogates have no noise of their own: a second problem of two of them, with some
NOISY = {"rpart_6_noisy": ("6", 0.06), "rpart_42_noisy": ("42", 0.12)}

# what was searched, by the scale it was sampled on
_TASKSET_SPACE = {
    "learning_rate": tw.log(1e-8, 10.0),
    "beta1": tw.ranges.log_from_one(0.0, 0.9999),
    "beta2": tw.ranges.log_from_one(0.0, 0.999999),
    "epsilon": tw.log(1e-10, 1000.0),
    "l1": tw.log(1e-8, 10.0),
    "l2": tw.log(1e-8, 10.0),
    "linear_decay": tw.log(1e-7, 1e-4),
    "exponential_decay": tw.log(1e-6, 1e-3),
}
_ALEXNET_SPACE = {
    "epochs": tw.integers(20, 100),
    "batch": tw.choice(128, 256, 512, 1024),
    "lr": tw.log(0.005, 50.0),
    "lr_peak": tw.linear(0.0, 0.8),  # share of the epochs
    "momentum": tw.linear(0.7, 1.0),
    "weight_decay": tw.log(1e-6, 1e-3),
    "label_smoothing": tw.linear(0.0, 0.5),
}

_RESNET_SPACE = {
    "num_blocks": tw.integers(1, 17),
    "num_filters": tw.integers(2, 32),
    "filter_size": tw.choice(3, 5, 7),
}

Place = Callable[[Mapping[str, Any]], float]


def _clipped(x: float) -> float:
    return min(max(x, 0.0), 1.0)


def _place(name: str, range: Any) -> Place:
    """The position of a recorded value in the unit interval; recorded ones may touch the bounds."""
    if name == "lr_peak":
        return lambda row: _clipped(row["lr_peak_epoch"] / row["epochs"] / 0.8)
    if name == "batch":
        return lambda row: math.log2(row["batch_size"] / 128) / 3
    if name == "filter_size":
        return lambda row: range.unit(row[name])
    return lambda row: range.unit(min(max(row[name], range.low), range.high))


PLACES: Mapping[str, Mapping[str, Place]] = {
    **{n: {k: _place(k, r) for k, r in _TASKSET_SPACE.items()} for n in (*TASKSET, *SHORT)},
    RESNET: {k: _place(k, r) for k, r in _RESNET_SPACE.items()},
    ALEXNET: {k: _place(k, r) for k, r in _ALEXNET_SPACE.items()},
}


@dataclass(frozen=True)
class Table:
    """Every grid point with its seeds."""

    path: Path
    names: tuple[str, ...]  # of the axes, in order
    choices: Mapping[str, tuple[str, ...]]  # axes that are no numbers

    @cached_property
    def values(self) -> npt.NDArray[np.float32]:
        """By position on every axis, and seed last."""
        array: npt.NDArray[np.float32] = np.load(self.path)["values"]
        return array

    def _at(self, c: Configuration) -> tuple[int, ...]:
        return tuple(
            self.choices[n].index(str(c[n])) if n in self.choices else int(c[n])  # type: ignore[arg-type]
            for n in self.names
        )

    def mean(self, c: Configuration) -> float:
        """Over the seeds."""
        return float(self.values[self._at(c)].mean(dtype=np.float64))

    def one(self, c: Configuration, number: int) -> float:
        """One of the seeds."""
        seeds = self.values[self._at(c)]
        return float(seeds[number % len(seeds)])


@dataclass(frozen=True)
class Forest:
    """The mean over trees that are stored as arrays."""

    path: Path
    ranges: Mapping[str, Any]
    exponential: bool  # the trees were fitted to the logarithm

    @cached_property
    def _arrays(self) -> Mapping[str, npt.NDArray[Any]]:
        with np.load(self.path) as stored:
            return dict(stored)

    def _mean(self, which: str, unit: npt.NDArray[np.float32]) -> float:
        a = {
            k: self._arrays[f"{which}_{k}"]
            for k in ("feature", "threshold", "left", "right", "leaf")
        }
        rows = np.arange(len(a["feature"]))
        node = np.zeros(len(rows), np.int32)
        while (feature := a["feature"][rows, node]).max() >= 0:
            goes_left = unit[feature] <= a["threshold"][rows, node]
            node = np.where(goes_left, a["left"][rows, node], a["right"][rows, node])
        return float(a["leaf"][rows, node].mean(dtype=np.float64))

    def __call__(self, c: Configuration) -> float | None:
        """The objective, or None where most trees say that it diverges."""
        unit = np.array(
            [
                math.log2(int(c[n]) / 128) / 3 if n == "batch" else r.unit(c[n])  # type: ignore[arg-type]
                for n, r in self.ranges.items()
            ],
            np.float32,
        )
        if self._mean("feasible", unit) < 0.5:
            return None
        value = self._mean("value", unit)
        return math.exp(value) if self.exponential else value


@dataclass(frozen=True)
class Surrogate:
    """The logarithmic loss of a decision tree on one data set, by YAHPO-gym's network."""

    task: str

    def __call__(self, c: Configuration) -> float:
        """At the whole training set and ten repetitions."""
        meta = _surrogate_names()
        full = {**c, meta["instance_name"]: self.task, "trainsize": 1.0, "repl": 10}
        codes = [[meta["encoding"][k][str(full[k])] for k in meta["cat_names"]]]
        numbers = [[full[k] for k in meta["cont_names"]]]
        out = _network()(x_cat=np.array(codes, np.int32), x_cont=np.array(numbers, np.float32))
        return float(out[0, meta["y_names"].index("logloss")])


@cache
def _surrogate_names() -> dict[str, Any]:
    names: dict[str, Any] = json.loads((PREPARED / "surrogate.json").read_text())
    return names


@cache
def _network() -> Network:
    return Network(PREPARED / "model.onnx")


def _surrogates() -> list[Problem]:
    spaces = json.loads((PREPARED / "yahpo.json").read_text())
    return [
        Problem(name, "real", {p["name"]: _range(p) for p in spaces[name]}, Surrogate(task))
        for name, task in YAHPO.items()
    ] + [
        Problem(
            name,
            "real",
            {p["name"]: _range(p) for p in spaces[f"rpart_{task}"]},
            Surrogate(task),
            noise=noise,
        )
        for name, (task, noise) in NOISY.items()
    ]


def _range(p: Mapping[str, Any]) -> Any:
    if p["type"] == "categorical":
        return tw.choice(*p["choices"])
    if p["type"] == "int":
        return tw.integers(p["low"], p["high"], log=p["log"])
    return (tw.log if p["log"] else tw.linear)(p["low"], p["high"])


def _table(name: str, axes: Mapping[str, Any], logarithmic: bool = False) -> Problem:
    """`axes`: how many ordered values there are, or the choices."""
    choices = {n: tuple(a) for n, a in axes.items() if not isinstance(a, int)}
    table = Table(PREPARED / f"{name}.npz", tuple(axes), choices)
    ranges = {
        n: tw.integers(0, a - 1) if isinstance(a, int) else tw.choice(*a) for n, a in axes.items()
    }
    return Problem(name, "real", ranges, table.mean, draw=table.one, logarithmic=logarithmic)


def real() -> tuple[Problem, ...]:
    """All of them, or none when the arrays have not been prepared."""
    if not (PREPARED / "yahpo.json").exists():
        return ()
    mlp = {"alpha": 10, "batch": 10, "depth": 3, "learning_rate": 10, "width": 10}
    activation = ("relu", "tanh")
    fcnet = {
        "activation_1": activation,
        "activation_2": activation,
        "batch": 4,
        "dropout_1": 3,
        "dropout_2": 3,
        "init_lr": 6,
        "lr_schedule": ("cosine", "const"),
        "units_1": 6,
        "units_2": 6,
    }
    forests = [
        Problem(n, "real", _TASKSET_SPACE, Forest(PREPARED / f"{n}.npz", _TASKSET_SPACE, True))
        for n in (*TASKSET, *SHORT)
    ]
    resnet = Forest(PREPARED / f"{RESNET}.npz", _RESNET_SPACE, False)
    alexnet = Forest(PREPARED / f"{ALEXNET}.npz", _ALEXNET_SPACE, False)
    return (
        _table("mlp_blood_transfusion", mlp),
        _table("mlp_kc1", mlp),
        _table("fcnet_naval", fcnet, logarithmic=True),
        *forests,
        Problem(RESNET, "real", _RESNET_SPACE, resnet),
        Problem(ALEXNET, "real", _ALEXNET_SPACE, alexnet),
        *_surrogates(),
        *slices(PREPARED),
    )
