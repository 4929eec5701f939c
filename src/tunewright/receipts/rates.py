"""The measured false-alarm rate of each verdict, as docs/methods.md and docs/launch.md state it."""

from __future__ import annotations

from collections.abc import Mapping

# the highest share of healthy studies in the cells measured; what is not here was not measured
FALSE_ALARMS: Mapping[str, float] = {
    "applied": 0.0,
    "baseline": 0.045,
    "boundary": 0.03,
    "density": 0.0,
    "infeasible": 0.01,
    "edge_of_divergence": 0.0,
    "fairness": 0.0,
    "comparison": 0.08,
    "sensitivity": 0.03,
    "overfitting": 0.04,
    "still_improving": 0.032,
    "training_bug": 0.025,
    "saturated": 0.0,
    "periodicity": 0.133,
}
ERROR_RATES: Mapping[str, object] = {
    "false_alarms": dict(FALSE_ALARMS),
    "false_launches": {"feature": 0.10, "hyperparameters": 0.25},
    "measured": "docs/methods.md, docs/methods_curves.md, docs/launch.md",
}
