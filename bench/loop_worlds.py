"""Problems as users meet them, out of recorded tables: sound, cut too small, and noisy.

Kind *a* is a table's whole space. Kind *b* is the same space cut so that the best configuration
lies 0.5 to 1.5 decades outside, on one or two of the axes that are searched on a log scale; a cut
counts only if the best inside it is worse by 0.05 of (median - best). Kind *c* is a table of error
rates, seen through a validation set of 100 examples drawn afresh for every training.

Complete tables (HPOBench, fcnet) answer with the nearest grid point and one recorded seed drawn at
random; forests fitted to recorded trials (TaskSet, OPDA) with noise of 0.02 of (median - best).
Values outside a table's own range are those of its edge. Tables have no curves: a trial falls
exponentially to its recorded value, at a rate that differs by a factor of about 2 between
configurations, and a trial that diverges does so half way. A table's batch size is called `group`,
its epochs `duration`: `tune` refuses to search those, and every way is to search the same space.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from search.problem import references
from search.real import ALEXNET, PREPARED, TASKSET, Forest

import tunewright as tw
from search import real

Kind = Literal["a", "b", "c"]
Configuration = Mapping[str, Any]
Floats = npt.NDArray[np.float64]
STEPS, EVERY = 100, 10  # of a training on a table, and of its evaluations
EXAMPLES = 100  # of the small validation set
FOREST_NOISE = 0.02
COSTS = 0.05  # by which a cut must matter, as a share of (median - best)
LEFT = 1.5  # decades of an axis that a cut leaves at least
SAMPLE = 8000
GRIDS: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "mlp": {
        "weight_decay": tuple(np.logspace(-8, 0, 10)),
        "group": (4, 6, 10, 16, 25, 40, 64, 101, 161, 256),
        "depth": (1, 2, 3),
        "learning_rate": tuple(np.logspace(-5, 0, 10)),
        "width": (16, 25, 40, 64, 101, 161, 256, 406, 645, 1024),
    },
    "fcnet": {
        "activation_1": ("relu", "tanh"),
        "activation_2": ("relu", "tanh"),
        "group": (8, 16, 32, 64),
        "dropout_1": (0.0, 0.3, 0.6),
        "dropout_2": (0.0, 0.3, 0.6),
        "learning_rate": (0.0005, 0.001, 0.005, 0.01, 0.05, 0.1),
        "schedule": ("cosine", "const"),
        "units_1": (16, 32, 64, 128, 256, 512),
        "units_2": (16, 32, 64, 128, 256, 512),
    },
}
_SPELLED = {"lr": "learning_rate", "batch": "group", "epochs": "duration"}
LINEAR = {"depth", "dropout_1", "dropout_2"}
TASKS: Mapping[Kind, tuple[str, ...]] = {
    "a": ("mlp_blood_transfusion", "mlp_kc1", "fcnet_naval", "rnn_gru64", "rnn_lstm128", ALEXNET),
    "b": ("mlp_blood_transfusion", "mlp_kc1", "rnn_gru64", "rnn_lstm128", "rnn_vanilla64", ALEXNET),
    "c": ("mlp_blood_transfusion", "mlp_kc1", ALEXNET),
}


@dataclass(frozen=True, eq=False)
class Grid:
    """A complete table on the scales a user would give."""

    name: str
    axes: Mapping[str, tuple[Any, ...]]
    logarithmic: bool

    @functools.cached_property
    def values(self) -> Floats:
        """By position on every axis, and seed last."""
        table = np.load(PREPARED / f"{self.name}.npz")["values"].astype(float)
        return np.log10(table) if self.logarithmic else table

    @property
    def space(self) -> dict[str, Any]:
        """A range for every axis."""
        made: dict[str, Any] = {}
        for name, axis in self.axes.items():
            if isinstance(axis[0], str):
                made[name] = tw.choice(*axis)
            elif isinstance(axis[0], int):
                made[name] = tw.integers(axis[0], axis[-1], log=name not in LINEAR)
            else:
                made[name] = (tw.linear if name in LINEAR else tw.log)(axis[0], axis[-1])
        return made

    def place(self, configuration: Configuration) -> tuple[int, ...]:
        """The nearest grid point, by the scale of each axis."""
        found = []
        for name, axis in self.axes.items():
            value = configuration[name]
            if isinstance(value, str):
                found.append(axis.index(value))
            elif name in LINEAR:
                found.append(int(np.argmin([abs(value - one) for one in axis])))
            else:
                at = math.log(max(value, 1e-300))
                found.append(int(np.argmin([abs(at - math.log(one)) for one in axis])))
        return tuple(found)

    def truth(self, configuration: Configuration) -> float:
        """The mean over the recorded seeds."""
        return float(self.values[self.place(configuration)].mean())

    def draw(self, configuration: Configuration, random: np.random.Generator) -> float:
        """One recorded seed."""
        seeds = self.values[self.place(configuration)]
        return float(seeds[random.integers(len(seeds))])


@dataclass(frozen=True, eq=False)
class Trees:
    """A forest under the names a user would give; clipped to what was recorded."""

    name: str
    ranges: Mapping[str, Any]
    spelled: Mapping[str, str]  # ours -> the forest's
    noise: float

    @functools.cached_property
    def forest(self) -> Forest:
        """Read from the arrays that `python -m bench.search prepare` writes."""
        return Forest(PREPARED / f"{self.name}.npz", self.ranges, self.name != ALEXNET)

    @property
    def space(self) -> dict[str, Any]:
        """A range for every hyperparameter."""
        return {ours: self.ranges[theirs] for ours, theirs in self.spelled.items()}

    def truth(self, configuration: Configuration) -> float | None:
        """What the forest says; None: it diverges."""
        own = {}
        for ours, theirs in self.spelled.items():
            range, value = self.ranges[theirs], configuration[ours]
            if range.choices is None and range.ends is not None:
                value = min(max(value, range.ends[0]), range.ends[1])
            own[theirs] = value
        return self.forest(own)

    def draw(self, configuration: Configuration, random: np.random.Generator) -> float | None:
        """With noise."""
        truth = self.truth(configuration)
        return None if truth is None else truth + self.noise * float(random.standard_normal())


@functools.cache
def table(name: str) -> Grid | Trees:
    """A table by its name."""
    if name.startswith("mlp") or name.startswith("fcnet"):
        kind = name.partition("_")[0]
        return Grid(name, GRIDS[kind], logarithmic=kind == "fcnet")
    reference = references()[name]
    noise = FOREST_NOISE * (reference.median - reference.optimum)
    ranges = real._ALEXNET_SPACE if name == ALEXNET else real._TASKSET_SPACE
    spelled = {n: n for n in ranges}
    if name == ALEXNET:
        spelled = {_SPELLED.get(n, n): n for n in ranges}
    assert name == ALEXNET or name in TASKSET
    return Trees(name, ranges, spelled, noise)


def scale(name: str) -> tuple[float, float]:
    """The best value of a table and its median."""
    found = references()[name]
    if name.startswith("fcnet"):
        return math.log10(found.optimum), math.log10(found.median)
    return found.optimum, found.median


@functools.cache
def sample(name: str) -> tuple[list[Configuration], Floats]:
    """Random configurations of a table's whole space and their truths; infinite: it diverges."""
    own, kept = table(name), PREPARED / f"sample_{name}.npy"
    round = tw.Round("x", goal="?", nuisance=own.space, trials_per_study=SAMPLE, seed=77)
    study = round.studies[0]
    points = np.random.default_rng(77).random((SAMPLE, len(study.space)))
    columns = [h.column for h in study.space]
    made: list[Configuration] = [
        study.configuration(dict(zip(columns, map(float, point), strict=True))) for point in points
    ]
    if kept.exists():
        return made, np.load(kept)
    truths = [own.truth(one) for one in made]
    values = np.array([math.inf if one is None else one for one in truths])
    np.save(kept, values)
    return made, values


