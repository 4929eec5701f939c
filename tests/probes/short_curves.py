"""Recorded short runs made of curves, for the tests of what judges them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tunewright.design.objective import minimize
from tunewright.design.round import Round
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial
from tunewright.testing import curves


def results_of(
    losses: Sequence[np.ndarray],
    rates: Sequence[float] | None = None,
    norms: Sequence[np.ndarray] | None = None,
    **configuration: Any,
) -> Results:
    """One trial per training loss, logged at every step; one that is not finite ends there."""
    rates = rates or [0.1 * 2**n for n in range(len(losses))]
    round = Round(
        "made_up",
        goal="Is it stable?",
        scientific={"learning_rate": list(rates)},
        nuisance={},
        fixed=configuration,
        trials_per_study=1,
    )
    trials = []
    for number, (loss, rate) in enumerate(zip(losses, rates, strict=True)):
        steps = np.arange(1, len(loss) + 1)
        logged = {"train_loss": (steps, loss), "valid_loss": (steps, loss)}
        if norms is not None:
            logged["gradient_norm"] = (steps, norms[number])
        fine = all(math.isfinite(x) for x in loss)
        trials.append(
            Trial(
                number=number,
                study=number,
                index=0,
                configuration={"learning_rate": rate, **configuration},
                unit={},
                status="completed" if fine else "infeasible",
                curves=Curves([Batch(1, 0, pack(logged))]),
            )
        )
    return Results.from_parts(round, minimize("valid_loss"), trials)


def noisy(
    rng: np.random.Generator, many: int, points: int, sd: float, shape: str = "slow"
) -> np.ndarray:
    """Training losses that fall and tremble, one to a row, from 1.1 down to 0.3."""
    return (curves.shape(shape, points) + 0.1) * np.exp(sd * rng.standard_normal((many, points)))
