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
    "diverged": Limits(1.1, 1.0, 5),
    "spikes": Limits(5.0, 4.9, 60),
    "training_bug": Limits(3.5, 2.0),
    "overfitting": Limits(4.0, 2.0),
    "still_improving": Limits(1.0, 0.0),
    "saturated": Limits(-2.0, -4.0),
    "noise": Limits(10.0, 10.0),
    "periodicity": Limits(2.7, 1.0, 40),
    "gradient_norm": Limits(1.5, 1.0),
    "learned": Limits(-2.0, -5.0, 10),
    "schedule": Limits(1.0, 0.0, 5),
}