@dataclass(frozen=True)
class Problem:
    """One problem of one user: a kind, a table, a seed, and the box that the user gives."""

    kind: Kind
    task: str
    seed: int
    space: Mapping[str, Any]  # hyperparameter -> range
    cut: Mapping[str, float]  # decades by which the best lies outside, by axis
    inside: float  # regret of the best inside the box
    steps: int = STEPS
    options: Mapping[str, Any] = field(default_factory=dict)
    extend_to: int | None = None

    def truth(self, configuration: Configuration) -> float | None:
        """Without noise."""
        return table(self.task).truth(configuration)

    def quality(self, configuration: Configuration | None) -> float:
        """0 the best of the whole table, 1 its median or worse."""
        truth = None if configuration is None else self.truth(configuration)
        if truth is None:
            return 1.0
        low, middle = scale(self.task)
        return min(max((truth - low) / (middle - low), 0.0), 1.0)

    def curve(self, configuration: Configuration, seed: int) -> list[tuple[int, float]]:
        """Step and validation value of one training; nan at its end when it diverges."""
        random = np.random.default_rng([self.seed, 0xC0FFEE, seed])
        final = table(self.task).draw(configuration, random)
        text = repr([(n, configuration[n]) for n in sorted(self.space)]).encode()
        luck = int.from_bytes(hashlib.sha256(text).digest()[:4], "big") / 2**32
        speed = 3.0 * math.exp(1.4 * (luck - 0.5))
        low, middle = scale(self.task)
        if self.kind == "c" and final is not None:
            final = random.binomial(EXAMPLES, min(max(final, 0.0), 1.0)) / EXAMPLES
        reached = middle if final is None else final
        start = max(reached, middle) + (middle - low)
        points = []
        for step in range(EVERY, STEPS + 1, EVERY):
            if final is None and step > STEPS // 2:
                points.append((step, math.nan))
                break
            fall = (math.exp(-speed * step / STEPS) - math.exp(-speed)) / (1 - math.exp(-speed))
            points.append((step, float(reached + (start - reached) * fall)))
        return points

    def report(self, run: tw.protocols.Run, configuration: Configuration) -> int:
        """Log one training; a diverged one counts whole."""
        reached = 0
        for step, value in self.curve(configuration, run.seeds.trial):
            reached = step if math.isfinite(value) else self.steps
            run.log(step, valid_error=value)
        return reached


