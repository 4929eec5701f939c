"""What a model learns from: outcomes, trials without one yet, and trials of earlier rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tunewright.design.conditions import holds
from tunewright.design.ranges import Value, same_value
from tunewright.design.study import Study
from tunewright.search.bayesian.encoding import Encoding
from tunewright.search.search import next_index
from tunewright.stats.measurement import own_sd
from tunewright.store.results import Results
from tunewright.store.trial import Trial

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class History:
    """Rows of positions and what came of them; smaller values are better."""

    encoding: Encoding
    rows: Array  # trials with an outcome: this study's, then those of earlier rounds
    values: Array  # NaN where infeasible
    study_count: int  # how many of the rows are this study's
    waiting: Array  # rows of this study's trials without one: running, failed, or pruned (censored)
    trials: tuple[Trial, ...]  # the study's own with an outcome, in the order of the rows
    next_index: int
    # the part of each value's measurement error that others do not share, as sd; 0: not known
    measured: Array

    @property
    def feasible(self) -> npt.NDArray[np.bool_]:
        """Which rows have a value."""
        return np.isfinite(self.values)

    @property
    def claimed(self) -> int:
        """How many trials of this study have been given out."""
        return self.study_count + len(self.waiting)

    @cached_property
    def left(self) -> float:
        """How many configurations of the study have not been tried."""
        return self.encoding.configurations - len(set(self.encoding.keys(self.tried)))

    @property
    def tried(self) -> Array:
        """The rows of all trials of this study."""
        return np.vstack([self.rows[: self.study_count], self.waiting])


def history(study: Study, trials: Sequence[Trial], earlier: Sequence[Results] = ()) -> History:
    """Read the trials of a study, and those of earlier rounds that can count as its own."""
    encoding = Encoding(study)
    ordered = sorted(trials, key=_order)
    ended = [t for t in ordered if t.value is not None or t.status == "infeasible"]
    others = [t for t in ordered if t.value is None and t.status != "infeasible"]
    before = [outcome for results in earlier for outcome in _compatible(study, results)]
    units = [*(_unit(study, t) for t in ended), *(unit for unit, *_ in before)]
    values = [*(t.value for t in ended), *(value for _, value, _ in before)]
    measured = [*(_own_error(t) for t in ended), *(sd for *_, sd in before)]
    return History(
        encoding=encoding,
        rows=encoding.positions(units),
        values=np.array([math.nan if v is None else v for v in values], dtype=np.float64),
        study_count=len(ended),
        waiting=encoding.positions([_unit(study, t) for t in others]),
        trials=tuple(ended),
        next_index=next_index(trials),
        measured=np.array(measured, dtype=np.float64),
    )


def _order(trial: Trial) -> tuple[object, ...]:
    """A key that is the same for any order in which trials arrive."""
    by_hand = trial.index is None
    return (
        by_hand,
        trial.index or 0,
        trial.number or 0,
        trial.parent or 0,
        trial.seed,
        trial.identity,
        sorted(trial.unit.items()),
        trial.value or 0.0,
    )


def _unit(study: Study, trial: Trial) -> Mapping[str, float]:
    return trial.unit or study.unit(trial.configuration)


def _compatible(
    study: Study, results: Results
) -> Iterable[tuple[Mapping[str, float], float | None, float]]:
    """What this study could have made, but for its bounds: position, value, measurement error."""
    sign = -results.objective.sign
    for trial in results.rows:
        bound = trial.bound_of(results.objective.metric)  # of one that was stopped early
        value = bound if trial.value is None else trial.value
        if value is None and trial.status != "infeasible":
            continue
        unit = _position(study, trial.configuration)
        if unit is not None:
            yield unit, None if value is None else sign * value, _own_error(trial)


def _own_error(trial: Trial) -> float:
    """The part of its measurement error, as a standard deviation, that is its own."""
    return 0.0 if trial.measured is None else own_sd(trial.measured.sd)


def _position(study: Study, configuration: Mapping[str, Value]) -> dict[str, float] | None:
    """Where it lies in the study's space, beyond its bounds too; None if it is of another one."""
    settings: dict[str, Value] = dict(study.scientific)
    names: dict[str, Value | None] = dict(study.scientific)
    unit: dict[str, float] = {}
    for h in study.space:
        if not h.active(settings):
            continue
        position = h.range.place(configuration[h.name]) if h.name in configuration else None
        if position is None:
            return None
        unit[h.column] = position
        settings[h.column] = names[h.name] = configuration[h.name]
    names |= {f.name: f.value for f in study.fixed if holds(f.when, settings)}
    alike = names.keys() == configuration.keys() and all(
        same_value(configuration[name], value) for name, value in names.items()
    )
    return unit if alike else None
