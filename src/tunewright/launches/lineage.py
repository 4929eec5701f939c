"""The lineage: launch decisions of a store, its baselines, and the variance of earlier repeats.

A launch has who, when, why, the evidence and the code. One whose verdict is `launch` makes its
candidate the baseline in the same transaction, so that every baseline has its proof.

Only repeats of tuned configurations count, judged by the same objective and trained with the same
optimizer, batch size and number of steps: elsewhere the standard deviation differs by a factor of 2
to 3.4 (between optimizers) or exp(0.7) to exp(1.55) (badly tuned configurations). They expire after
ten launches, and when the runs of two launches in a row contradicted them.
"""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from tunewright.design.ranges import Value, same_value
from tunewright.facts import Facts, plain
from tunewright.stats.gain import History
from tunewright.stats.spread import identical
from tunewright.store.launches import Baseline, Launched, Place, Receipt
from tunewright.store.provenance import capture
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

__all__ = ["Baseline", "Launched", "Place"]
BY_SPLIT = "paired by split"  # how `launches.decide` calls that way to compare
SAME = ("max_train_steps", "batch_size", "optimizer")  # meanings whose change starts a new history
_OLDEST = 10  # launches
_TUNED = 3  # the best so many of a study count as tuned


def who() -> str:
    """The user and machine that a decision is recorded under."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container without a user of this number
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def keep_launch(
    store: Store,
    decision: Mapping[str, Any],
    candidate: Place,
    baseline: Place | None,
    *,
    why: str = "",
    runs: int | None = None,
) -> int:
    """Record a decision; if its verdict is launch, its candidate is the baseline from now on.

    `runs` of the candidate made it win, by default those that were compared.
    """
    goal = str(store.round(candidate.round).round.goal)
    receipt = Receipt(who(), why, goal, capture().commit)
    with store.transaction():
        key = store.add_launch(decision, candidate, baseline, receipt)
        if decision.get("verdict") == "launch":
            won_with = len(decision.get("candidate_values") or ()) if runs is None else runs
            store.add_baseline(key, runs=won_with)
    return key


def first_baseline(store: Store, candidate: Place, why: str = "") -> int:
    """Make a trial the baseline without a comparison: there is nothing yet to compare it with."""
    return keep_launch(store, {"verdict": "launch"}, candidate, None, why=why)


def launches(store: Store) -> list[Launched]:
    """Every decision of the store, oldest first."""
    return store.launches()


def baselines(store: Store) -> list[Baseline]:
    """Every baseline of the store, oldest first: the lineage of the best configuration."""
    return store.baselines()


def baseline(store: Store) -> Baseline | None:
    """The present baseline; None before the first launch."""
    lineage = baselines(store)
    return lineage[-1] if lineage else None


def count_looks(store: Store, candidate: Place, against: Place, by_split: bool = False) -> int:
    """How often this pair was decided on before, from runs: on one data split, or split by split.

    Those are different runs, so a decision of one kind is no look of the other kind.
    """
    pair = ((candidate.round, candidate.trial), (against.round, against.trial))
    decisions = [
        decision for decision in launches(store) if decision.pair == pair and decision.compared
    ]
    return sum((decision.decision.get("method") == BY_SPLIT) == by_split for decision in decisions)


def count_rivals(store: Store, candidate: Place, against: Place) -> int:
    """How many other trials of the candidate's round were compared with this baseline before."""
    baseline = (against.round, against.trial)
    others = {
        decision.candidate.trial
        for decision in launches(store)
        if decision.compared
        and decision.candidate.round == candidate.round
        and decision.pair[1:] == (baseline,)
    }
    return len(others - {candidate.trial})


@dataclass(frozen=True)
class LaunchHistory(Facts):
    """The launch decisions of a store, oldest first, and the baselines they made."""

    launches: tuple[Launched, ...]
    baselines: tuple[Baseline, ...]

    @property
    def baseline(self) -> Baseline | None:
        """What the next candidate has to beat; None before the first launch."""
        return self.baselines[-1] if self.baselines else None

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {**super().to_data(), "baseline": plain(self.baseline)}


def history(store: str | os.PathLike[str]) -> LaunchHistory:
    """Every launch decision of a store with its evidence, and the baseline that resulted.

    for one in tw.history("tuning.db").launches:
        print(one.written, one.verdict, one.candidate, one.why)

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
    """
    with Store.open(store, create=False) as opened:
        return LaunchHistory(tuple(launches(opened)), tuple(baselines(opened)))


@dataclass(frozen=True)
class Pipeline:
    """What two repeats must share for the spread of one to be evidence about the other."""

    objective: str
    settings: Mapping[str, Value]  # of what means optimizer, batch size and number of steps

    @classmethod
    def of(cls, results: Results, trial: Trial) -> Pipeline:
        """The pipeline that trained a trial."""
        names = [results.meaning.name(meaning) for meaning in SAME]
        configuration = trial.configuration
        return cls(
            str(results.objective),
            {name: configuration[name] for name in names if name in configuration},
        )

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
    groups = []
    for parent in dict.fromkeys(r.parent for r in results.recorded_repeats if r.parent is not None):
        trial = results.trial(parent)
        values = tuple(r.value for r in results.repeats(parent) if r.value is not None)
        if len(values) > 1 and not identical(values) and _is_tuned(results, trial):
            pipeline = Pipeline.of(results, trial)
            groups.append(Group(results.round.name, parent, values, pipeline, since))
    return groups


def history_of(
    groups: Iterable[Group],
    pipeline: Pipeline,
    without: Iterable[tuple[str, int]] = (),
    past: Iterable[Launched] = (),
) -> History | None:
    """The pooled spread of earlier repeats, unless it has expired; None when nothing is known.

    `without` names the (round, trial) pairs that are being compared now.
    """
    left_out, decisions = set(without), sorted(past, key=lambda decision: decision.written)
    broken = _contradiction_since(decisions)
    squares, freedom, runs, count = 0.0, 0, 0, 0
    for group in groups:
        if (group.round, group.trial) in left_out or not group.pipeline.like(pipeline):
            continue
        pair = (group.round, group.trial)
        since = max(
            [group.since, *(decision.written for decision in decisions if pair in decision.pair)]
        )
        if sum(decision.written > since for decision in decisions) > _OLDEST:
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
    return History.from_repeats(float(np.sqrt(squares / freedom)), freedom, runs, count)


def read_history(
    store: Store, pipeline: Pipeline, without: Iterable[tuple[str, int]]
) -> History | None:
    """The history of a pipeline as a store has it."""
    groups: list[Group] = []
    for record in store.rounds():
        groups += groups_of(store.results(record.name), record.created)
    return history_of(groups, pipeline, without, launches(store))


def _is_tuned(results: Results, trial: Trial) -> bool:
    """Whether it is one of the best of its study."""
    completed = [t for t in results.rows_of(trial.study) if t.value is not None]
    ranked = sorted(completed, key=lambda t: -results.objective.sign * (t.value or 0.0))
    return trial.number in [t.number for t in ranked[:_TUNED]]


def _contradiction_since(decisions: list[Launched]) -> datetime | None:
    """When the first of the last two launches was, if the runs of both contradicted the history."""
    with_history = [
        decision for decision in decisions if decision.decision.get("history_sd") is not None
    ]
    last = with_history[-2:]
    if len(last) == 2 and all(decision.decision.get("history_dropped") for decision in last):
        return last[0].written
    return None
