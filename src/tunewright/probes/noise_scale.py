"""The gradient noise scale: a cheap first look at the critical batch size, to a power of ten.

From squared norms of gradients of a small and of a large batch at the same weights: |G|^2, what all
data agree on, and S, the noise of single examples; their ratio is the batch at which both are
alike. It needs gradients before clipping and without loss scaling, and grows during training. It
chooses which batch sizes to study; it does not replace `probes.critical_batch`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tunewright import messages
from tunewright.errors import DesignError, NotFound
from tunewright.facts import Facts
from tunewright.messages import Message, Text
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_DECAY = 0.99  # of the running means
_SHARES = (0.1, 0.5, 0.9)  # of training, at which it is reported
_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NoiseScale(Facts):
    """The noise scale in examples, in the course of a training."""

    small: int  # batch sizes whose gradients were compared
    big: int  # the larger of the two
    measurements: int  # pairs of norms
    at: tuple[tuple[float, float | None], ...]  # share of training, noise scale; None: drowned

    @property
    def batch_size(self) -> float | None:
        """The last one of the course; None where noise drowned the gradient."""
        return self.at[-1][1]

    @property
    def message(self) -> Message:
        """The course of a training as a code with its facts."""
        return Message("probe.noise_scale.course", {"course": [list(point) for point in self.at]})

    @property
    def headline(self) -> Text:
        """Where it ends, in at most twelve words."""
        return messages.text(f"{self.message.code}.headline", self.message.facts)


def noise_scale(
    small_norms: npt.ArrayLike,
    big_norms: npt.ArrayLike,
    small: int,
    big: int,
    decay: float = _DECAY,
) -> NoiseScale:
    """The noise scale from gradient norms of batches of two sizes, measured at the same steps.

    Both quantities are averaged over steps on their own before the ratio is taken: the mean of
    ratios would be ruled by the steps whose gradient happens to vanish.

    Args:
        small_norms: gradient norms of the smaller batches, one per step.
        big_norms: gradient norms of the larger batches at the same steps.
        small: examples in a smaller batch.
        big: examples in a larger batch.
        decay: of the running averages over steps.
    """
    lows, bigs = (np.square(np.asarray(n, dtype=float)) for n in (small_norms, big_norms))
    if not 0 < small < big:
        raise DesignError("noise_scale.bad_sizes", small=small, big=big)
    if lows.shape != bigs.shape or lows.ndim != 1 or not len(lows):
        raise DesignError("noise_scale.unequal_norms", small=lows.size, big=bigs.size)
    usable = np.isfinite(lows) & np.isfinite(bigs)
    lows, bigs = lows[usable], bigs[usable]
    if not len(lows):
        raise DesignError("noise_scale.no_finite_norm")
    signal = _running_mean((big * bigs - small * lows) / (big - small), decay)
    noise = _running_mean((lows - bigs) / (1 / small - 1 / big), decay)
    course = []
    for share in _SHARES:
        at = min(len(lows) - 1, round(share * len(lows)))
        fine = signal[at] > 0 and noise[at] > 0
        course.append((share, float(noise[at] / signal[at]) if fine else None))
    return NoiseScale(small, big, len(lows), tuple(course))


def squared_norms(micro_batches: Iterable[Sequence[Any]]) -> tuple[float, float]:
    """Squared gradient norms of a micro-batch (their mean) and of all together, for `noise_scale`.

    Take the roots to log norms.

    Args:
        micro_batches: each the sequence of its gradients, tensors of torch or arrays of numpy, one
            per parameter, each the mean over the same number of examples.

    >>> squared_norms([[np.array([1.0, 0.0])], [np.array([0.0, 1.0])]])
    (1.0, 0.5)
    """
    count, apart, together = 0, 0.0, list[Any]()
    for gradients in micro_batches:
        grads = list(gradients)
        apart = apart + sum((g * g).sum() for g in grads)  # on the device: read once, at the end
        together = [t + g for t, g in zip(together, grads, strict=True)] if count else grads
        count += 1
    if count < 2:
        raise DesignError("noise_scale.too_few_micro_batches", count=count)
    whole = sum(((g / count) * (g / count)).sum() for g in together)
    return float(apart) / count, float(whole)


def noise_scale_of_trial(
    results: Results,
    small: int,
    big: int,
    small_norm: str = "gradient_norm_small",
    big_norm: str | None = None,
    trial: Trial | None = None,
) -> NoiseScale:
    """The noise scale of a recorded trial, the best one by default, from two logged norms.

    The norm of the large batch is what means `gradient_norm`, unless it is named.
    """
    chosen = results.best() if trial is None else trial
    wide = big_norm or results.meaning.name("gradient_norm")
    curves = {name: chosen.curves.only(name) for name in (small_norm, wide)}
    missing = [name for name, curve in curves.items() if curve is None]
    if missing:
        raise NotFound("noise_scale.not_logged", trial=chosen.number, missing=" and ".join(missing))
    left, right = (curves[name] for name in (small_norm, wide))
    assert left is not None and right is not None
    _, a, b = np.intersect1d(left.steps, right.steps, return_indices=True)
    return noise_scale(left.values[a], right.values[b], small, big)


def _running_mean(values: _Floats, decay: float) -> _Floats:
    """Exponential, unbiased from the first value on."""
    from scipy.signal import lfilter

    weights = 1 - decay ** np.arange(1, len(values) + 1)
    means: _Floats = np.asarray(lfilter([1 - decay], [1, -decay], values)) / weights
    return means
