"""From which score on a question is answered yes, and up to which no; with measured error rates.

Limits were fitted on one half of each labelled set, error rates measured on the other half:
`python bench/diagnose.py` prints both, bench/results/diagnose.md has the raw lines.
"""

from __future__ import annotations

from dataclasses import dataclass

from tunewright.diagnosis.answer import ErrorRate, Question
from tunewright.stats.noise import FEWEST


@dataclass(frozen=True)
class Limits:
    """The two limits of a question, and what was measured with them."""

    yes: float  # a score at least this high: the answer is yes
    no: float  # a score at most this high: the answer is no
    fewest: int = FEWEST  # evaluations that the question needs
    rate: ErrorRate | None = None  # None: not measured on labelled curves


LIMITS: dict[Question, Limits] = {
    "diverged": Limits(1.0, 0.9, 5, rate=ErrorRate(0.007, 0.922, 878)),
    "spikes": Limits(5.0, 4.9, 60, rate=ErrorRate(0.000, 1.000, 53)),
    "training_bug": Limits(3.0, 0.5, rate=ErrorRate(0.000, 0.982, 159)),
    "overfitting": Limits(3.0, 0.5, rate=ErrorRate(0.002, 1.000, 714)),
    "still_improving": Limits(3.2, 2.0, rate=ErrorRate(0.050, 1.000, 381)),
    "saturated": Limits(-2.0, -4.0, rate=ErrorRate(0.019, 0.983, 551)),
    "noise": Limits(10.0, 8.0, rate=ErrorRate(0.000, 1.000, 180)),
    "periodicity": Limits(2.2, 1.0, 40, rate=ErrorRate(0.000, 0.939, 154)),
    "gradient_norm": Limits(1.5, 1.0, rate=ErrorRate(0.029, 1.000, 211)),
    "learned": Limits(-2.0, -5.0, 10, rate=ErrorRate(0.000, 1.000, 611)),
    "schedule": Limits(1.0, 0.0, 5, rate=ErrorRate(0.000, 1.000, 100)),
}
