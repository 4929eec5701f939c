"""Arms and repeats made by hand: for tests of decisions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from tunewright.checks.baseline import BaselineEvidence
from tunewright.design.objective import maximize, minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.finding import Finding, Scope
from tunewright.launches.arm import Arm
from tunewright.launches.decide import decide
from tunewright.launches.launch import LaunchTerms
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.judge import not_finite
from tunewright.store.results import Repeats, Results
from tunewright.store.trial import Trial

ROUND = Round(
    "depth",
    goal="Do more layers help?",
    scientific={"layers": [1, 2]},
    nuisance={"learning_rate": log(1e-4, 1e-1)},
    fixed={"max_train_steps": 100},
    trials_per_study=4,
)


def warning(check: str, scope: Scope = "round", about: str = "depth") -> Finding:
    """A warning of a check; a decision looks at whose it is and what it is about."""
    return Finding(
        check=check,
        scope=scope,
        about=about,
        verdict="warn",
        evidence=BaselineEvidence("valid_loss", 2.3, chance=2.3),
    )


def arm(values: Sequence[float], label: str = "candidate", **changes) -> Arm:
    """Values of a metric where larger is better."""
    return replace(Arm(label, tuple(map(float, values)), maximize("accuracy")), **changes)


def trial(number: int | None, value: float | None, study: int = 0, **changes) -> Trial:
    points = Curves([Batch(1, 0, pack({"valid_error": ([10], [value])}))] if value else ())
    made = Trial(
        number=number,
        study=study,
        index=None if number is None else number // 2,
        configuration={"layers": study + 1, "learning_rate": 0.01, "max_train_steps": 100},
        unit={"learning_rate": 0.5},
        status="completed" if value else "infeasible",
        reason=None if value else not_finite("train_loss", math.nan, 3),
        curves=points,
        seed=number or 0,
        attempts=1,
        identity=1 + (number or 0),
    )
    return replace(made, **changes)


def round_results(
    repeats: dict[int, Sequence[float | None]], round: Round = ROUND, **changes
) -> Results:
    """Trials 0 to 7 in two studies, and repeats by the number of the trial; None: infeasible."""
    trials = [trial(n, 0.3 - 0.01 * n - 0.05 * (n % 2), study=n % 2, **changes) for n in range(8)]
    again = [
        trial(None, value, study=number % 2, parent=number, identity=100 * number + k + 10)
        for number, values in repeats.items()
        for k, value in enumerate(values)
    ]
    return Results.from_parts(round, minimize("valid_error"), trials, again)


def repeats_of(results: Results, number: int) -> Repeats:
    return Repeats(results.trial(number), results.repeats(number), results)


def noise(kind: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Standardised noise of the kinds the rules were calibrated with; larger is better."""
    random = np.random.default_rng([seed, *shape])
    if kind == "normal":
        return random.standard_normal(shape)
    if kind == "skew":  # standardised log-normal, long tail on the good side
        drawn = np.exp(0.75 * random.standard_normal(shape))
        mean, variance = np.exp(0.75**2 / 2), (np.exp(0.75**2) - 1) * np.exp(0.75**2)
        return (drawn - mean) / np.sqrt(variance)
    if kind == "t3":
        return random.standard_t(3, shape) / np.sqrt(3)
    assert kind == "outlier"  # 5 % of runs are 8 sd worse
    return random.standard_normal(shape) - 8 * (random.random(shape) < 0.05)


LOW = (0.70, 0.71, 0.69, 0.70, 0.72)
HIGH = (0.74, 0.75, 0.73, 0.75, 0.74)
SAME = (0.70, 0.69, 0.71, 0.72, 0.70)


TERMS = {field.name for field in fields(LaunchTerms)}


def of(candidate, baseline, **how):
    terms = LaunchTerms(**{name: value for name, value in how.items() if name in TERMS})
    rest = {name: value for name, value in how.items() if name not in TERMS}
    return decide(arm(candidate), arm(baseline, "baseline"), terms, **rest)


def codes(messages):
    return [message.code for message in messages]


def facts(messages, code):
    """The facts of the one message with this code."""
    (found,) = (message.facts for message in messages if message.code == code)
    return found
