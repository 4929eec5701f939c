"""Ax with its default strategy, in an interpreter where it is installed."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from typing import Any

from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

from tunewright.design.ranges import Choice, Integers, Log, LogFromOne, Range, Value

from .contestant import Opening, Session
from .problem import Configuration, Problem

logging.getLogger("ax").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class AxSession:
    """One Ax client; conditional hyperparameters are all suggested, and those inactive left out."""

    def __init__(self, problem: Problem, seed: int, told_worst: bool) -> None:
        self.client = Client(random_seed=seed)
        self.space = problem.study(seed=0, trials=1).space
        self.names = {h.column: h.column.replace(".", "__") for h in self.space}
        self.client.configure_experiment(
            [_parameter(self.names[h.column], h.range) for h in self.space]
        )
        self.client.configure_optimization(objective="-value")
        self.told_worst = told_worst
        self.worst: float | None = None
        self.waiting: list[int] = []
        self.numbers: list[int] = []  # Ax's own

    def ask(self, count: int) -> Sequence[Configuration]:
        """Trials at once; the earlier ones are running."""
        asked = []
        for number, parameters in self.client.get_next_trials(max_trials=count).items():
            self.numbers.append(number)
            asked.append(self._configuration(parameters))
        return asked

    def _configuration(self, parameters: dict[str, Any]) -> Configuration:
        settings: dict[str, Value] = {}
        chosen: dict[str, Value] = {}
        for h in self.space:
            if h.active(settings):
                x = parameters[self.names[h.column]]
                if isinstance(h.range, LogFromOne):
                    x = min(max(1 - x, h.range.low), h.range.high)
                settings[h.column] = chosen[h.name] = x
        return chosen

    def tell(self, number: int, value: float | None) -> None:
        """The value, or what stands for it."""
        if value is not None:
            self.worst = value if self.worst is None else max(self.worst, value)
            self._complete(number, value)
            for waiting in self.waiting:
                self._complete(waiting, self.worst)
            self.waiting = []
        elif not self.told_worst:
            self.client.mark_trial_failed(self.numbers[number])
        elif self.worst is None:
            self.waiting.append(number)
        else:
            self._complete(number, self.worst)

    def _complete(self, number: int, value: float) -> None:
        self.client.complete_trial(self.numbers[number], raw_data={"value": value})

    def recommended(self) -> Configuration | None:
        """It names the trial of the lowest value."""
        return None

    def add(self, configuration: Configuration, value: float | None) -> None:
        """A trial attached, then told."""
        parameters = {}
        for h in self.space:
            x = configuration[h.name]  # for spaces without conditions
            is_rest = isinstance(h.range, LogFromOne)
            parameters[self.names[h.column]] = 1 - float(x) if is_rest else x  # type: ignore[arg-type]
        self.numbers.append(self.client.attach_trial(parameters))
        self.tell(len(self.numbers) - 1, value)


def _parameter(name: str, range: Range) -> Any:
    match range:
        case Choice(values):
            kind = {str: "str", bool: "bool", int: "int", float: "float"}[type(values[0])]
            return ChoiceParameterConfig(
                name=name, values=list(values), parameter_type=kind, is_ordered=range.ordered
            )
        case Integers(low, high, log):
            return RangeParameterConfig(
                name=name,
                bounds=(low, high),
                parameter_type="int",
                scaling="log" if log else None,
            )
        case LogFromOne(low, high):
            low, high = 1 - high, 1 - low
    scaling = "log" if isinstance(range, Log | LogFromOne) else None
    low, high = (low, high) if isinstance(range, LogFromOne) else (range.low, range.high)
    return RangeParameterConfig(
        name=name, bounds=(low, high), parameter_type="float", scaling=scaling
    )


def ax(told_worst: bool) -> Opening:
    """As people use it (a diverged trial has failed), or told the worst value."""

    def open_session(problem: Problem, seed: int, trials: int) -> Session:
        return AxSession(problem, seed, told_worst)

    return open_session
