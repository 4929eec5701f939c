"""A logged curve made ready for the questions: equally spaced, smoothed, lower is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tunewright.checks.spacing import LONGEST, at_equal_steps
from tunewright.messages import Message
from tunewright.stats.noise import FEWEST, Floats, NoisyCurves, noisy_curves
from tunewright.store.curves import Curve

_ROUGH = 0.1  # of the improvement: noisier curves become means of neighbours
_SMOOTHED = 80  # points that a smoothed curve keeps at least


@dataclass(frozen=True, eq=False)
class ReadCurve:
    """One metric of one run."""

    name: str
    steps: Floats  # as logged, in order
    values: Floats  # as logged, times the sign that makes lower better; NaN and infinities too
    sign: float

    @property
    def finite(self) -> bool:
        """Whether every value is a number."""
        return bool(np.isfinite(self.values).all())

    def table(self, longest: int = LONGEST) -> tuple[Floats, Floats] | None:
        """Finite points at equal steps, at most so many; None where that cannot be had."""
        points = at_equal_steps(Curve(self.steps.astype(np.int64), self.values), longest)
        return None if points is None else (points[0].astype(np.float64), points[1])

    def noisy(self) -> tuple[Floats, NoisyCurves] | None:
        """The curve with its noise; a rough one, such as per-step losses, is smoothed first."""
        points = self.table()
        if points is None:
            return None
        steps, values = points
        curves = noisy_curves(values)
        while len(values) >= 2 * _SMOOTHED and curves.sd[0] > _ROUGH * curves.total[0]:
            start = len(values) % 2
            steps = steps[start:].reshape(-1, 2)[:, -1]
            values = values[start:].reshape(-1, 2).mean(axis=1)
            curves = noisy_curves(values)
        return steps, curves


def read_curve(
    name: str, steps: Sequence[float], values: Sequence[float], sign: float
) -> ReadCurve:
    """A curve in the order of its steps; of several values at one step the last counts."""
    at, numbers = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    order = np.argsort(at, kind="stable")
    at, numbers = at[order], numbers[order]
    last = np.append(np.diff(at) > 0, True) if len(at) else np.zeros(0, dtype=bool)
    return ReadCurve(name, at[last], sign * numbers[last], sign)


def why_not(curve: ReadCurve, fewest: int = FEWEST) -> Message:
    """Why a curve cannot be judged."""
    points = int(np.isfinite(curve.values).sum())
    if points < fewest:
        facts = {"metric": curve.name, "points": points, "needed": fewest}
        return Message("diagnosis.few_points", facts)
    return Message("diagnosis.uneven_steps", {"metric": curve.name})
