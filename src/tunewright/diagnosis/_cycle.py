"""The strongest cycle of a curve, and how likely one so strong is without any cycle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tunewright.checks.periodicity import fisher_chance
from tunewright.stats.noise import Floats

FEWEST = 40  # points
_SETTLING = 0.25  # of the curve: its beginning falls too fast to show a cycle
_TREND = 0.2  # of the curve: the running median of so many points is the trend
_ROUNDS = 5.5  # a cycle comes round at least so often: what is slower is trend
_CLIP = 2.0  # standard deviations: a single outlier is no cycle
_INNER, _INNER_SD = 0.8, 1.2816  # that share of Gaussian noise is within so many sd
_PER_BIN = 2  # frequencies to each independent one
_ROUNDING = 1e-9  # of the values: a smaller movement is none
_SMALLEST, _LARGEST = -0.5, 0.9  # correlation of neighbouring evaluations


@dataclass(frozen=True)
class Cycle:
    """The strongest cycle of one curve."""

    length: float  # in points
    chance: float  # of one so strong where evaluations are noise around a trend


def strongest_cycle(values: Floats) -> Cycle | None:
    """Search a curve of at least 40 equally spaced points for a cycle; None: it does not move.

    A running median is the trend. The rest is compared with the spectrum of AR(1) noise, whose
    correlation is estimated without the cycle in question: a slow cycle would pass for correlation.

    >>> falling = 1 / np.arange(1, 201)
    >>> noise = 0.01 * np.random.default_rng(1).normal(size=200)
    >>> wave = 0.02 * np.sin(2 * np.pi * np.arange(200) / 12)
    >>> strongest_cycle(falling + noise).chance > 0.01
    True
    >>> found = strongest_cycle(falling + noise + wave)
    >>> round(found.length), found.chance < 1e-6
    (12, True)
    """
    rest = _without_trend(values)
    if rest is None:
        return None
    count = len(rest)
    cycles = np.arange(_ROUNDS, (count - 1) / 2, 1 / _PER_BIN) / count
    waves = np.exp(-2j * np.pi * np.outer(cycles, np.arange(count)))
    power = np.abs(waves @ rest) ** 2
    flat = power * _inverse_spectrum(_correlation(rest), cycles)
    best = Cycle(float(count), 1.0)
    for at in {int(power.argmax()), int(flat.argmax())}:
        basis, _ = np.linalg.qr(np.stack([waves[at].real, waves[at].imag], axis=1))
        correlation = _correlation(rest - basis @ (basis.T @ rest))
        even = power * _inverse_spectrum(correlation, cycles)
        share = np.array([min(even[at] * _PER_BIN / even.sum(), 1.0)])
        chance = float(fisher_chance(share, len(cycles) // _PER_BIN)[0])
        if chance < best.chance:
            best = Cycle(float(1 / cycles[at]), chance)
    return best


def _without_trend(values: Floats) -> Floats | None:
    """The settled part of a curve around its running median, outliers cut; its mean is zero.

    None where it moves by rounding errors only.
    """
    from scipy.ndimage import median_filter

    width = max(7, int(_TREND * len(values))) | 1
    trend = median_filter(values, width, mode="nearest")
    rest = (values - trend)[int(_SETTLING * len(values)) :]
    # not the median: on a steep stretch most points are their own running median
    limit = _CLIP * float(np.quantile(np.abs(rest), _INNER)) / _INNER_SD
    if limit <= _ROUNDING * float(np.median(np.abs(values))):
        return None
    rest = np.clip(rest, -limit, limit)
    return np.asarray(rest - rest.mean())


def _correlation(rest: Floats) -> float:
    """Of neighbours; raised by what the estimate from so few points is too low."""
    squares = float((rest**2).sum()) + 1e-300
    lag_one = float((rest[1:] * rest[:-1]).sum()) / squares
    return float(np.clip(lag_one + 1 / len(rest), _SMALLEST, _LARGEST))


def _inverse_spectrum(correlation: float, cycles: Floats) -> Floats:
    """What makes all frequencies of AR(1) noise alike."""
    return np.asarray(1 + correlation**2 - 2 * correlation * np.cos(2 * np.pi * cycles))
