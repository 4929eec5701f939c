"""Curve verdicts on simulated and recorded curves: overfitting at few evaluations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.checks.curve_worlds import FALLING, NOISES, noise, rise, shape
from tests.checks.real_curves import SETS, read

from tunewright.checks._better_half import better_halves
from tunewright.checks.overfitting import _risen_slowly, got_worse
from tunewright.checks.spacing import tables
from tunewright.stats.noise import noisy_curves
from verdicts.worlds import SPLIT, Half, available

LARGE = 0.15  # of the improvement: a rise that an eye sees


def curve_cells(half: Half, studies: int) -> Iterator[dict[str, Any]]:
    """False alarms on curves that only fall, power on rises, and recorded curves."""
    random = np.random.default_rng([SPLIT, half == "held"])
    for evaluations in (20, 30, 51, 100):
        for correlation in (0.0, 0.5, 0.8):
            shares = []
            for name in FALLING:
                for kind in NOISES:
                    for sd in (0.002, 0.01, 0.03, 0.08):
                        own = sd * noise(random, studies, evaluations, correlation, kind)
                        shares.append(
                            got_worse(noisy_curves(shape(name, evaluations) + own)).flagged.mean()
                        )
            yield {
                "check": "overfitting",
                "world": "curves that only fall",
                "evaluations": evaluations,
                "correlation": correlation,
                "flagged": float(np.mean(shares)),
                "worst": float(np.max(shares)),
            }
            for sd in (0.03, 0.08):
                own = sd * noise(random, 5 * studies, evaluations, correlation)
                curves = noisy_curves(rise(evaluations, 0.2, 0.4) + own)
                found = got_worse(curves).flagged
                narrow = found & ~_risen_slowly(curves)
                yield {
                    "check": "overfitting",
                    "world": f"rise of 20 % from 40 % on, noise {sd / 0.8:.0%} of the fall",
                    "evaluations": evaluations,
                    "correlation": correlation,
                    "flagged": float(found.mean()),
                    "by broad means": float((found & ~narrow).mean()),
                }
    if available():
        yield from _recorded(half)


def _recorded(half: Half) -> Iterator[dict[str, Any]]:
    for name, task in SETS:
        results = read(name, task)
        objective = results.objective
        found = {"curves": 0, "large": 0, "flagged of large": 0, "flagged": 0}
        for judged in better_halves(results):
            learned = [t for t in judged.ranked if t.number not in judged.never_learned]
            own = [t for t in learned if ((t.number or 0) % 2 == 1) == (half == "held")]
            for table in tables(own, objective.metric, -objective.sign):
                if not 20 <= table.values.shape[1] <= 70:
                    continue
                curves = noisy_curves(table.values)
                worse = got_worse(curves)
                large = (worse.rise > LARGE * curves.total) & worse.matters
                found["curves"] += len(large)
                found["large"] += int(large.sum())
                found["flagged of large"] += int((worse.flagged & large).sum())
                found["flagged"] += int(worse.flagged.sum())
        if found["curves"]:
            yield {
                "check": "overfitting",
                "world": f"{name} {task[-24:]}, 20 to 70 evaluations",
                **found,
            }
