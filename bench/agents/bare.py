"""The same script on primitives: Optuna's TPE, or random search, and the lowest value wins."""

from __future__ import annotations

import math
import random
from typing import Any

from tasks import Outcome, Task
from world import STEPS

import tunewright as tw


def space(task: Task) -> dict[str, Any]:
    """Everything that the first round varies."""
    return {**task.round.get("scientific", {}), **task.round.get("nuisance", {})}


def bare(task: Task, trainings: int, sampler: str) -> Outcome:
    """As many trainings as the other script used, each once; what was lowest is shipped."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    kinds: dict[str, Any] = {
        "tpe": optuna.samplers.TPESampler(seed=task.seed),
        "random": optuna.samplers.RandomSampler(seed=task.seed),
    }
    study = optuna.create_study(sampler=kinds[sampler])
    draw = random.Random(task.seed)
    best: tuple[float, dict[str, Any]] = (math.inf, {})
    by_way: dict[Any, float] = {}
    for _ in range(max(trainings, 1)):
        trial = study.ask()
        config = {**task.round.get("fixed", {})}
        for name, declared in space(task).items():
            config[name] = suggested(trial, name, declared)
        config.setdefault("max_train_steps", STEPS)
        value = task.training.value(config, draw.randrange(2**31))
        if math.isnan(value):
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        study.tell(trial, value)
        way = config.get("way")
        by_way[way] = min(value, by_way.get(way, math.inf))
        if value < best[0]:
            best = (value, config)
    claims = None
    if len(by_way) > 1:
        first = task.round["scientific"]["way"][0]
        winner = min(by_way, key=lambda one: by_way[one])
        claims = winner if winner != first else None  # the first is what one has already
    return Outcome(best[1], claims=claims, value=best[0], trainings=trainings)


def suggested(trial: Any, name: str, declared: Any) -> Any:
    """A value of Optuna for a range of ours."""
    if isinstance(declared, list):
        return trial.suggest_categorical(name, declared)
    choices = declared.choices
    if choices is not None:
        return trial.suggest_categorical(name, list(choices))
    low, high = declared.value(0.0), declared.value(1.0)
    if isinstance(low, int):
        return trial.suggest_int(name, low, high)
    return trial.suggest_float(name, low, high, log=declared.scale == tw.log(1, 2).scale)
