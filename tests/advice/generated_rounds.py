"""Generated rounds and what came of them: every kind of range, role, world and search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import tunewright as tw
from tunewright.design.round import Round
from tunewright.store.results import Results
from tunewright.store.trial import Trial
from tunewright.testing import Basin, Bowl, Surface, Unlucky, Walled, World, results

NAMES = ("learning_rate", "beta1", "layers", "act", "momentum")
SHAPES = ("fast", "slow", "linear", "two_plateaus", "power_half", "to_zero")


def train(
    run: Any,
    learning_rate: float = 0.01,
    beta1: float = 0.9,
    layers: int = 2,
    act: str = "relu",
    optimizer: str = "sgd",
    momentum: float = 0.9,
    weight_decay: float = 1e-4,
    dropout: float = 0.0,
    schedule: str = "constant",
    max_train_steps: int = 1000,
) -> None:
    """What the rounds below are about; never called."""


def round_of(random: np.random.Generator) -> Round:
    """A round anybody might ask."""
    nuisance: dict[str, Any] = {}
    if random.random() < 0.8:
        nuisance["learning_rate"] = tw.log(1e-4, 1e-1)
    if random.random() < 0.4:
        nuisance["beta1"] = tw.ranges.log_from_one(0.8, 0.99)
    if random.random() < 0.3:
        nuisance["layers"] = tw.integers(1, int(random.integers(2, 12)))
    if random.random() < 0.3:
        nuisance["act"] = ["relu", "gelu", "tanh"][: int(random.integers(2, 4))]
    if random.random() < 0.2:
        nuisance["optimizer"] = tw.given(
            {"sgd": {"momentum": tw.linear(0.0, 0.99)}, "adam": {}},
        )
    if random.random() < 0.2:
        nuisance["weight_decay"] = tw.log(1e-6, 1e-2)
    scientific: dict[str, Any] = {}
    if random.random() < 0.3 and "layers" not in nuisance:
        scientific["layers"] = [1, 2, 3]
    if random.random() < 0.2 and "act" not in nuisance:
        scientific["act"] = ["relu", "gelu"]
    if not nuisance and not scientific:
        scientific["dropout"] = [0.0, 0.1]
    fixed: dict[str, Any] = {"max_train_steps": 1000}
    if random.random() < 0.5:
        fixed |= {n: v for n, v in {"weight_decay": 1e-4, "dropout": 0.0}.items()}
    fixed = {n: v for n, v in fixed.items() if n not in nuisance and n not in scientific}
    if random.random() < 0.3:
        fixed["schedule"] = str(random.choice(["cosine", "linear", "constant"]))
    return Round(
        "first",
        goal="Which is best?",
        scientific=scientific,
        nuisance=nuisance,
        fixed=fixed,
        trials_per_study=int(random.choice([1, 4, 8, 12, 16])),
        detect=None if random.random() < 0.5 else float(random.choice([1e-3, 0.02, 0.3])),
        seed=int(random.integers(1000)),
    )


def surface_of(random: np.random.Generator, names: list[str]) -> Surface:
    """Optima inside, at an end and outside; walls, rare divergence, nothing but divergence."""
    at = {name: float(random.uniform(-0.2, 1.2)) for name in names}
    surface: Surface = Bowl(at)
    kind = random.integers(5)
    if kind == 1 and names:
        surface = Basin(at)
    if kind == 2 and names:
        surface = Walled(surface, {names[0]: 1.0}, above=float(random.uniform(0.1, 0.9)))
    if kind == 3:
        surface = Unlucky(surface, share=float(random.choice([0.3, 0.6, 0.97, 1.0])))
    return surface


def generated(seed: int) -> Results:
    """The results of one generated round."""
    random = np.random.default_rng([0xC045, seed])
    asked = round_of(random)
    columns = sorted({h.column for study in asked.studies for h in study.space})
    world = World(
        surface_of(random, columns),
        effect=lambda study: 0.1 * study.number * (seed % 3),
        noise_sd=float(random.choice([0.0, 0.005, 0.05])),
        curve=str(random.choice(SHAPES)),
        curve_sd=0.002,
        evaluations=int(random.choice([5, 20, 45])),
        seed=seed,
    )
    again = {0: 4} if random.random() < 0.3 else None
    made = results(asked, world, repeats=again)
    return _searched(made, random) if random.random() < 0.25 else _unfinished(made, random)


def _searched(made: Results, random: np.random.Generator) -> Results:
    """The same trials as if an adaptive search had chosen them, in another order."""
    order = random.permutation(len(made.recorded))
    trials = [
        replace(made.recorded[place], search="bayesian", **_place(made, number))
        for number, place in enumerate(order)
    ]
    if len(made.studies) > 1:
        return replace(
            made,
            search="bayesian",
            recorded=tuple(replace(t, search="bayesian") for t in made.recorded),
        )
    return replace(made, search="bayesian", recorded=tuple(trials))


def _place(made: Results, number: int) -> dict[str, Any]:
    own: Trial = made.recorded[number]
    return {"number": own.number, "index": own.index, "study": own.study}


def _unfinished(made: Results, random: np.random.Generator) -> Results:
    if random.random() > 0.1:
        return made
    left = set(random.permutation(len(made.recorded))[: len(made.recorded) // 3].tolist())
    trials = [
        replace(trial, status="pending", reason=None) if place in left else trial
        for place, trial in enumerate(made.recorded)
    ]
    return replace(made, recorded=tuple(trials))
