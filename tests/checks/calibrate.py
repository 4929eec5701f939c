"""The error rates of the curve checks, simulated: `python -m tests.checks.calibrate [curves]`.

Prints the tables of docs/methods_curves.md. 400 curves to a cell take about two minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import numpy as np
from tests.checks.curve_worlds import FALLING, NOISES, noise, results_of, rise, shape

from tunewright.checks._curve_question import IMMATERIAL
from tunewright.checks.instability import instability
from tunewright.checks.overfitting import got_worse, overfitting
from tunewright.checks.periodicity import periodicity, periods, periods_of_epoch
from tunewright.checks.saturated import saturated, saturation
from tunewright.checks.step_variance import step_variance
from tunewright.checks.still_improving import improving, still_improving
from tunewright.checks.training_bug import rising, training_bug
from tunewright.stats.noise import NoisyCurves, noisy_curves
from tunewright.store.results import Results

Cell = tuple[str, str, float]  # shape, noise, its standard deviation
SDS = (0.002, 0.01, 0.03)
CORRELATIONS = (0.0, 0.5, 0.8)
QUESTIONS = (
    overfitting,
    still_improving,
    saturated,
    training_bug,
    periodicity,
    instability,
    step_variance,
)
# the shapes under which a rule must stay silent, and the evaluations it needs
NULL: Mapping[str, tuple[tuple[str, ...], int]] = {
    "worse": (FALLING, 20),
    "improving": (("fast",), 20),
    "rises": (FALLING, 20),
    "saturated": (("power_half", "power_one", "linear", "decay", "slow"), 40),
    "periodic": (FALLING, 40),
    "periodic, epoch known": (FALLING, 40),
}
RULES: Mapping[str, Callable[[NoisyCurves], np.ndarray]] = {
    "worse": lambda curves: got_worse(curves).flagged,
    "improving": lambda curves: improving(curves).flagged,
    "rises": lambda curves: rising(curves).flagged,
    "saturated": lambda curves: saturation(curves).flagged,
}


def null_rates(
    evaluations: int, correlation: float, curves: int, seed: int = 0
) -> dict[str, dict[Cell, float]]:
    """For each rule the share of curves it flags in every cell where it should flag none."""
    rng = np.random.default_rng(seed)
    rates: dict[str, dict[Cell, float]] = {}
    for name in FALLING:
        for kind in NOISES:
            for sd in SDS:
                values = shape(name, evaluations) + sd * noise(
                    rng, curves, evaluations, correlation, kind
                )
                prepared = noisy_curves(values)
                for rule, (shapes, fewest) in NULL.items():
                    if name not in shapes or evaluations < fewest:
                        continue
                    if rule == "periodic":
                        flagged = periods(values).flagged
                    elif rule == "periodic, epoch known":
                        known = periods_of_epoch(values, 5.0)
                        flagged = np.zeros(1) if known is None else known.flagged
                    else:
                        flagged = RULES[rule](prepared)
                    rates.setdefault(rule, {})[name, kind, sd] = float(flagged.mean())
    return rates


def power_rates(
    evaluations: int, correlation: float, curves: int, seed: int = 0
) -> dict[str, tuple[float, ...]]:
    """For each effect the share of curves it is found in, at the three noise levels."""
    rng = np.random.default_rng(seed)
    effects = {
        "worse by 4.5 % from 40 %": ("worse", rise(evaluations, 0.045, 0.4)),
        "worse by 15 % from 40 %": ("worse", rise(evaluations, 0.15, 0.4)),
        "worse by 15 % from 70 %": ("worse", rise(evaluations, 0.15, 0.7)),
        "improving, power law": ("improving", shape("power_half", evaluations)),
        "improving, linear": ("improving", shape("linear", evaluations)),
        "saturated, fast plateau": ("saturated", shape("fast", evaluations)),
    }
    return {
        effect: tuple(
            float(
                RULES[rule](
                    noisy_curves(mean + sd * noise(rng, curves, evaluations, correlation))
                ).mean()
            )
            for sd in SDS
        )
        for effect, (rule, mean) in effects.items()
    }


def median_rates(
    evaluations: int, correlation: float, studies: int, seed: int = 0
) -> dict[str, float]:
    """The worst null cell's 98 % quantile of the median z of five trials."""
    rng = np.random.default_rng(seed)
    rules = {
        "worse": (got_worse, FALLING),
        "improving": (improving, ("fast",)),
        "saturated": (saturation, NULL["saturated"][0]),
    }
    worst: dict[str, float] = {}
    for rule, (find, shapes) in rules.items():
        quantiles = []
        for name in shapes:
            for kind in NOISES:
                for sd in SDS:
                    values = shape(name, evaluations) + sd * noise(
                        rng, 5 * studies, evaluations, correlation, kind
                    )
                    found = find(noisy_curves(values))
                    z = np.where(found.matters, found.z, IMMATERIAL).reshape(studies, 5)
                    quantiles.append(np.quantile(np.median(z, axis=1), 0.98))
        worst[rule] = float(max(quantiles))
    return worst


