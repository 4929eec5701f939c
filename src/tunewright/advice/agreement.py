"""Do two lengths of training rank alike? What was concluded from short training is checked on long.

Configurations that both rounds trained are compared by rank: Spearman's correlation with a 90 %
interval (Fisher's transformation with the standard error of Bonett and Wright), and how many of the
best k are the same, beside what chance gives. Where the rounds share no configurations their
scientific settings are compared instead. `truncated` makes the short round out of a long one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tunewright import messages
from tunewright.advice.transfer import transfer
from tunewright.design.ranges import Value
from tunewright.errors import DesignError
from tunewright.facts import plain
from tunewright.messages import Text
from tunewright.stats.noise import Floats
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial

FEWEST = 5  # things ranked
SIDE = 1.645  # standard errors of a 90 % interval
TOP = 5


@dataclass(frozen=True)
class Agreement:
    """How alike two rounds rank what both of them have."""

    of: Literal["configurations", "settings"]
    ranked: int  # how many both have
    correlation: float | None  # of the ranks; None for too few, or without differences
    interval: tuple[float, float] | None  # 90 %
    top: int  # k
    overlap: int  # how many of the best k are the same
    by_chance: float  # how many would be if the ranks were unrelated
    regret: float | None  # what choosing by the short round costs in the long one; 0 is best

    @property
    def agrees(self) -> bool | None:
        """True or False where the interval excludes the other, None on weak evidence."""
        if self.interval is None:
            return None
        if self.interval[0] > 0.5:
            return True
        return False if self.interval[1] < 0.5 else None

    @property
    def says(self) -> Text:
        """The answer in one sentence."""
        return messages.text("agreement", plain(self))


def agreement(short: Results, long: Results, top: int = TOP) -> Agreement:
    """Compare the ranking of a round with that of a longer one, by the longer one's objective."""
    if top < 1:
        raise DesignError("agreement.top_not_positive", top=top)
    short = short.with_objective(long.objective)
    one, other = _by_configuration(short, long), _by_configuration(long, short)
    shared = [key for key in one if key in other]
    of: Literal["configurations", "settings"] = "configurations"
    if len(shared) < FEWEST:
        settings, long_settings = _by_setting(short), _by_setting(long)
        both = [key for key in settings if key in long_settings]
        if len(both) > len(shared):
            one, other, shared, of = settings, long_settings, both, "settings"
    a = np.array([one[key] for key in shared], dtype=float)
    b = np.array([other[key] for key in shared], dtype=float)
    return compared(a, b, of, top)


def compared(
    short: Floats,
    long: Floats,
    of: Literal["configurations", "settings"] = "configurations",
    top: int = TOP,
) -> Agreement:
    """The agreement of two lists of losses (lower is better) of the same things."""
    count = len(short)
    k = max(1, min(top, count // 2))
    if count == 0:
        return Agreement(of, 0, None, None, k, 0, 0.0, None)
    first = np.argsort(short, kind="stable")
    overlap = len(set(first[:k].tolist()) & set(np.argsort(long, kind="stable")[:k].tolist()))
    correlation = _correlation(short, long) if count >= FEWEST else None
    interval = None if correlation is None else _interval(correlation, count)
    regret = float(long[first[0]] - long.min())
    return Agreement(of, count, correlation, interval, k, overlap, k * k / count, regret)


def truncated(results: Results, steps: int) -> Results:
    """The results as they would be had every training stopped at this step.

    The schedule is that of the longer training, so a curve that is still to decay looks worse here
    than in a round of this length.
    """
    if steps < 1:
        raise DesignError("agreement.truncated_too_short", steps=steps)
    return replace(
        results,
        recorded=tuple(_cut(trial, steps) for trial in results.recorded),
        recorded_repeats=tuple(_cut(trial, steps) for trial in results.recorded_repeats),
    )


def _cut(trial: Trial, steps: int) -> Trial:
    points, later, finite = {}, False, True
    for name, curve in trial.curves.items():
        kept = curve.steps <= steps
        later |= not kept.all()
        if kept.any():
            points[name] = (curve.steps[kept], curve.values[kept])
            finite &= bool(np.isfinite(curve.values[kept]).all())
    curves = Curves([Batch(1, 0, pack(points))] if points else ())
    if trial.status == "infeasible" and later and finite and points:
        return replace(trial, curves=curves, status="completed", reason=None)  # it diverged later
    return replace(trial, curves=curves)


def _by_configuration(results: Results, other: Results) -> dict[object, float]:
    """The loss of each completed configuration, without what makes the rounds differ in length."""
    names = {n for t in results.trials for n in t.configuration}
    names &= {n for t in other.trials for n in t.configuration}
    kept = {n for n in names if transfer(n, results.meaning).area not in ("length", "schedule")}
    found: dict[object, float] = {}
    for trial in results.top(len(results.trials)):  # the best of equal ones comes first
        assert trial.value is not None
        found.setdefault(_key(trial.configuration, kept), -results.objective.sign * trial.value)
    return found


def _by_setting(results: Results) -> dict[object, float]:
    """The best loss of each scientific setting."""
    found: dict[object, float] = {}
    for trial in results.top(len(results.trials)):
        assert trial.value is not None
        setting = results.studies[trial.study].scientific
        found.setdefault(_key(setting, setting), -results.objective.sign * trial.value)
    return found


def _key(configuration: Mapping[str, Value], names: Collection[str]) -> object:
    return tuple(sorted((n, repr(v)) for n, v in configuration.items() if n in names))


def _correlation(a: Floats, b: Floats) -> float | None:
    """Spearman's rank correlation; None when one of them has no differences."""
    from scipy.stats import rankdata

    x, y = rankdata(a), rankdata(b)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _interval(correlation: float, count: int) -> tuple[float, float] | None:
    if count < FEWEST:
        return None
    near = min(max(correlation, -1 + 1e-9), 1 - 1e-9)
    error = SIDE * math.sqrt((1 + near * near / 2) / (count - 3))
    return math.tanh(math.atanh(near) - error), math.tanh(math.atanh(near) + error)
