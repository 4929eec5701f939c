"""Rounds in worlds that stay where they are while the ranges move."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tunewright.design.ranges import Linear, Log, LogFromOne, Range, log, log_from_one
from tunewright.design.round import Round
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.testing import Surface, World, results

REFERENCE: Mapping[str, Range] = {
    "learning_rate": log(1e-4, 1e-1),
    "beta1": log_from_one(0.8, 0.99),
    "epsilon": log(1e-10, 1e-6),
}


def asked(**changes: Any) -> Round:
    """A round over the reference ranges of the learning rate and beta1."""
    settings: dict[str, Any] = {
        "goal": "Which configuration is best?",
        "nuisance": {name: REFERENCE[name] for name in ("learning_rate", "beta1")},
        "fixed": {"max_train_steps": 1000},
        "trials_per_study": 24,
        **changes,
    }
    return Round(settings.pop("name", "first"), **settings)


def ran(round: Round, world: World) -> Results:
    """The round in a world whose surface goes by the reference ranges, wherever the round looks."""
    ranges = {h.column: (h.name, h.range) for study in round.studies for h in study.space}

    def surface(unit: Mapping[str, float]) -> float | None:
        placed = {}
        for column, position in unit.items():
            name, own = ranges[column]
            placed[name] = _position(REFERENCE[name], own.value(position))
        return world.surface(placed)

    luck = zlib.crc32(f"{round.name} {round.seed}".encode())  # another round, other luck
    seeded = replace(world, surface=surface, seed=world.seed + luck)
    return results(round, seeded)


def with_added(made: Results, **added: Any) -> Results:
    """The results with something added to a metric's curves (an array, or one for each trial)."""
    trials = []
    for trial in made.recorded:
        points = {}
        for name, curve in trial.curves.items():
            extra = added.get(name, 0.0)
            extra = extra(trial) if callable(extra) else extra
            points[name] = (curve.steps, curve.values + extra)
        trials.append(replace(trial, curves=Curves([Batch(1, 0, pack(points))])))
    return replace(made, recorded=tuple(trials))


def _position(reference: Range, value: Any) -> float:
    """Where a value lies on the reference scale; below 0 and above 1 when outside."""
    if isinstance(reference, Log):
        low, high, x = (math.log(v) for v in (reference.low, reference.high, value))
    elif isinstance(reference, LogFromOne):
        low, high, x = (-math.log1p(-v) for v in (reference.low, reference.high, value))
    else:
        assert isinstance(reference, Linear)
        low, high, x = reference.low, reference.high, value
    return (x - low) / (high - low)


def place(surface: Surface, configuration: Mapping[str, Any]) -> float | None:
    """What a surface says of a configuration."""
    return surface(
        {n: _position(REFERENCE[n], v) for n, v in configuration.items() if n in REFERENCE}
    )
