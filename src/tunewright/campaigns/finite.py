"""Spaces with few configurations: how many there are, and which trials can never run.

The Bayesian search never suggests a configuration twice in one round, so that a round of more
trials than the space has configurations would wait for ever.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tunewright.design.round import Round
from tunewright.store.results import Results


def configurations(round: Round) -> float:
    """How many different configurations each study of a round has; infinite with a range."""
    counts = [study.configurations for study in round.studies]
    return min(math.inf if count is None else count for count in counts)


def untried(round: Round, searched: Sequence[Results]) -> float:
    """How many configurations of a round no trial of the search has tried."""
    names = round.nuisance.keys()
    tried = {
        repr(sorted((n, v) for n, v in trial.configuration.items() if n in names))
        for results in searched
        for trial in results.trials
        if trial.configuration
    }
    return configurations(round) - len(tried)


def stranded(results: Results) -> int:
    """How many trials of a round wait for a suggestion that cannot come."""
    waiting = sum(not trial.ended and not trial.configuration for trial in results.trials)
    if results.search != "bayesian" or not waiting:
        return 0
    given = sum(bool(trial.configuration) for trial in results.trials)
    return waiting if given >= configurations(results.round) else 0
