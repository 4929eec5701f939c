"""Curves as tables: points at equal steps, thinned when irregular, averaged when too many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tunewright.actions import Action, Advise, Declare
from tunewright.messages import Message
from tunewright.stats.noise import FEWEST, Floats
from tunewright.store.curves import Curve, Steps, Values
from tunewright.store.trial import Trial

LONGEST = 400  # points: the longest curves the error rates were measured on


@dataclass(frozen=True, eq=False)
class SpacedCurves:
    """Curves with the same number of points, one trial to a row."""

    trials: tuple[Trial, ...]
    steps: Steps  # (trials, points): the step each point ends at
    values: Floats  # (trials, points): lower is better


def at_equal_steps(curve: Curve, longest: int = LONGEST) -> tuple[Steps, Values] | None:
    """The finite points of a curve at equal steps, at most `longest`; None if that cannot be had.

    Too many points become means of neighbours, which also lowers their noise. The end of the curve
    is always kept; what does not fill a mean is left out at the start.

    >>> points = at_equal_steps(Curve(np.arange(1000), np.arange(1000.0)), longest=400)
    >>> [part[-1] for part in points], len(points[0])
    ([np.int64(999), np.float64(998.0)], 333)
    """
    finite = np.isfinite(curve.values)
    steps, values = curve.steps[finite], curve.values[finite]
    if len(steps) < FEWEST:
        return None
    if not _regular(steps):
        kept = _thin(steps)
        if len(kept) < FEWEST or not _regular(steps[kept]):
            return None
        steps, values = steps[kept], values[kept]
    many = -(-len(steps) // longest)
    if many > 1:
        start = len(steps) % many
        steps = steps[start:].reshape(-1, many)[:, -1]
        values = values[start:].reshape(-1, many).mean(axis=1)
    return steps, values


def tables(
    trials: Sequence[Trial], metric: str, sign: float = 1.0, longest: int = LONGEST
) -> Iterator[SpacedCurves]:
    """The trials' curves of one metric, times `sign`, those of one length together.

    Trials without the metric, or with too few or too irregular points, are left out.
    """
    by_length: dict[int, list[tuple[Trial, Steps, Values]]] = {}
    for trial in trials:
        curve = trial.curves.only(metric)
        points = None if curve is None else at_equal_steps(curve, longest)
        if points is not None:
            by_length.setdefault(len(points[0]), []).append((trial, *points))
    for rows in by_length.values():
        yield SpacedCurves(
            tuple(trial for trial, _, _ in rows),
            np.stack([steps for _, steps, _ in rows]),
            sign * np.stack([values for _, _, values in rows]),
        )


def average(table: SpacedCurves, longest: int) -> SpacedCurves:
    """The same curves with at most so many points: means of neighbours, the end kept."""
    points = table.values.shape[1]
    many = -(-points // longest)
    if many == 1:
        return table
    start = points % many
    steps = table.steps[:, start:].reshape(len(table.steps), -1, many)[:, :, -1]
    values = table.values[:, start:].reshape(len(table.values), -1, many).mean(axis=2)
    return SpacedCurves(table.trials, steps, values)


def unreadable(
    trials: Sequence[Trial], metric: str, meaning: str | None = None, fewest: int = FEWEST
) -> tuple[Message, tuple[Action, ...]]:
    """Why no curve of this metric can be judged, and what to do about it."""
    logged = tuple(dict.fromkeys(name for trial in trials for name in trial.curves))
    if metric not in logged:
        why = Message("judge.metric_not_logged", {"metric": metric, "logged": list(logged)})
        if meaning is None:
            return why, (Advise("log_metric", {"metric": metric}),)
        likely = [n for n in logged if all(word in n.lower() for word in meaning.split("_"))]
        return why, (Declare(meaning, likely[0] if likely else None),)
    advice = (Advise("evaluate_more_often"),)
    most = max(len(curve) for trial in trials if (curve := trial.curves.only(metric)) is not None)
    if most < fewest:
        facts = {"metric": metric, "points": most, "needed": fewest}
        return Message("judge.few_points", facts), advice
    return Message("judge.uneven_steps", {"metric": metric}), advice


def _regular(steps: Steps) -> bool:
    """Whether nine in ten gaps are about alike; the last one may be cut short by the end."""
    gaps = np.diff(steps)
    usual = np.median(gaps)
    return bool(np.mean((gaps > 0.5 * usual) & (gaps < 1.5 * usual)) >= 0.9)


def _thin(steps: Steps) -> list[int]:
    """Positions about one wide gap apart, counted from the end."""
    wide = 0.75 * np.quantile(np.diff(steps), 0.9)
    kept = [len(steps) - 1]
    for position in range(len(steps) - 2, -1, -1):
        if steps[kept[-1]] - steps[position] >= wide:
            kept.append(position)
    return kept[::-1]