def healthy_study(seed: int, evaluations: int = 100, decaying: bool = True) -> Results:
    """16 trials around a quadratic optimum: curves that fall, flatten and do nothing else."""
    rng = np.random.default_rng(seed)
    levels = 0.15 * (rng.uniform(-1, 1, (16, 2)) ** 2).sum(axis=1, keepdims=True)
    t = np.arange(1, evaluations + 1) / evaluations
    fall = shape("decay", evaluations) if decaying else 0.2 + 0.8 * np.exp(-t / 0.12)
    jitter = noise(rng, 16, evaluations, 0.3, "to_zero" if decaying else "gauss")
    rate = np.linspace(1, 0, evaluations) if decaying else np.ones(evaluations)
    losses = (shape("slow", evaluations) + 0.1 + levels) * np.exp(
        0.05 * noise(rng, 16, evaluations, 0.3)
    )
    return results_of(
        {
            "valid_error": fall + levels + 0.004 * jitter,
            "train_loss": losses,
            "learning_rate": np.tile(rate, (16, 1)),
        }
    )


def healthy_warnings(studies: int, evaluations: int, decaying: bool) -> dict[str, int]:
    """How often each question warns about healthy studies, and how often any does."""
    counts = {question.__name__: 0 for question in QUESTIONS} | {"any": 0}
    for seed in range(studies):
        results = healthy_study(seed, evaluations, decaying)
        warned = [
            question.__name__
            for question in QUESTIONS
            if any(found.verdict == "warn" for found in question(results))
        ]
        for name in warned:
            counts[name] += 1
        counts["any"] += bool(warned)
    return counts


def main(curves: int) -> None:
    """Print every table."""
    print("false alarms, per cent: mean over cells / worst cell")
    for evaluations in (20, 40, 100, 400):
        for correlation in CORRELATIONS:
            count = curves if evaluations < 400 else max(20, curves * 3 // 8)
            shown = []
            for rule, cells in null_rates(evaluations, correlation, count).items():
                mean, worst = np.mean(list(cells.values())), max(cells.values())
                shown.append(f"{rule} {100 * mean:.2f} / {100 * worst:.1f}")
            print(evaluations, correlation, "; ".join(shown), flush=True)
    print("power at noise sd 0.002, 0.01, 0.03")
    for evaluations in (20, 40, 100, 400):
        for correlation in (0.0, 0.8):
            for effect, rates in power_rates(evaluations, correlation, curves).items():
                print(evaluations, correlation, effect, " ".join(f"{r:.2f}" for r in rates))
    print("98 % quantile of the median z of five, worst null cell")
    for evaluations in (20, 40, 100):
        for correlation in CORRELATIONS:
            quantiles = median_rates(evaluations, correlation, curves // 2)
            print(evaluations, correlation, {k: round(v, 2) for k, v in quantiles.items()})
    print("warnings about healthy studies of 16 trials")
    for evaluations in (40, 100):
        for decaying in (True, False):
            print(evaluations, decaying, healthy_warnings(curves // 2, evaluations, decaying))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
