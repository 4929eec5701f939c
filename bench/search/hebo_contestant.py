"""HEBO, told the worst value for a diverged trial, in an interpreter where it is installed."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from hebo.design_space.design_space import DesignSpace
from hebo.optimizers.hebo import HEBO

from tunewright.design.ranges import Choice, Integers, Log, LogFromOne, Range, Value

from .contestant import Session
from .problem import Configuration, Problem

warnings.filterwarnings("ignore")


class HeboSession:
    """One optimizer; conditional hyperparameters are all suggested, and those inactive left out."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.space = problem.study(seed=0, trials=1).space
        parameters = [_parameter(h.column, h.range) for h in self.space]
        self.optimizer = HEBO(DesignSpace().parse(parameters), scramble_seed=seed)
        np.random.seed(seed)  # it draws from the global generator
        self.rows: list[pd.DataFrame] = []
        self.worst: float | None = None
        self.waiting: list[int] = []

    def ask(self, count: int) -> Sequence[Configuration]:
        """A batch; it knows no pending trials beyond the batch itself."""
        suggested = self.optimizer.suggest(n_suggestions=count)
        asked = []
        for i in range(count):
            row = suggested.iloc[[i]]
            self.rows.append(row)
            asked.append(self._configuration(row.iloc[0].to_dict()))
        return asked

    def _configuration(self, parameters: dict[str, Any]) -> Configuration:
        settings: dict[str, Value] = {}
        chosen: dict[str, Value] = {}
        for h in self.space:
            if h.active(settings):
                settings[h.column] = chosen[h.name] = _value(parameters[h.column], h.range)
        return chosen

    def tell(self, number: int, value: float | None) -> None:
        """The value, or the worst one."""
        if value is None and self.worst is None:
            self.waiting.append(number)
            return
        if value is not None:
            self.worst = value if self.worst is None else max(self.worst, value)
        self._observe(number, self.worst if value is None else value)
        for waiting in self.waiting:
            self._observe(waiting, self.worst)
        self.waiting = []

    def _observe(self, number: int, value: float | None) -> None:
        self.optimizer.observe(self.rows[number], np.array([[value]], float))

    def recommended(self) -> Configuration | None:
        """It names the trial of the lowest value."""
        return None

    def add(self, configuration: Configuration, value: float | None) -> None:
        """A row of our own, told."""
        row = {h.column: _given(configuration[h.name], h.range) for h in self.space}
        self.rows.append(pd.DataFrame([row]))
        self.tell(len(self.rows) - 1, value)


def _parameter(name: str, range: Range) -> dict[str, Any]:
    match range:
        case Choice(values):
            return {"name": name, "type": "cat", "categories": [str(v) for v in values]}
        case Integers(low, high, log):
            return {"name": name, "type": "pow_int" if log else "int", "lb": low, "ub": high}
        case LogFromOne(low, high):
            return {"name": name, "type": "pow", "lb": 1 - high, "ub": 1 - low}
        case Log(low, high):
            return {"name": name, "type": "pow", "lb": low, "ub": high}
    return {"name": name, "type": "num", "lb": range.low, "ub": range.high}


def _value(x: Any, range: Range) -> Value:
    if isinstance(range, Choice):
        return next(v for v in range.values if str(v) == x)
    if isinstance(range, Integers):
        return min(max(int(x), range.low), range.high)
    return min(max(float(1 - x if isinstance(range, LogFromOne) else x), range.low), range.high)


def _given(x: Value, range: Range) -> Value:
    if isinstance(range, Choice):
        return str(x)
    return 1 - float(x) if isinstance(range, LogFromOne) else x  # type: ignore[arg-type]


def hebo(problem: Problem, seed: int, trials: int) -> Session:
    """A run of HEBO."""
    return HeboSession(problem, seed)
