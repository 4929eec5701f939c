"""Optuna's samplers, as people use them and told what a diverged trial is worth.

As people use them: default settings, a diverged trial is told as failed, which the samplers then
leave out. Told the worst: a diverged trial gets the worst value seen so far (before there is any,
it stays running until there is), and TPE is set to mind pending trials (constant_liar) in batches.
Conditional hyperparameters are suggested where they are active, as Optuna's define-by-run means.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, GPSampler, TPESampler
from optuna.trial import TrialState

from tunewright.design.ranges import Choice, Integers, Linear, Log, LogFromOne, Range, Value

from .contestant import Opening, Session
from .problem import Configuration, Problem

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)


class OptunaSession:
    """One Optuna study in memory."""

    def __init__(self, sampler: BaseSampler, problem: Problem, told_worst: bool) -> None:
        self.study = optuna.create_study(sampler=sampler)
        self.space = problem.study(seed=0, trials=1)
        self.told_worst = told_worst
        self.asked: dict[int, optuna.Trial] = {}  # by number, those added have none
        self.worst: float | None = None
        self.waiting: list[int] = []  # diverged before anything was feasible

    def ask(self, count: int) -> Sequence[Configuration]:
        """One trial after the other, the earlier ones running."""
        return [self._ask() for _ in range(count)]

    def _ask(self) -> Configuration:
        trial = self.study.ask()
        self.asked[trial.number] = trial
        settings: dict[str, Value] = {}
        chosen: dict[str, Value] = {}
        for h in self.space.space:
            if h.active(settings):
                settings[h.column] = chosen[h.name] = _suggest(trial, h.column, h.range)
        return chosen

    def tell(self, number: int, value: float | None) -> None:
        """The value, or what stands for it."""
        if value is not None:
            self.worst = value if self.worst is None else max(self.worst, value)
            self.study.tell(self.asked[number], value)
            for waiting in self.waiting:
                self.study.tell(self.asked[waiting], self.worst)
            self.waiting = []
        elif not self.told_worst:
            self.study.tell(self.asked[number], state=TrialState.FAIL)
        elif self.worst is None:
            self.waiting.append(number)
        else:
            self.study.tell(self.asked[number], self.worst)

    def recommended(self) -> Configuration | None:
        """It names the trial of the lowest value."""
        return None

    def add(self, configuration: Configuration, value: float | None) -> None:
        """A finished trial, with the distributions it would have been drawn from."""
        parameters: dict[str, Value] = {}
        distributions: dict[str, BaseDistribution] = {}
        for h in self.space.space:
            if h.name in configuration:  # for spaces without conditions
                x = configuration[h.name]
                is_rest = isinstance(h.range, LogFromOne)
                parameters[h.column] = 1 - float(x) if is_rest else x  # type: ignore[arg-type]
                distributions[h.column] = _distribution(h.range)
        if value is None and self.told_worst:
            value = self.worst
        elif value is not None:
            self.worst = value if self.worst is None else max(self.worst, value)
        self.study.add_trial(
            optuna.trial.create_trial(
                state=TrialState.FAIL if value is None else TrialState.COMPLETE,
                value=value,
                params=parameters,
                distributions=distributions,
            )
        )


def _suggest(trial: optuna.Trial, column: str, range: Range) -> Value:
    match range:
        case Linear(low, high):
            return trial.suggest_float(column, low, high)
        case Log(low, high):
            return trial.suggest_float(column, low, high, log=True)
        case LogFromOne(low, high):
            x = 1 - trial.suggest_float(column, 1 - high, 1 - low, log=True)
            return min(max(x, low), high)  # 1 - (1 - high) may round beyond high
        case Integers(low, high, log):
            return trial.suggest_int(column, low, high, log=log)
        case Choice(values):
            picked: Value = trial.suggest_categorical(column, values)
            return picked


def _distribution(range: Range) -> BaseDistribution:
    match range:
        case Choice(values):
            return optuna.distributions.CategoricalDistribution(values)
        case Integers(low, high, log):
            return optuna.distributions.IntDistribution(low, high, log)
        case Log(low, high):
            return optuna.distributions.FloatDistribution(low, high, log=True)
        case LogFromOne(low, high):
            return optuna.distributions.FloatDistribution(1 - high, 1 - low, log=True)
        case Linear(low, high):
            return optuna.distributions.FloatDistribution(low, high)


def tpe(told_worst: bool) -> Opening:
    """The tree-structured Parzen estimator, Optuna's default."""

    def open_session(problem: Problem, seed: int, trials: int) -> Session:
        sampler = TPESampler(seed=seed, constant_liar=told_worst)
        return OptunaSession(sampler, problem, told_worst)

    return open_session


def gp(told_worst: bool) -> Opening:
    """Optuna's Gaussian process."""

    def open_session(problem: Problem, seed: int, trials: int) -> Session:
        return OptunaSession(GPSampler(seed=seed), problem, told_worst)

    return open_session
