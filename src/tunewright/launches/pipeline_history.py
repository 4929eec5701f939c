"""What is the trial variance of earlier repeats of this pipeline?

Only repeats of tuned configurations count, judged by the same objective and trained with the same
optimizer, batch size and number of steps: elsewhere the standard deviation differs by a factor of 2
to 3.4 (between optimizers) or exp(0.7) to exp(1.55) (badly tuned configurations). They expire after
ten launches, and when the runs of two launches in a row contradicted them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from tunewright.design.ranges import Value, same_value
from tunewright.launches.lineage import Launched, launches
from tunewright.stats.gain import History
from tunewright.stats.identical import identical
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

SAME = ("max_train_steps", "batch_size", "optimizer")  # meanings whose change starts a new history
_OLDEST = 10  # launches
TUNED = 3  # the best so many of a study count as tuned


@dataclass(frozen=True)
class Pipeline:
    """What two repeats must share for the spread of one to be evidence about the other."""

    objective: str
    settings: Mapping[str, Value]  # of what means optimizer, batch size and number of steps

    @classmethod
    def of(cls, results: Results, trial: Trial) -> Pipeline:
        """The pipeline that trained a trial."""
        names = [results.meaning.name(meaning) for meaning in SAME]
        own = trial.configuration
        return cls(str(results.objective), {name: own[name] for name in names if name in own})

    def like(self, other: Pipeline) -> bool:
        """Whether the trial variance of one is expected to be that of the other."""
        return (
            self.objective == other.objective
            and self.settings.keys() == other.settings.keys()
            and all(same_value(v, other.settings[name]) for name, v in self.settings.items())
        )


@dataclass(frozen=True)
class Group:
    """The repeats of one tuned configuration."""

    round: str
    trial: int
    values: tuple[float, ...]
    pipeline: Pipeline
    since: datetime  # when it was last known to hold


def groups_of(results: Results, since: datetime) -> list[Group]:
    """The groups of repeats of a round's tuned configurations."""
    found = []
    for parent in dict.fromkeys(r.parent for r in results.recorded_repeats if r.parent is not None):
        trial = results.trial(parent)
        values = tuple(r.value for r in results.repeats(parent) if r.value is not None)
        if len(values) > 1 and not identical(values) and _tuned(results, trial):
            pipeline = Pipeline.of(results, trial)
            found.append(Group(results.round.name, parent, values, pipeline, since))
    return found


def history_of(
    groups: Iterable[Group],
    pipeline: Pipeline,
    without: Iterable[tuple[str, int]] = (),
    past: Iterable[Launched] = (),
) -> History | None:
    """The pooled spread of earlier repeats, unless it has expired; None when nothing is known.

    `without` names the (round, trial) pairs that are being compared now.
    """
    left_out, told = set(without), sorted(past, key=lambda one: one.written)
    broken = _contradicted(told)
    squares, freedom, runs, count = 0.0, 0, 0, 0
    for group in groups:
        if (group.round, group.trial) in left_out or not group.pipeline.like(pipeline):
            continue
        own = (group.round, group.trial)
        since = max([group.since, *(one.written for one in told if own in one.pair)])
        if sum(one.written > since for one in told) > _OLDEST:
            continue
        if broken is not None and since < broken:
            continue
        values = np.array(group.values)
        squares += float(np.square(values - values.mean()).sum())
        freedom += len(values) - 1
        runs += len(values)
        count += 1
    if not freedom:
        return None
    return History.measured(float(np.sqrt(squares / freedom)), freedom, runs, count)


def read_history(
    store: Store, pipeline: Pipeline, without: Iterable[tuple[str, int]]
) -> History | None:
    """The history of a pipeline as a store has it."""
    groups: list[Group] = []
    for record in store.rounds():
        groups += groups_of(store.results(record.name), record.created)
    return history_of(groups, pipeline, without, launches(store))


def _tuned(results: Results, trial: Trial) -> bool:
    """Whether it is one of the best of its study."""
    own = [t for t in results.of(trial.study) if t.value is not None]
    ranked = sorted(own, key=lambda t: -results.objective.sign * (t.value or 0.0))
    return trial.number in [t.number for t in ranked[:TUNED]]


def _contradicted(told: list[Launched]) -> datetime | None:
    """When the first of the last two launches was, if the runs of both contradicted the history."""
    with_history = [one for one in told if one.decision.get("history_sd") is not None]
    last = with_history[-2:]
    if len(last) == 2 and all(one.decision.get("history_dropped") for one in last):
        return last[0].written
    return None
