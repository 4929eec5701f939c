"""Search spaces that can be used up: how many configurations a round has, and which are left."""

from __future__ import annotations

import json

from tunewright.design.round import Round
from tunewright.store.results import Results


def most_trials(round: Round) -> int | None:
    """The configurations of its largest study; None where one of them has no limit.

    >>> from tunewright.design.ranges import integers, log
    >>> lists = {"act": ["relu", "gelu"], "layers": integers(1, 3)}
    >>> most_trials(Round("r", goal="?", nuisance=lists, trials_per_study=4))
    6
    >>> rate = {"learning_rate": log(1e-4, 1e-1)}
    >>> most_trials(Round("r", goal="?", nuisance=rate, trials_per_study=4)) is None
    True
    """
    counts = [study.configurations for study in round.studies]
    return None if None in counts else max(count for count in counts if count is not None)


def untried(results: Results) -> int | None:
    """The configurations that no trial has had, in the study with most of them; None: no limit."""
    found = 0
    for study in results.studies:
        count = study.configurations
        if count is None:
            return None
        names = [h.name for h in study.space]
        tried = {
            json.dumps([trial.configuration.get(name) for name in names], default=str)
            for trial in results.of(study.number)
        }
        found = max(found, count - len(tried))
    return found
