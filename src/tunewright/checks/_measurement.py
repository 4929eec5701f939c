"""How far does measurement on finitely many examples move the difference of two of the best trials?

Known where the objective was logged as `tw.Measured`.
"""

from __future__ import annotations

import numpy as np

from tunewright.checks._better_half import TOP
from tunewright.design.study import Study
from tunewright.stats.measurement import sd_of_difference
from tunewright.store.results import Results
from tunewright.store.trial import Trial

APART = 2.0  # standard deviations of a difference that is surely one


def best_of(results: Results, study: Study) -> list[Trial]:
    """The five best trials of a study, the best one first."""
    return [t for t in results.top() if t.study == study.number][:TOP]


def sd_of_values(trials: list[Trial]) -> float | None:
    """The standard deviation of one trial's value by measurement alone: the median of them."""
    sds = [trial.measured.sd for trial in trials if trial.measured is not None]
    return float(np.median(sds)) if sds else None


def smallest_difference(results: Results, *studies: Study) -> float | None:
    """The standard deviation of a difference of two best trials: of one study, or of two.

    None where no value has an uncertainty.
    """
    sds = [sd_of_values(best_of(results, study)) for study in studies]
    known = [sd for sd in sds if sd is not None]
    return sd_of_difference(known[0], known[-1]) if known else None
