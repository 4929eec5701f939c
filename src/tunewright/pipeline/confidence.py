"""How far may a measured value be from the true one? Intervals for what an evaluation measures.

Accuracies take Wilson's interval (it stays inside 0..1 and holds for 3 of 4), means of losses
Student's t, with clusters where examples come in families, and everything that is no mean (F1, AUC,
BLEU) the percentile bootstrap over examples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tunewright.errors import PipelineError
from tunewright.stats import spread


@dataclass(frozen=True)
class Interval:
    """An estimate and the range that holds the true value in `level` of all cases."""

    estimate: float
    low: float
    high: float
    level: float = 0.95

    def __str__(self) -> str:
        return f"{self.estimate:.4g} ({self.low:.4g} to {self.high:.4g})"


def wilson(correct: float, total: float, level: float = 0.95) -> Interval:
    """The interval of a proportion, such as an accuracy.

    >>> print(wilson(9, 10))
    0.9 (0.5958 to 0.9821)
    >>> wilson(0, 5).low
    0.0
    """
    if not 0 <= correct <= total or not total:
        raise PipelineError("confidence.bad_proportion", correct=correct, total=total)
    low, high = spread.wilson(correct, total, NormalDist().inv_cdf(_upper(level)))
    return Interval(correct / total, low, high, level)


def mean_interval(
    values: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95
) -> Interval:
    """The interval of a mean, such as a loss, by Student's t.

    `clusters` names the family of each example (the document of a sentence, the patient of a scan):
    examples of one family are alike, so only the families count as independent.

    >>> print(mean_interval([1.0, 2.0, 3.0, 4.0]))
    2.5 (0.4457 to 4.554)
    """
    from scipy import stats

    flat = np.asarray(values, dtype=np.float64).ravel()
    mean = float(flat.mean()) if flat.size else math.nan
    if clusters is None:
        residuals = flat - mean
    else:
        _, family = np.unique(np.asarray(clusters).ravel(), return_inverse=True)
        if family.size != flat.size:
            raise PipelineError("confidence.cluster_count", clusters=family.size, values=flat.size)
        residuals = np.bincount(family, weights=flat - mean).astype(np.float64)
    independent = residuals.size
    if independent < 2:
        raise PipelineError("confidence.too_few_values", independent=independent)
    error = math.sqrt(independent / (independent - 1) * float(residuals @ residuals)) / flat.size
    half = float(stats.t.ppf(_upper(level), independent - 1)) * error
    return Interval(mean, mean - half, mean + half, level)


def sd_of_mean(mean: float, squares: float, weight: float, examples: int) -> float:
    """The standard deviation of a mean over other examples of the same kind.

    `squares` is the sum over the examples of (weight x distance from the mean) squared. Where all
    values are the same and the mean is 0 or 1, as of a model without an error, it is that of a
    proportion (Jeffreys), so that 0 of 100 is not taken for certain.

    >>> round(sd_of_mean(0.25, 18.75, 100.0, 100), 4), round(sd_of_mean(0.0, 0.0, 100.0, 100), 4)
    (0.0435, 0.0069)
    """
    if squares > 0 or mean not in (0.0, 1.0):
        return math.sqrt(examples / (examples - 1) * squares) / weight
    share = 0.5 / (examples + 1)
    return math.sqrt(share * (1 - share) / (examples + 2))


def bootstrap(
    statistic: Callable[..., float],
    *columns: ArrayLike,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """The interval of any statistic of per-example columns: `bootstrap(f1, predicted, actual)`.

    Examples are drawn again with replacement, the columns together. Resamples in which the
    statistic is undefined (nan) are left out.

    >>> print(bootstrap(np.median, [1.0, 2.0, 3.0, 4.0, 100.0]))
    3 (1 to 100)
    """
    arrays: list[np.ndarray[Any, Any]] = [np.asarray(column) for column in columns]
    sizes = {len(array) for array in arrays}
    if len(sizes) != 1 or not min(sizes):
        raise PipelineError("confidence.unequal_columns", sizes=sorted(sizes))
    generator, size = np.random.default_rng(seed), sizes.pop()
    drawn = [
        statistic(*(array[ids] for array in arrays))
        for ids in (generator.integers(0, size, size) for _ in range(resamples))
    ]
    low, high = np.nanquantile(drawn, [1 - _upper(level), _upper(level)])
    return Interval(float(statistic(*arrays)), float(low), float(high), level)


def _upper(level: float) -> float:
    """The quantile that leaves half of what is outside the interval above it."""
    if not 0 < level < 1:
        raise PipelineError("confidence.bad_level", level=level)
    return (1 + level) / 2
