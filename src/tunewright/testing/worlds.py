"""Whole rounds with a known answer: Results made from a surface, without training anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective, minimize
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.messages import Message
from tunewright.search.halton import Halton
from tunewright.search.search import Search
from tunewright.store.curves import Batch, Curves, Spreads, pack
from tunewright.store.judge import not_finite
from tunewright.store.results import Results
from tunewright.store.trial import Trial
from tunewright.testing.curves import noise, shape
from tunewright.testing.surfaces import Surface, trial_noise

_Points = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


def _none(study: Study) -> float:
    del study
    return 0.0


@dataclass(frozen=True)
class World:
    """How trials come out: the objective at every position, and what is added to it."""

    surface: Surface
    effect: Callable[[Study], float] = _none  # what a scientific setting adds
    noise_sd: float = 0.0  # the trial standard deviation: what a new seed changes
    noise_kind: str = "normal"  # of `trial_noise`
    curve: str = "fast"  # of `shape`
    evaluations: int = 20
    curve_sd: float = 0.0  # of one evaluation around its curve
    correlation: float = 0.0  # of one evaluation with the next
    measured_sd: float = 0.0  # logged with each evaluation as the sd of its value; 0: not logged
    measured_n: int = 1000  # the number of examples logged with it
    max_train_steps: int = 1000
    objective: Objective = field(default_factory=lambda: minimize("valid_error"))
    meaning: Meaning = field(default_factory=Meaning)
    seed: int = 0


def results(
    round: Round,
    world: World | Surface,
    *,
    repeats: Mapping[int, int] | None = None,
    search: Search | None = None,
) -> Results:
    """The results a round would have in a world; a surface alone is a world without noise.

    Every trial logs the objective's metric and what means train_loss, both of the world's shape;
    one where the surface is None diverges half-way. For an objective to be maximized the metric is
    1 minus the surface. `repeats` adds repeats with new seeds: {number: times}. Trials draw their
    noise by their number, so more trials leave the first ones as they were.

    >>> from tunewright.design.ranges import log
    >>> from tunewright.testing.surfaces import Bowl
    >>> r = Round("r", goal="?", nuisance={"lr": log(1e-4, 1e-1)}, trials_per_study=16)
    >>> best = results(r, Bowl({"lr": 0.5})).best()
    >>> abs(best.unit["lr"] - 0.5) < 0.1 and best.value < 0.21
    True
    """
    known = world if isinstance(world, World) else World(world)
    chosen = search or Halton()
    trials = []
    for study in round.studies:
        suggestions = chosen.suggest(study, [], round.trials_per_study)
        for index, suggestion in enumerate(suggestions):
            trial = Trial(
                number=study.trial_number(index),
                study=study.number,
                index=index,
                configuration=suggestion.configuration,
                unit=suggestion.unit,
                status="pending",
                search=chosen.name,
            )
            trials.append(_train(known, study, trial, repeat=0))
    again = []
    by_number = {trial.number: trial for trial in trials}
    for number, times in (repeats or {}).items():
        parent = by_number[number]
        again += [
            _train(known, round.studies[parent.study], parent, repeat)
            for repeat in range(1, times + 1)
        ]
    return Results.from_parts(round, known.objective, trials, again, known.meaning)


def _train(world: World, study: Study, trial: Trial, repeat: int) -> Trial:
    """The trial as it ends in this world, or a repeat of it."""
    random = np.random.default_rng([world.seed, trial.number or 0, repeat])
    seed = int(random.integers(2**31))
    value = world.surface(trial.unit)
    if value is not None:
        noise_of_trial = float(trial_noise(random, 1, world.noise_kind)[0])
        value += world.effect(study) + world.noise_sd * noise_of_trial
    points, reason = _log(world, random, value)
    return Trial(
        number=None if repeat else trial.number,
        study=trial.study,
        index=None if repeat else trial.index,
        configuration=trial.configuration,
        unit=trial.unit,
        status="infeasible" if value is None else "completed",
        reason=reason,
        curves=Curves([Batch(1, 0, pack(points, _uncertain(world, points)))]),
        seed=seed,
        attempts=1,
        seconds=world.max_train_steps / 100,
        parent=trial.number if repeat else None,
        search=trial.search,
    )


def _uncertain(world: World, points: Mapping[str, _Points]) -> Spreads:
    """The uncertainty of the objective's evaluations, where the world logs it."""
    metric = world.objective.metric
    if not world.measured_sd or metric not in points:
        return {}
    count = len(points[metric][0])
    return {metric: ([world.measured_sd] * count, [world.measured_n] * count)}


def _log(
    world: World, random: np.random.Generator, value: float | None
) -> tuple[dict[str, _Points], Message | None]:
    """What a trial logs, and why it ended if it diverged."""
    steps = np.linspace(0, world.max_train_steps, world.evaluations + 1)[1:].astype(np.int64)
    metric, loss = world.objective.metric, world.meaning.name("train_loss")

    def trembling() -> npt.NDArray[np.float64]:
        return world.curve_sd * noise(random, world.evaluations, world.correlation)

    falling = shape(world.curve, world.evaluations, best=0.5 if value is None else value)
    judged, trained = falling + trembling(), 2 * falling + trembling()
    if not world.objective.minimize:
        judged = 1 - judged
    if value is not None:
        return {metric: (steps, judged), loss: (steps, trained)}, None
    last = world.evaluations // 2  # the loss diverges before this evaluation is made
    trained[last] = np.nan
    points = {metric: (steps[:last], judged[:last]), loss: (steps[: last + 1], trained[: last + 1])}
    return points, not_finite(loss, math.nan, int(steps[last]))
