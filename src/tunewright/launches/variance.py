"""The three variances of a round together: trial, study and data, each with its uncertainty.

The playbook: before adopting a change, know how much of a difference is the luck of the seed (trial
variance), of the search (study variance), and of the data that was collected and split (data
variance).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tunewright.checks.positions import losses_of
from tunewright.checks.variance import optimism, spread
from tunewright.launches.arm import Arm
from tunewright.launches.data_variance import by_split, examples_of, of_gain, of_value
from tunewright.launches.study_variance import from_halves, from_replicates
from tunewright.stats.noise import Floats
from tunewright.stats.spread import Spread
from tunewright.store.results import Results
from tunewright.store.trial import Trial


@dataclass(frozen=True)
class Variances:
    """How far chance moves the best value of a round, by where the chance comes from."""

    round: str
    metric: str
    trial: Spread | None  # the same configuration under other seeds
    study: Mapping[str, Spread]  # the best of each study, if its search were done again
    data: Spread | None  # the best value, on other examples of the same kind
    data_of_gain: Spread | None  # the difference between the two best studies, on other examples
    splits: Spread | None  # the best configuration, on other splits
    optimism: float | None  # by which the best value is too good, at least: it was picked
    missing: Mapping[str, str] = field(default_factory=dict)  # what is not known, and how to know

    def __str__(self) -> str:
        """One line for each that is known."""
        known = [self.trial, *self.study.values(), self.data, self.data_of_gain, self.splits]
        return "\n".join(str(one) for one in known if one is not None) or "nothing is known yet"


def variance(
    results: Results, replicates: Sequence[Results] = (), splits: Arm | None = None
) -> Variances:
    """What is known of the trial, study and data variance of a round.

    `replicates` are the same round with other seeds (its own points count as one of them); `splits`
    is the best configuration trained on several data splits.
    """
    name = results.round.name
    found = spread(_groups(results))
    trial = None
    if found is not None:
        freedom = found.repeats - found.groups
        how = f"from {found.repeats} repeats"
        trial = Spread("trial", found.sd, found.low, found.high, freedom, how)
    studies = {}
    for study in results.studies:
        own = from_replicates([results, *replicates], study.number) if replicates else None
        own = own or from_halves(results, study.number)
        if own is not None:
            studies[study.label] = own
    best = results.top(1)
    data, gap = _data(results, best[0]) if best else (None, None)
    missing = {}
    if trial is None:
        missing["trial"] = f"tunewright repeat {name} --times 5"
    if not replicates:
        missing["study"] = f"tunewright variance {name} --studies 3"
    if data is None:
        missing["data"] = "save per_example.npy in run.folder: one number for each example"
    if splits is None:
        missing["splits"] = f"tunewright variance {name} --splits 5"
    return Variances(
        round=name,
        metric=results.objective.metric,
        trial=trial,
        study=studies,
        data=data,
        data_of_gain=gap,
        splits=None if splits is None else by_split(splits),
        optimism=_optimism(results, trial),
        missing=missing,
    )


def _groups(results: Results) -> list[list[float]]:
    parents = dict.fromkeys(r.parent for r in results.recorded_repeats if r.parent is not None)
    return [[r.value for r in results.repeats(p) if r.value is not None] for p in parents]


def _data(results: Results, best: Trial) -> tuple[Spread | None, Spread | None]:
    """The data variance of the best value, and of its difference to the best other study."""
    own = _examples(results, best)
    if own is None:
        return None, None
    for rival in results.top(len(results.trials)):
        if rival.study != best.study or len(results.studies) == 1:
            other = _examples(results, rival) if rival.number != best.number else None
            if other is not None and len(other) == len(own):
                return of_value(own), of_gain(own, other)
    return of_value(own), None


def _examples(results: Results, trial: Trial) -> Floats | None:
    """Of its repeats if they kept any, since they average the luck of the seed; else its own."""
    found = examples_of(results, results.repeats(trial))
    return examples_of(results, [trial]) if found is None else found


def _optimism(results: Results, trial: Spread | None) -> float | None:
    """By how much the best value of the best study is too good, at least."""
    if trial is None or not trial.sd > 0:
        return None
    best = results.top(1)
    losses = losses_of(results, results.of(best[0].study)) if best else np.empty(0)
    losses = losses[np.isfinite(losses)]
    return optimism(losses, trial.sd) if len(losses) >= 4 else None
