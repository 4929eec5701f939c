"""How far do the best trials fit the training set? Where they do not, regularisers hardly help.

The playbook, "Deciding how long to train": a model that cannot fit the training set within the
steps it has is limited by compute, not by overfitting, and regularisation is unlikely to help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tunewright.checks._better_half import TOP
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_FITS = 0.7  # of the way from a guess to a loss of zero
_LATE = 0.1  # of the points of a curve: its end


@dataclass(frozen=True)
class TrainingFit:
    """Where the training loss of the best trials ended, between a guess and nothing left."""

    metric: str
    end: float  # the median of the five best trials
    reference: float  # the loss of a guess
    source: Literal["chance", "start"]  # declared, or the first logged value
    fitted: float  # the share of the reference that training removed

    @property
    def fits(self) -> bool:
        """Whether most of what can be learned of the training set was learned."""
        return self.fitted >= _FITS


def training_fit(results: Results, ranked: Sequence[Trial]) -> TrainingFit | None:
    """How far the best of these trials fit the training set; None without a positive loss."""
    metric = results.meaning.name("train_loss")
    ends, starts = [], []
    for trial in ranked[:TOP]:
        curve = trial.curves.only(metric)
        values = np.empty(0) if curve is None else curve.values[np.isfinite(curve.values)]
        if len(values) >= 2:
            ends.append(float(np.median(values[-max(1, round(_LATE * len(values))) :])))
            starts.append(float(values[0]))
    if not ends or min(ends) < 0:  # a log-likelihood has no floor to compare with
        return None
    chance = results.meaning.number("chance")
    reference = float(np.median(starts)) if chance is None else chance
    end = float(np.median(ends))
    if not reference > 0:
        return None
    source: Literal["chance", "start"] = "start" if chance is None else "chance"
    return TrainingFit(metric, end, reference, source, 1 - end / reference)
