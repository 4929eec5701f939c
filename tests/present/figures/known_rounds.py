"""Rounds with a known answer for the figures and the report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import tunewright as tw
from tunewright.design.names import Meaning
from tunewright.design.objective import Objective, minimize
from tunewright.present.figures.figure import Figure
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.judge import not_finite
from tunewright.store.results import Results
from tunewright.store.trial import Trial
from tunewright.testing.surfaces import Bowl, Walled
from tunewright.testing.worlds import World, results

HOSTILE = '<script>alert("$x^2$")</script> & \x1b[31m'


def facts_of(figure: Figure[Any], code: str) -> Mapping[str, Any]:
    """The facts of one sentence of a figure's caption."""
    (found,) = [message.facts for message in figure.caption if message.code == code]
    return found


def codes_of(figure: Figure[Any]) -> list[str]:
    """The sentences of a figure's caption, as codes."""
    return [message.code for message in figure.caption]


def depth(trials: int = 16, repeats: int = 0, wall: float = 0.8, **world: Any) -> Results:
    """Three depths: 1 is worse by 0.1, 3 as good as 2; high learning rates diverge."""
    round = tw.Round(
        "depth",
        goal="Do more hidden layers help?",
        scientific={"hidden_layers": [1, 2, 3]},
        nuisance={"learning_rate": tw.log(1e-4, 1e-1), "beta1": tw.ranges.log_from_one(0.8, 0.99)},
        fixed={"max_train_steps": 1000},
        trials_per_study=trials,
    )
    surface = Walled(Bowl({"learning_rate": 0.5}), {"learning_rate": 1.0}, above=wall)
    effect = (0.1, 0.0, 0.0)
    settings: dict[str, Any] = {
        "effect": lambda study: effect[study.number],
        "noise_sd": 0.004,
        "curve_sd": 0.001,
        "meaning": Meaning(off={"hidden_layers": 1}),
    }
    known = World(surface, **{**settings, **world})
    again = {results(round, known).best().number or 0: repeats} if repeats else None
    return results(round, known, repeats=again)


def one_study(
    curves: list[Mapping[str, list[float]]],
    objective: Objective | None = None,
    means: Mapping[str, Any] | None = None,
    nuisance: Mapping[str, Any] | None = None,
    name: str = "plain",
) -> Results:
    """A round without scientific hyperparameters whose trials logged these curves."""
    round = tw.Round(
        name,
        goal="?",
        nuisance=nuisance or {"learning_rate": tw.log(1e-4, 1e-1)},
        trials_per_study=max(1, len(curves)),
    )
    trials = []
    for number, logged in enumerate(curves):
        points = {
            metric: (10 * np.arange(1, len(values) + 1), np.array(values))
            for metric, values in logged.items()
        }
        diverged = not all(np.isfinite(values).all() for _, values in points.values())
        unit = {
            h.column: (number + 0.5) / len(curves)
            for h in round.studies[0].space
            if h.active({"optimizer": "adam"}) or not h.when
        }
        trials.append(
            Trial(
                number=number,
                study=0,
                index=number,
                configuration=round.studies[0].configuration(unit) if unit else {},
                unit=unit,
                status="infeasible" if diverged else "completed",
                reason=not_finite("train_loss", math.nan, 9) if diverged else None,
                curves=Curves([Batch(1, 0, pack(points))]),
            )
        )
    return Results.from_parts(
        round, objective or minimize("valid_error"), trials, meaning=Meaning(means or {})
    )
