"""Has tuning saturated? What spending as much again would gain, against what matters.

What matters is the round's `detect`, else the trial standard deviation known from repeats. A
quasi-random study has saturated when its last half, or the quarter before it, brought no more than
that (the same two conditions by which `density` asks for more trials); an adaptive search when the
second half of its trials brought less. On average, doubling then gains less than what matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tunewright.advice.finite import untried
from tunewright.checks.density import FEWEST, Reference, reference, sampling
from tunewright.checks.positions import losses_of, settled
from tunewright.stats.noise import Floats
from tunewright.store.results import Results
from tunewright.store.trial import Trial


@dataclass(frozen=True)
class Saturation:
    """What more of the same tuning would bring."""

    gain: float  # expected of spending as much again; positive is better
    matters: Reference | None  # None: neither detect= nor repeats give one
    saturated: bool | None  # None: unknown
    exhausted: bool = False  # every configuration has been trained


def saturation(results: Results) -> Saturation | None:
    """Whether the best study has saturated; None with too few completed trials to judge."""
    best = results.top(1)
    if not best:
        return None
    own = next(s for s in settled(results) if s.study.number == best[0].study)
    matters = reference(results, own, None)
    if untried(results) == 0:
        return Saturation(0.0, matters, True, exhausted=True)
    gained = _adaptive_gain(results, best[0].study)
    if gained is not None:
        done = None if matters is None else gained <= matters.size
        return Saturation(gained / 2, matters, done)
    losses = losses_of(results, own.trials)
    losses = losses[np.isfinite(losses)]
    if len(losses) < FEWEST:
        return None
    seen = sampling(losses)
    done = None if matters is None else not seen.too_few(matters.size)
    return Saturation(max(seen.expected_gain, 0.0), matters, done)


def _adaptive_gain(results: Results, study: int) -> float | None:
    """What the second half of an adaptive search's own trials brought; None for any other."""
    if results.search in ("", "halton", "listed"):
        return None
    own = [t for t in results.of(study) if t.origin is None and t.status == "completed"]
    if len(own) < FEWEST:
        return None
    earlier = [t for t in results.of(study) if t.origin is not None and t.status == "completed"]
    half = len(own) // 2
    before, after = _losses(results, [*earlier, *own[:half]]), _losses(results, own[half:])
    return max(0.0, float(before.min() - after.min()))


def _losses(results: Results, trials: list[Trial]) -> Floats:
    return losses_of(results, trials)
