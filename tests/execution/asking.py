"""A round to ask for trials of, for tests of sessions and for the programs they start."""

from __future__ import annotations

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.search.listed import Listed

OBJECTIVE = minimize("valid_error")


def rounds(trials=3, **changes):
    roles = {
        "scientific": {"layers": [1, 2]},
        "nuisance": {"learning_rate": log(1e-4, 1e-1)},
        "fixed": {"width": 8},
        **changes,
    }
    return Round("depth", goal="Do more layers help?", trials_per_study=trials, **roles)


def rates(trials):
    """As many learning rates; a search of its own would cost every process its import."""
    return Listed([{"learning_rate": 1e-4 * 1000 ** (n / trials)} for n in range(trials)])


def finish(trial, value=0.5):
    trial.log(1, valid_error=value)
    trial.finish()
