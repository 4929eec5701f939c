"""Known worlds for the curve checks: shapes, noises, and results made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective, minimize
from tunewright.design.ranges import linear
from tunewright.design.round import Round
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial

NOISES = ("gauss", "t5", "shrinking", "growing", "to_zero")
# curves that never get worse, from 1.0 down to about 0.2
FALLING = ("fast", "slow", "step", "power_half", "power_one", "decay", "two_plateaus", "linear")


def shape(name: str, evaluations: int) -> np.ndarray:
    """An improvement of 0.8 down to 0.2, in one of several manners.

    The constants are those that reproduce the published rates.
    """
    t = np.arange(1, evaluations + 1) / evaluations
    share = {
        "fast": np.exp(-t / 0.07),
        "slow": np.exp(-t / 0.25),
        "step": 0.5 * np.exp(-t / 0.05) + 0.5 * (t <= 0.6),
        "power_half": _from_one_to_zero((t + 0.02) ** -0.5),
        "power_one": _from_one_to_zero((t + 0.02) ** -1.0),
        "decay": (1 - t) ** 2,
        "two_plateaus": 0.6 * np.exp(-t / 0.05) + 0.4 / (1 + np.exp((t - 0.5) / 0.02)),
        "linear": 1 - t,
    }[name]
    return 0.2 + 0.8 * share


def _from_one_to_zero(values: np.ndarray) -> np.ndarray:
    return (values - values[-1]) / (values[0] - values[-1])


def rise(evaluations: int, by: float, since: float) -> np.ndarray:
    """A fast improvement that is lost again, by a share of it, from some point on."""
    t = np.arange(1, evaluations + 1) / evaluations
    return shape("fast", evaluations) + 0.8 * by * np.maximum(0, (t - since) / (1 - since))


def noise(
    rng: np.random.Generator, curves: int, evaluations: int, correlation: float, kind: str = "gauss"
) -> np.ndarray:
    """AR(1) noise of standard deviation 1 (on average, where it changes along the curve)."""
    size = (evaluations + 100, curves)
    fresh = (
        rng.standard_t(5, size) / np.sqrt(5 / 3) if kind == "t5" else rng.standard_normal(size)
    ) * np.sqrt(1 - correlation**2)
    for now in range(1, len(fresh)):
        fresh[now] += correlation * fresh[now - 1]
    t = np.arange(1, evaluations + 1) / evaluations
    along = {"shrinking": 1.5 - t, "growing": 0.5 + t, "to_zero": 1 - t}.get(kind, np.ones_like(t))
    return fresh[100:].T * along


def known_curves() -> np.ndarray:
    """Three curves without a random number in them, so that their numbers can be written down."""
    i = np.arange(1, 61)
    t = i / 60
    wobble = np.sin(i * i)
    return np.stack(
        [
            0.2 + 0.8 * np.exp(-t / 0.1) + 0.1 * np.maximum(0, t - 0.6) + 0.01 * wobble,
            0.2 + 0.8 * (1 + i / 5) ** -0.5 + 0.004 * wobble,
            0.2 + 0.8 * np.exp(-t / 0.05) + 0.001 * wobble,
        ]
    )


def results_of(
    curves: Mapping[str, Sequence[np.ndarray]],
    *,
    steps: np.ndarray | None = None,
    configurations: Sequence[Mapping[str, Any]] | None = None,
    objective: Objective | None = None,
    means: Mapping[str, Any] | None = None,
    off: Mapping[str, Any] | None = None,
    scientific: Mapping[str, Any] | None = None,
    detect: float | None = None,
    repeats: Sequence[float] = (),
) -> Results:
    """One trial per curve; with scientific values the trials take turns among the studies."""
    objective = objective or minimize("valid_error")
    count = len(next(iter(curves.values())))
    round = Round(
        "depth",
        goal="Does it help?",
        scientific=scientific or {},
        nuisance={"learning_rate": linear(0.0, 1.0)},
        trials_per_study=count,
        detect=detect,
    )
    trials = []
    for number in range(count):
        points = {}
        for metric, values in curves.items():
            own = np.asarray(values[number], dtype=float)
            at = steps if steps is not None and len(steps) == len(own) else None
            points[metric] = (10 * np.arange(1, len(own) + 1) if at is None else at, own)
        trials.append(
            Trial(
                number=number,
                study=number % len(round.studies),
                index=number // len(round.studies),
                configuration=configurations[number] if configurations else {},
                unit={},
                status="completed",
                curves=Curves([Batch(1, 0, pack(points))]),
            )
        )
    again = [
        Trial(
            number=None,
            study=0,
            index=None,
            configuration={},
            unit={},
            status="completed",
            parent=0,
            curves=Curves([Batch(1, 0, pack({objective.metric: ([10], [value])}))]),
        )
        for value in repeats
    ]
    return Results.from_parts(round, objective, trials, again, Meaning(means or {}, off or {}))
