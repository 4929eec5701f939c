"""Draw every figure of docs/figures/ from rounds whose answer is known: no training, no data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

import tunewright as tw
from tunewright import plots
from tunewright.design.meaning import Meaning
from tunewright.plots.figure import Figure
from tunewright.record.curve import Batch, Curves, pack
from tunewright.record.results import Results
from tunewright.testing.surfaces import Bowl, Walled
from tunewright.testing.worlds import World, results

HERE = Path(__file__).parent / "figures"


def with_gradient_norms(made: Results) -> Results:
    """The same round with a gradient norm for every trial: falling, with a heavy upper tail."""
    trials = []
    for trial in made.recorded:
        random = np.random.default_rng([7, trial.number or 0])
        points = {name: (curve.steps, curve.values) for name, curve in trial.curves.items()}
        steps = trial.curves["train_loss"].steps
        norms = np.exp(random.normal(0, 0.6, len(steps))) * (1 + 4 * np.exp(-steps / 150))
        points["gradient_norm"] = (steps, norms)
        trials.append(replace(trial, curves=Curves([Batch(1, 0, pack(points))])))
    return replace(made, recorded=tuple(trials))


def depth() -> Results:
    """Three depths, of which the second is best; too high a learning rate diverges."""
    round = tw.Round(
        "depth",
        goal="Do more hidden layers lower the validation error?",
        scientific={"hidden_layers": [1, 2, 3]},
        nuisance={
            "learning_rate": tw.log(1e-4, 1e-1),
            "beta1": tw.log_from_one(0.8, 0.99),
            "width": tw.integers(64, 1024, log=True),
        },
        fixed={"batch_size": 128, "max_train_steps": 1000},
        trials_per_study=20,
        detect=0.01,
    )
    bowl = Bowl({"learning_rate": 0.6, "beta1": 0.4}, {"learning_rate": 1.2, "beta1": 0.4})
    world = World(
        Walled(bowl, {"learning_rate": 1.0}, above=0.82),
        effect=lambda study: (0.05, 0.0, 0.012)[study.number],
        noise_sd=0.008,
        curve_sd=0.004,
        evaluations=100,
        curve="slow",
        meaning=Meaning(off={"hidden_layers": 1}),
    )
    first = results(round, world)
    best = first.best().number or 0
    return with_gradient_norms(results(round, world, repeats={best: 5}))


def optimizer() -> Results:
    """Hyperparameters that exist under one optimizer only."""
    round = tw.Round(
        "optimizer",
        goal="Which optimizer?",
        nuisance={
            "weight_decay": tw.log(1e-6, 1e-2),
            "optimizer": tw.given(
                {
                    "adam": {"learning_rate": tw.log(1e-5, 1e-2)},
                    "nesterov": {
                        "learning_rate": tw.log(1e-3, 1.0),
                        "momentum": tw.log_from_one(0.8, 0.99),
                    },
                }
            ),
        },
        trials_per_study=60,
    )
    optimum = {
        "optimizer.adam.learning_rate": 0.7,
        "optimizer.nesterov.learning_rate": 0.98,
        "weight_decay": 0.3,
    }
    return results(round, World(Bowl(optimum), noise_sd=0.02, curve_sd=0.004))


def dropout() -> Results:
    """A scientific range: one study, bucketed."""
    round = tw.Round(
        "dropout",
        goal="Which dropout?",
        scientific={"dropout": tw.linear(0.0, 0.6)},
        nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
        trials_per_study=96,
    )
    return results(round, World(Bowl({"dropout": 0.4, "learning_rate": 0.5}), noise_sd=0.02))


def figures() -> Iterator[tuple[str, Figure]]:
    """Every figure with the name of its file."""
    asked, conditional = depth(), optimizer()
    yield "axis", plots.axis(asked)
    yield "axis_conditional", plots.axis(conditional)
    yield "isolation", plots.isolation(asked)
    yield "isolation_range", plots.isolation(dropout())
    yield "curves", plots.curves(asked, best=3)
    diverged = next(t.number for t in asked.trials if t.status == "infeasible")
    yield "curves_diverged", plots.curves(asked, trials=[asked.best().number or 0, diverged])
    yield "best_step", plots.best_step(asked)
    yield "best_of_k", plots.best_of_k(asked)
    yield "gradient_norm", plots.gradient_norm(asked)
    yield "sensitivity", plots.sensitivity(asked)


def main(folder: Path = HERE) -> None:
    for name, figure in figures():
        path = figure.save(folder / f"{name}.png")
        print(f"{path.name}  {path.stat().st_size / 1000:.0f} kB  {figure.says}")


if __name__ == "__main__":
    main()
