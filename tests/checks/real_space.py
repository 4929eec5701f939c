"""Real search spaces as Results: recorded sweeps and a random search, where they are to be had."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from tests.checks.real_curves import DATA

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective, maximize, minimize
from tunewright.design.ranges import Log, linear, log
from tunewright.design.round import Round
from tunewright.messages import Message
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial

# the true position of the best of 36 learning rates, by problem and optimizer
SWEEPS = {
    ("fmnist_2c2d", "GradientDescent"): "inside",
    ("fmnist_2c2d", "Momentum"): "inside",
    ("fmnist_2c2d", "Adam"): "inside",
    ("mnist_vae", "GradientDescent"): "inside",
    ("mnist_vae", "Momentum"): "low",
    ("mnist_vae", "Adam"): "inside",
    ("quadratic_deep", "GradientDescent"): "inside",
    ("quadratic_deep", "Momentum"): "inside",
    ("quadratic_deep", "Adam"): "inside",
}


@lru_cache
def runs_of(name: str, task: str) -> Any:
    """The runs of a recorded set with their configurations; skips the test without the data."""
    folder = DATA / name / task
    if not folder.exists():
        pytest.skip("the recorded tuning data is not beside the repository")
    polars = pytest.importorskip("polars")
    configurations = polars.read_parquet(folder / "configs.parquet").drop("task")
    return polars.read_parquet(folder / "runs.parquet").join(configurations, on="config_id")


def made_of(
    rows: list[dict[str, Any]],
    nuisance: dict[str, Any],
    objective: Objective,
    value: str,
    means: dict[str, str] | None = None,
) -> Results:
    """One study of these runs, each with the one value that counts."""
    trials = []
    for number, row in enumerate(rows):
        feasible = row["status"] == "completed" and row[value] is not None
        points = {objective.metric: (np.array([1]), np.array([float(row[value] or 0.0)]))}
        trials.append(
            Trial(
                number=number,
                study=0,
                index=number,
                configuration={name: row[name] for name in nuisance},
                unit={},
                status="completed" if feasible else "infeasible",
                reason=None if feasible else Message("trial.infeasible", {"text": "it diverged"}),
                curves=Curves([Batch(1, 0, pack(points))] if feasible else []),
            )
        )
    round = Round("recorded", goal="?", nuisance=nuisance, trials_per_study=len(rows))
    return Results.from_parts(round, objective, trials, (), Meaning(means or {}))


def sweep(problem: str, optimizer: str, lowest: float = 0.0) -> Results:
    """One learning-rate sweep, cut so that it begins at this rate."""
    runs = runs_of("deepobs", problem)
    rows = [
        row
        for row in runs.sort("learning_rate").iter_rows(named=True)
        if row["optimizer"] == optimizer
        and row["seed"] == 42
        and row["learning_rate"] >= lowest * 0.999
    ]
    rates = [row["learning_rate"] for row in rows]
    classifies = problem == "fmnist_2c2d"
    objective = maximize("accuracy") if classifies else minimize("loss")
    value = "best_test_accuracy" if classifies else "best_test_loss"
    return made_of(rows, {"learning_rate": Log(min(rates), max(rates))}, objective, value)


def alexnet(rows: list[int] | None = None) -> Results:
    """The random search of AlexNet on ImageNet: 512 trials of seven hyperparameters."""
    found = runs_of("opda", "alexnet_imagenet").to_dicts()
    chosen = found if rows is None else [found[row] for row in rows]
    nuisance = {
        "lr": log(0.005, 50.0),
        "momentum": linear(0.7, 1.0),
        "weight_decay": log(1e-6, 1e-3),
        "label_smoothing": linear(0.0, 0.5),
    }
    means = {"learning_rate": "lr"}
    return made_of(chosen, nuisance, maximize("top_1"), "best_valid_top_1", means)
