"""Training curves with a known answer: how they fall, rise again, wave, and how they tremble.

The simulated world of the curve checks: an improvement of 0.8 down to 0.2, noise with or without
memory from one evaluation to the next.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tunewright.errors import DesignError

Values = npt.NDArray[np.float64]
# none of these ever gets worse
SHAPES = (
    "fast",  # exponential, flat from a quarter on
    "slow",  # exponential, hardly flat at the end
    "step",  # flat, then down where the learning rate is lowered
    "power_half",  # power law, still falling at the end
    "power_one",
    "to_zero",  # as under a schedule that goes to zero: all the gain is used up
    "two_plateaus",
    "linear",  # falling as fast at the end as at the start
)
NOISES = ("normal", "t5", "shrinking", "growing", "to_zero")


def shape(name: str, evaluations: int, best: float = 0.2, improvement: float = 0.8) -> Values:
    """A curve without noise that falls by `improvement` and ends, lowest, at `best`.

    >>> shape("linear", 5).round(2).tolist()
    [1.0, 0.8, 0.6, 0.4, 0.2]
    """
    if evaluations < 1:
        raise DesignError("testing.bad_evaluations", evaluations=evaluations)
    i = np.arange(1, evaluations + 1)
    t = i / evaluations
    shares = {
        "fast": np.exp(-t / 0.08),
        "slow": np.exp(-t / 0.25),
        "step": np.exp(-t / 0.05) + (t <= 0.6),
        "power_half": (1 + (i - 1) / 5) ** -0.5,
        "power_one": (1 + (i - 1) / 5) ** -1.0,
        "to_zero": (1 - t) ** 2,
        "two_plateaus": 0.6 * np.exp(-t / 0.05) + 0.4 / (1 + np.exp((t - 0.5) / 0.02)),
        "linear": 1 - t,
    }
    if name not in shares:
        raise DesignError("testing.unknown_shape", name=name, shapes=list(SHAPES))
    share = shares[name]
    share = (share - share[-1]) / (share[0] - share[-1]) if evaluations > 1 else np.zeros(1)
    return np.asarray(best + improvement * share, dtype=np.float64)


def rise(evaluations: int, by: float, since: float, improvement: float = 0.8) -> Values:
    """What overfitting adds: nothing until `since` (a share), then up to `by` of the improvement.

    >>> rise(5, by=0.5, since=0.6).round(2).tolist()
    [0.0, 0.0, 0.0, 0.2, 0.4]
    """
    t = np.arange(1, evaluations + 1) / evaluations
    return np.asarray(improvement * by * np.maximum(0.0, (t - since) / (1 - since)), np.float64)


def wave(evaluations: int, amplitude: float, period: float) -> Values:
    """What data in a repeated order adds: a sine of this many evaluations."""
    return np.asarray(amplitude * np.sin(2 * np.pi * np.arange(evaluations) / period), np.float64)


def noise(
    random: np.random.Generator, evaluations: int, correlation: float = 0.0, kind: str = "normal"
) -> Values:
    """AR(1) noise of standard deviation 1, on average where it changes along the curve.

    >>> trembling = noise(np.random.default_rng(0), 20_000, correlation=0.8)
    >>> round(float(np.corrcoef(trembling[1:], trembling[:-1])[0, 1]), 1)
    0.8
    """
    if kind not in NOISES:
        raise DesignError("testing.unknown_noise", kind=kind, noises=list(NOISES))
    forgotten = 100  # evaluations until the beginning no longer shows
    size = evaluations + forgotten
    fresh = (
        random.standard_t(5, size) / np.sqrt(5 / 3) if kind == "t5" else random.normal(size=size)
    )
    fresh = fresh * np.sqrt(1 - correlation**2)
    for now in range(1, size):
        fresh[now] += correlation * fresh[now - 1]
    t = np.arange(1, evaluations + 1) / evaluations
    along = {"shrinking": 1.5 - t, "growing": 0.5 + t, "to_zero": 2 * (1 - t)}
    return np.asarray(fresh[forgotten:] * along.get(kind, np.ones_like(t)), dtype=np.float64)
