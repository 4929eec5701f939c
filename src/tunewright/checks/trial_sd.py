"""How far apart are trials that repeat one configuration? Known only from repeats."""

from __future__ import annotations

import numpy as np

from tunewright.design.study import Study
from tunewright.store.results import Repeats, Results, same_curves

_PIPELINE = ("optimizer", "batch_size", "max_train_steps")  # meanings a spread depends on
FEWEST_REPEATS = 3  # of one trial: a spread of two is too weak to warn on


def trial_sd(results: Results, study: Study) -> float | None:
    """The standard deviation of the objective over repeats, pooled; None when too few were run.

    Repeats that are all the same under different seeds measure nothing: see `seedless_trials`.
    Those of the study's own trials if there are any, else those of the round, else those of an
    earlier round of the same pipeline. The trial that was repeated is left out: it was selected
    partly for its noise.
    """
    if seedless_trials(results):
        return None
    values: dict[tuple[int, int], list[float]] = {}
    for parent in dict.fromkeys(r.parent for r in results.recorded_repeats if r.parent is not None):
        for own in results.repeats(parent):
            if own.value is not None:
                values.setdefault((own.study, parent), []).append(own.value)
    enough = {key: found for key, found in values.items() if len(found) >= FEWEST_REPEATS}
    here = [found for (number, _), found in enough.items() if number == study.number]
    groups = here or list(enough.values()) or earlier_repeats(results)[1]
    if not groups:
        return None
    squares = sum(float(np.var(found)) * len(found) for found in groups)
    return float(np.sqrt(squares / sum(len(found) - 1 for found in groups)))


def seedless_trials(results: Results) -> tuple[int, ...]:
    """The trials whose repeats show that the program does not use its seed; none if it does.

    Equal curves of several points show it for one trial; of single values every group
    must be the same, since a coarse metric gives one value twice by chance.
    """
    parents = dict.fromkeys(r.parent for r in results.recorded_repeats if r.parent is not None)
    groups = [Repeats(results.trial(p), results.repeats(p), results) for p in parents]
    groups = [own for own in groups if len(own.values) > 1]
    same = [own for own in groups if own.seedless]
    sure = any(same_curves(own.trials, own.objective.metric) for own in same)
    if not sure and len(same) < len(groups):
        return ()
    return tuple(own.of.number for own in same if own.of.number is not None)


def earlier_repeats(results: Results) -> tuple[str, list[list[float]]]:
    """The newest earlier round of the same pipeline with repeats, and their values by trial.

    The spread is measured again only after a major change of the pipeline (playbook): another
    objective, optimizer, batch size or number of steps.
    """
    for other in results.earlier:
        alike = str(other.objective) == str(results.objective)
        if not alike or _pipeline(other) != _pipeline(results) or seedless_trials(other):
            continue
        parents = dict.fromkeys(r.parent for r in other.recorded_repeats if r.parent is not None)
        groups = [[r.value for r in other.repeats(p) if r.value is not None] for p in parents]
        groups = [group for group in groups if len(group) >= FEWEST_REPEATS]
        if groups:
            return other.round.name, groups
    return "", []


def _pipeline(results: Results) -> dict[str, frozenset[str]]:
    """What the trials of a round were trained with, of the settings a spread depends on."""
    names = [results.meaning.name(meaning) for meaning in _PIPELINE]
    tried = [trial.configuration for trial in results.rows]
    return {name: frozenset(repr(own[name]) for own in tried if name in own) for name in names}