@functools.lru_cache(maxsize=16)
def problem(kind: Kind, seed: int) -> Problem:
    """The problem of a seed: its table in turn, and for kind b its cut."""
    task = TASKS[kind][seed % len(TASKS[kind])]
    if not (PREPARED / f"{task}.npz").exists():  # a training that fails would count as a bad choice
        raise SystemExit("the tables are missing: python -m bench.search prepare")
    space = table(task).space
    if kind != "b":
        return Problem(kind, task, seed, space, {}, 0.0)
    random = np.random.default_rng([seed, 0xB0])
    made, truths = sample(task)
    best = made[int(np.argmin(truths))]
    low, middle = scale(task)
    axes = [n for n, r in space.items() if isinstance(r, tw.ranges.Log)]
    for _ in range(500):
        count = int(random.integers(1, 3))
        names = [str(n) for n in random.permutation(axes)[: min(count, len(axes))]]
        ends, cut = dict(space), {}
        for name in names:
            amount = float(random.uniform(0.5, 1.5))
            at, (first, last) = float(best[name]), space[name].ends
            if random.random() < 0.5:
                first = at * 10**amount
            else:
                last = at / 10**amount
            if last / first < 10**LEFT:
                break
            ends[name] = tw.log(float(f"{first:.2g}"), float(f"{last:.2g}"))
            cut[name] = amount
        within = np.array([_inside(ends, names, one) for one in made])
        if len(cut) < len(names) or not within.any():
            continue
        lost = float(truths[within].min() - truths.min()) / (middle - low)
        if lost >= COSTS:
            return Problem(kind, task, seed, ends, cut, lost)
    raise ValueError(f"{task}: no cut of this seed matters")


def _inside(space: Mapping[str, Any], names: list[str], configuration: Configuration) -> bool:
    return all(space[n].ends[0] <= configuration[n] <= space[n].ends[1] for n in names)
