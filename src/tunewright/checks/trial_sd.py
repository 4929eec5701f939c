"""How far apart are trials by chance? Under other seeds (repeats), and by measurement."""

from __future__ import annotations

import numpy as np

from tunewright.checks._better_half import TOP
from tunewright.design.study import Study
from tunewright.stats.measurement import sd_of_difference
from tunewright.stats.spread import pooled_sd
from tunewright.store.results import Repeats, Results
from tunewright.store.trial import Trial

_PIPELINE = ("optimizer", "batch_size", "max_train_steps")  # meanings a spread depends on
FEWEST_REPEATS = 3  # of one trial: a spread of two is too weak to warn on
APART = 2.0  # standard deviations of a difference that is surely one


def trial_sd(results: Results, study: Study) -> float | None:
    """The standard deviation of the objective over repeats, pooled; None when too few were run.

    Repeats that are all the same under different seeds measure nothing: see `seedless_trials`.
    Those of the study's own trials if there are any, else those of the round, else those of an
    earlier round of the same pipeline. The trial that was repeated is left out: it was selected
    partly for its noise.
    """
    if seedless_trials(results):
        return None
    values = {
        p: group for p, group in repeat_values(results).items() if len(group) >= FEWEST_REPEATS
    }
    here = [group for p, group in values.items() if results.trial(p).study == study.number]
    groups = here or list(values.values()) or earlier_repeats(results)[1]
    return pooled_sd(groups)[0] if groups else None


def repeat_values(results: Results) -> dict[int, list[float]]:
    """The values of the repeats of each trial that has some, by its number."""
    parents = dict.fromkeys(r.parent for r in results.recorded_repeats if r.parent is not None)
    return {p: [r.value for r in results.repeats(p) if r.value is not None] for p in parents}


def seedless_trials(results: Results) -> tuple[int, ...]:
    """The trials whose repeats show that the program does not use its seed; none if it does.

    Equal curves of several points show it for one trial; of single values every group
    must be the same, since a coarse metric gives one value twice by chance.
    """
    groups = [
        Repeats(results.trial(p), results.repeats(p), results) for p in repeat_values(results)
    ]
    groups = [g for g in groups if len(g.values) > 1]
    same = [g for g in groups if g.seedless]
    sure = any(g.same_curves for g in same)
    if not sure and len(same) < len(groups):
        return ()
    return tuple(g.of.number for g in same if g.of.number is not None)


def earlier_repeats(results: Results) -> tuple[str, list[list[float]]]:
    """The newest earlier round of the same pipeline with repeats, and their values by trial.

    The spread is measured again only after a major change of the pipeline (playbook): another
    objective, optimizer, batch size or number of steps.
    """
    for other in results.earlier:
        alike = str(other.objective) == str(results.objective)
        if not alike or _pipeline(other) != _pipeline(results) or seedless_trials(other):
            continue
        groups = [group for group in repeat_values(other).values() if len(group) >= FEWEST_REPEATS]
        if groups:
            return other.round.name, groups
    return "", []


def _pipeline(results: Results) -> dict[str, frozenset[str]]:
    """What the trials of a round were trained with, of the settings a spread depends on."""
    names = [results.meaning.name(meaning) for meaning in _PIPELINE]
    tried = [trial.configuration for trial in results.rows]
    return {name: frozenset(repr(c[name]) for c in tried if name in c) for name in names}


# ---- how far does measurement on finitely many examples move the difference of two of the best?
#
# Known where the objective was logged as `tw.Measured`.


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
