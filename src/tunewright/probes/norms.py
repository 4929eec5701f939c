"""Where might clipping begin? The 90th percentile of the gradient's norm over stable steps.

And how much would be clipped there: an update clipped more often than every second time is a
strange way of lowering the learning rate (playbook, "How to choose gradient clipping").
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tunewright.stats.noise import Floats
from tunewright.store.curves import Curve

PERCENTILE = 90  # playbook, "How to choose gradient clipping"
HEAD = 0.01  # of the steps: the very first norms are those of the initialisation
FEWEST = 30  # stable steps
WINDOWS = 10
TOO_OFTEN = 0.5  # playbook: "greater than 50 % of the updates getting clipped"
AT_THE_THRESHOLD = 1e-3  # relative: a norm logged after clipping is no further above it


@dataclass(frozen=True)
class Clipped:
    """How often one threshold clips."""

    threshold: float
    share: float  # of all steps
    worst: float  # of the steps of the worst tenth of training, warm-up and the first tenth aside
    from_step: int = 0  # where that tenth lies
    to_step: int = 0

    @property
    def too_often(self) -> bool:
        """Whether it lowers the learning rate in disguise."""
        return self.worst > TOO_OFTEN


def stable_norms(
    norms: Curve, unstable: Sequence[tuple[int, int]], warmup_steps: float, early: bool
) -> Floats:
    """The norms of stable steps; without the first ones and warm-up, unless instability is early.

    >>> steps = np.arange(1, 201)
    >>> found = stable_norms(Curve(steps, steps * 1.0), [(100, 150)], warmup_steps=20, early=False)
    >>> (found.min(), found.max(), len(found))
    (np.float64(21.0), np.float64(200.0), 129)
    """
    kept = np.isfinite(norms.values)
    for first, last in unstable:
        kept &= (norms.steps < first) | (norms.steps > last)
    if not early and len(norms):
        kept &= norms.steps > max(warmup_steps, HEAD * float(norms.steps[-1]))
    return np.asarray(norms.values[kept])


def first_threshold(norms: Floats) -> float | None:
    """The 90th percentile, to three digits; None where there are too few norms."""
    if len(norms) < FEWEST:
        return None
    return float(f"{np.percentile(norms, PERCENTILE):.3g}")


def clipped(norms: Curve, threshold: float, warmup_steps: float) -> Clipped:
    """How often a threshold clips these norms.

    The first tenth of training does not count against it: there clipping acts as a warm-up.
    """
    above = ~(norms.values <= threshold)  # what is not finite is above
    last = float(norms.steps[-1])
    worst, where = 0.0, (0, 0)
    edges = np.linspace(max(warmup_steps, last / WINDOWS), last, WINDOWS)
    for low, high in itertools.pairwise(edges):
        inside = (norms.steps > low) & (norms.steps <= high)
        if inside.any() and above[inside].mean() > worst:
            worst = float(above[inside].mean())
            where = int(norms.steps[inside][0]), int(norms.steps[inside][-1])
    return Clipped(threshold, float(above.mean()), worst, *where)


def logged_after_clipping(norms: Curve, threshold: float) -> bool:
    """Whether the norms never exceed the threshold but often reach it: they are the clipped ones.

    >>> steps = np.arange(4)
    >>> logged_after_clipping(Curve(steps, np.array([1.0, 1.0, 0.4, 1.0])), threshold=1.0)
    True
    """
    near = np.abs(norms.values - threshold) <= AT_THE_THRESHOLD * threshold
    return bool(near.mean() > 0.01 and norms.values.max() <= threshold * (1 + AT_THE_THRESHOLD))
