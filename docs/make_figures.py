"""Draw every figure of docs/figures/ from rounds and probes whose answer is known: no training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import tunewright as tw
from tunewright.design.names import Meaning
from tunewright.messages import Message
from tunewright.present import figures as plots
from tunewright.present.figures import style
from tunewright.present.figures.figure import Figure
from tunewright.probes.critical_batch import CriticalBatch, SizePoint, best_steps, fit_scaling
from tunewright.probes.rate_sweep import SweptRate
from tunewright.probes.throughput.size_sweep import SizeRow, knee
from tunewright.probes.throughput.timing import Timing
from tunewright.probes.train_steps import TrainSteps
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.testing.curves import noise, rise, shape, wave
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
            "beta1": tw.ranges.log_from_one(0.8, 0.99),
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
                        "momentum": tw.ranges.log_from_one(0.8, 0.99),
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


def questions() -> Figure[dict[str, dict[str, np.ndarray]]]:
    """What each question about curves looks for, drawn as its plainest case."""
    random, evaluations = np.random.default_rng(3), 100
    trembling = 0.01 * noise(random, evaluations)
    slow, fast = shape("slow", evaluations), shape("fast", evaluations)
    spiked = slow + trembling / 2
    spiked[60:66] += [0.5, 0.6, 0.4, 0.25, 0.15, 0.05]
    valid, train = "validation", "training"
    panels = {
        "overfitting": {valid: slow + rise(evaluations, 0.25, 0.5) + trembling, train: slow - 0.1},
        "still_improving": {valid: shape("linear", evaluations) + trembling},
        "saturated": {valid: fast + trembling / 3},
        "step_variance": {valid: slow + 5 * trembling},
        "periodicity": {valid: slow + wave(evaluations, 0.03, 10) + trembling / 3},
        "training_bug": {train: fast + rise(evaluations, 0.5, 0.3) + trembling},
        "instability": {train: spiked},
        "baseline": {valid: 0.95 + 2 * trembling, "by chance": np.full(evaluations, 0.95)},
    }

    def draw(canvas: Any, data: dict[str, dict[str, np.ndarray]]) -> None:
        places = canvas.subplots(2, 4, sharex=True, sharey=True).flatten()
        colours = {valid: style.COLOURS[0], train: style.COLOURS[1], "by chance": style.COLOURS[5]}
        for place, (title, lines) in zip(places, data.items(), strict=True):
            for name, values in lines.items():
                dashes = "--" if name == "by chance" else "-"
                place.plot(values, dashes, color=colours[name], label=name, linewidth=1.3)
            place.set_title(title)
            place.grid(color=style.GRID)
            place.legend(loc="center right" if title == "baseline" else "upper right")
            place.set_xticks([])

    says = "What eight questions about curves look for: " + ", ".join(panels) + "."
    caption = (Message("figure.plain", {"text": says}),)
    return Figure("questions", panels, caption=caption, size=(9.0, 4.2), drawing=draw)


def constant_rates() -> TrainSteps:
    """Learning rates of which 0.1 fits the training data first; the highest diverges."""
    rates = []
    for rate in (1e-3, 3.162e-3, 1e-2, 3.162e-2, 0.1, 0.3162, 1.0):
        steps = 5.0 * round(68 * np.cosh(1.6 * np.log10(rate / 0.1)))
        fits = SweptRate(rate, "fits", steps, steps - 2, 5.0, 0.0)
        slow = SweptRate(rate, "does not fit", value=0.03)
        rates.append(fits if steps <= 2000 else slow)
    rates[-1] = SweptRate(1.0, "infeasible")
    return TrainSteps(
        verdict="fits",
        message="",
        settings={"max_train_steps": 340},
        max_train_steps=340,
        learning_rate=0.1,
        criterion="train_error at most 0.001",
        rates=tuple(rates),
    )


def critical_batches() -> CriticalBatch:
    """Studies of 20 trials each whose steps fall as 400 (1 + 128 / B)."""
    random, points, lucks = np.random.default_rng(4), [], []
    for size in (16, 32, 64, 128, 256, 512, 1024):
        away = random.exponential(1.2, 20)
        steps = 400 * (1 + 128 / size) * np.exp(away)
        one = best_steps(steps.tolist())
        points.append(
            SizePoint(size, steps.min(), one.low, one.high, 20, 20, 20, 5.0, {}, (), (), "")
        )
        lucks.append(one)
    fitted = fit_scaling([point.batch_size for point in points], lucks)
    assert fitted is not None
    return CriticalBatch(
        verdict="inside",
        message="",
        settings={},
        metric="valid_error",
        goal=0.05,
        critical_batch_size=fitted.critical_batch_size,
        low=fitted.low,
        high=fitted.high,
        smallest_steps=fitted.smallest_steps,
        sizes=tuple(points),
    )


def batch_sizes() -> Any:
    """Steps of 4 ms and 12 microseconds per example, which wait for 3 microseconds of input."""
    random, rows = np.random.default_rng(5), []
    for size in (2**k for k in range(4, 13)):
        times = [
            Timing(50, tuple(50 * step * random.normal(1, 0.02, 6)), steady=True)
            for step in (4e-3 + 15e-6 * size, 4e-3 + 12e-6 * size)
        ]
        rows.append(SizeRow(size, times[0], None, None, 0.1, times[1]))
    best = knee([row.rate for row in rows])
    rows = [row for row in rows if row.batch_size <= 4 * best]
    return SimpleNamespace(rows=rows, knee=best, largest=SimpleNamespace(batch_size=9_024))


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
    yield "pair", plots.pair(asked)
    yield "progress", plots.progress(asked)
    yield "best_step", plots.best_step(asked)
    yield "best_of_k", plots.best_of_k(asked)
    yield "gradient_norm", plots.gradient_norm(asked)
    yield "sensitivity", plots.sensitivity(asked)
    yield "steps_to_fit", plots.steps_to_fit(constant_rates())
    yield "batch_scaling", plots.batch_scaling(critical_batches())
    yield "throughput", plots.throughput(batch_sizes())
    yield "questions", questions()


def main(folder: Path = HERE) -> None:
    for name, figure in figures():
        path = figure.save(folder / f"{name}.png")
        print(f"{path.name}  {path.stat().st_size / 1000:.0f} kB  {figure.says}")


if __name__ == "__main__":
    main()
