"""Search spaces that can be used up: how many configurations a round has, and which are left."""

from __future__ import annotations

import json
import math

from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.store.results import Results


def configurations(study: Study) -> int | None:
    """How many different configurations a study can have; None where no number limits them.

    >>> from tunewright.design.ranges import integers, log
    >>> lists = Round("r", goal="?", nuisance={"act": ["relu", "gelu"], "layers": integers(1, 3)},
    ...               trials_per_study=4)
    >>> configurations(lists.studies[0])
    6
    >>> rate = Round("r", goal="?", nuisance={"learning_rate": log(1e-4, 1e-1)},
    ...              trials_per_study=4)
    >>> configurations(rate.studies[0]) is None
    True
    """
    found = 0
    for branch in study.branches:
        counts = [h.range.count for h in branch.dimensions]
        if any(count is None for count in counts):
            return None
        found += math.prod(count for count in counts if count is not None)
    return found


def most_trials(round: Round) -> int | None:
    """The configurations of its largest study; None where one of them has no limit."""
    counts = [configurations(study) for study in round.studies]
    return None if None in counts else max(count for count in counts if count is not None)


def untried(results: Results) -> int | None:
    """The configurations that no trial has had, in the study with most of them; None: no limit."""
    found = 0
    for study in results.studies:
        count = configurations(study)
        if count is None:
            return None
        names = [h.name for h in study.space]
        tried = {
            json.dumps([trial.configuration.get(name) for name in names], default=str)
            for trial in results.of(study.number)
        }
        found = max(found, count - len(tried))
    return found
