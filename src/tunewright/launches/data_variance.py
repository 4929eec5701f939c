"""Data variance: how far would the value move with other examples to evaluate on, or to train on?

Two models are evaluated on the same examples, so the difference between them is known much better
than either value: per example, the variance of its mean is that of the paired differences over
their number (for right and wrong answers this is McNemar's (b + c - (b - c)^2 / n) / n^2). A
training program keeps them as `per_example.npy` in its folder: one number for each evaluation
example, at the checkpoint that is judged, in the same order in every trial.

What other splits into training and validation do is seen by training on several: `by_split`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tunewright.errors import DesignError
from tunewright.launches.arm import Arm
from tunewright.launches.terms import FEWEST_SPLITS
from tunewright.messages import Message
from tunewright.stats.measurement import sd_of_difference
from tunewright.stats.noise import Floats
from tunewright.stats.spread import Spread, chi_square_interval
from tunewright.store.results import Results
from tunewright.store.trial import Trial

FILE = "per_example.npy"
DRAWS = 1000  # of the bootstrap
_FEWEST_EXAMPLES = 30
UNKNOWN_FREEDOM = 30  # of a measurement on an unknown number of examples
_THIRD = 3.0  # of the degrees of freedom are used, as for repeats: the noise is not normal

Statistic = Callable[[Floats], float]


def of_value(examples: npt.ArrayLike) -> Spread:
    """How well the value of one run is known from finitely many examples, being their mean.

    Give one number per example, or a row of them for each run: the variance is then the mean of
    the runs' own. Averaging the runs first would measure how well their average is known, which is
    less than the variance of the one run that is used.

    >>> right = [1, 1, 0, 1] * 25
    >>> of_value(right).sd.__round__(4), of_value([right, right[::-1]]).sd.__round__(4)
    (0.0435, 0.0435)
    """
    values = np.atleast_2d(np.asarray(examples, dtype=float))
    runs = [_rows(run, "the examples") for run in values]
    sd = float(np.sqrt(np.mean([run.var(ddof=1) for run in runs]) / len(runs[0])))
    low, high = chi_square_interval(sd, len(runs[0]) - 1)
    facts = {"examples": len(runs[0]), "runs": len(runs)}
    how = Message("variance.examples" if len(runs) == 1 else "variance.examples_of_runs", facts)
    return Spread("data", sd, low, high, len(runs[0]) - 1, how)


def of_gain(
    candidate: npt.ArrayLike, baseline: npt.ArrayLike, statistic: Statistic | None = None
) -> Spread:
    """How well the difference of two values is known from finitely many shared examples.

    Give one number per example, or a row of them for each run, which are then averaged. A metric
    that is no mean of its examples is named by `statistic` and bootstrapped in pairs.

    >>> of_gain([1, 1, 0, 1] * 25, [1, 0, 0, 1] * 25).sd.__round__(4)
    0.0435
    """
    b, a = _rows(candidate, "the candidate's examples"), _rows(baseline, "the baseline's examples")
    if len(a) != len(b):
        raise DesignError("launch.examples_differ", candidate=len(b), baseline=len(a))
    if statistic is None:
        return _of_mean(b - a, "variance.shared_examples")
    picks = np.random.default_rng(0xDA7A).integers(len(a), size=(DRAWS, len(a)))
    gaps = [statistic(b[pick]) - statistic(a[pick]) for pick in picks]
    sd = float(np.std(gaps, ddof=1))
    low, high = chi_square_interval(sd, len(a) - 1)
    how = Message("variance.bootstrap", {"examples": len(a), "draws": DRAWS})
    return Spread("data", sd, low, high, len(a) - 1, how)


def of_measurement(candidate: Arm, baseline: Arm) -> Spread | None:
    """How well the difference of two arms is known from what their runs report of each value.

    None where that is not known, and where the runs are on several splits: their spread has it.
    Repeats on one validation set share their error, so that more of them do not lower it.
    """
    one, other = candidate.measured_sd, baseline.measured_sd
    if one is None or other is None or len({*candidate.splits, *baseline.splits}) > 1:
        return None
    sd = sd_of_difference(one, other)
    if not sd > 0:
        return None
    counts = [n for n in (candidate.examples, baseline.examples) if n is not None]
    freedom = max(min(counts) - 1, 1) if len(counts) == 2 else UNKNOWN_FREEDOM
    low, high = chi_square_interval(sd, freedom)
    how = Message("variance.measurement", {"examples": min(counts) if counts else None})
    return Spread("data", sd, low, high, freedom, how)


def by_split(arm: Arm) -> Spread | None:
    """How far the value moves from one data split to the next, seeds included."""
    means = [float(values.mean()) for values in arm.by_split().values()]
    if len(means) < FEWEST_SPLITS:
        return None
    sd = float(np.std(means, ddof=1))
    low, high = chi_square_interval(sd, max(1.0, (len(means) - 1) / _THIRD))
    how = Message("variance.splits", {"splits": len(means)})
    return Spread("data", sd, low, high, len(means) - 1, how)


def examples_of(results: Results, trials: Iterable[Trial]) -> Floats | None:
    """What the trials kept per example, averaged over them; None if none kept anything."""
    found = runs_of(results, trials)
    return None if found is None else np.asarray(found.mean(axis=0))


def runs_of(results: Results, trials: Iterable[Trial]) -> Floats | None:
    """What each of the trials kept per example, a row for each that did; None if none did."""
    found = []
    for trial in trials:
        path = Path(results.root, trial.folder, FILE) if results.root and trial.folder else None
        if path is not None and path.is_file():
            found.append(_read(path))
    if not found:
        return None
    if len({len(own) for own in found}) > 1:
        raise DesignError("launch.trials_differ_in_examples", file=FILE)
    return np.stack(found)


def _read(path: Path) -> Floats:
    try:
        return np.asarray(np.load(path, allow_pickle=False), dtype=float).reshape(-1)
    except (OSError, ValueError) as error:
        raise DesignError("launch.not_an_array", path=path, error=error) from None


def _of_mean(values: Floats, how: str) -> Spread:
    count = len(values)
    sd = float(np.std(values, ddof=1)) / np.sqrt(count)
    low, high = chi_square_interval(sd, count - 1)
    return Spread("data", float(sd), low, high, count - 1, Message(how, {"examples": count}))


def _rows(examples: npt.ArrayLike, what: str) -> Floats:
    values = np.asarray(examples, dtype=float)
    if values.ndim == 2:
        values = values.mean(axis=0)
    if values.ndim != 1 or len(values) < _FEWEST_EXAMPLES or not np.isfinite(values).all():
        raise DesignError("launch.too_few_examples", what=what, fewest=_FEWEST_EXAMPLES)
    return values
