"""The verb `again`: a recorded trial trained anew under its own seed, and compared.

The new training has the trial's configuration, seed, data split and settings, and a fresh folder.
Nothing of it is stored in the round: with the same seed it is no independent repeat, and must not
enter a variance, a launch or a search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from tunewright.budgets.gate import through
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.conclude import DEATHS, Seen, conclude, metrics_to_watch
from tunewright.execution.executors.executor import Assignment, Began, Ended, Logged
from tunewright.execution.executors.local import Local
from tunewright.execution.repeat import refuse_unknown, round_of
from tunewright.execution.run import executor_of
from tunewright.execution.sources import sources
from tunewright.execution.workload import Workload
from tunewright.messages import Message, Text
from tunewright.store.curves import Batch, Curve, Curves
from tunewright.store.database import make_folder
from tunewright.store.judge import Judged, judge
from tunewright.store.outcome import Outcome
from tunewright.store.provenance import DEVICES_PER_TRIAL, EVAL_EVERY, Provenance
from tunewright.store.read_round import again_of
from tunewright.store.store import RoundRecord, Store
from tunewright.store.trial import Status, Trial, split_seed

FOLDER = "again"  # where new trainings go, below the working folder
WAIT_S = 0.5


@dataclass(frozen=True, kw_only=True)
class Again:
    """A trial trained anew beside the one that the store has."""

    round: str  # of the trial
    metric: str  # the objective's, by which they are compared
    trial: Trial  # as recorded
    status: Status  # of the new training
    reason: Message | None  # why it is infeasible or failed
    value: float | None  # the objective of the new training; None unless completed
    best_step: int | None  # the step at which it reached that value
    curves: Curves = field(repr=False)  # of the new training
    folder: Path  # of the new training, with its log and files
    seconds: float  # that the new training took
    changed: tuple[str, ...] = ()  # files of the program that are not as the trial ran them
    code_known: bool = True  # False: the store does not have which files the trial ran
    devices: tuple[str, ...] = ()  # that the new training used
    detail: str = field(default="", repr=False)  # a traceback, or the end of the log

    @property
    def equal(self) -> bool:
        """Whether it ended alike, with the same objective at every step."""
        alike = self.status == self.trial.status and self.value == self.trial.value
        return alike and self.first_difference is None

    @property
    def difference(self) -> float | None:
        """The new value less the recorded one; None where one of them has none."""
        if self.value is None or self.trial.value is None:
            return None
        return self.value - self.trial.value

    @property
    def differing(self) -> tuple[str, ...]:
        """The metrics that both logged and that differ at some step: times do, by their nature."""
        both = [name for name in self.curves if name in self.trial.curves]
        apart = {n: _differs_at(self.trial.curves[n], self.curves[n]) for n in both}
        return tuple(name for name, step in apart.items() if step is not None)

    @property
    def first_difference(self) -> int | None:
        """The first step at which the objective differs; None: nowhere, or one has none."""
        before, now = self.trial.curves.only(self.metric), self.curves.only(self.metric)
        return None if before is None or now is None else _differs_at(before, now)

    @property
    def message(self) -> Message:
        """What came of it: equal, different by so much, or ended in another way."""
        facts: dict[str, Any] = {
            "round": self.round,
            "trial": self.trial.number,
            "metric": self.metric,
            "recorded": self.trial.value,
            "value": self.value,
            "difference": self.difference,
            "step": self.first_difference,
            "others": [name for name in self.differing if name != self.metric],
            "status": self.status,
            "recorded_status": self.trial.status,
            "reason": None if self.reason is None else self.reason.to_data(),
        }
        if self.equal:
            return Message("again.equal", facts)
        if self.status != self.trial.status:
            return Message("again.ended_differently", facts)
        return Message("again.differs" if self.difference else "again.same_value", facts)

    @property
    def headline(self) -> Text:
        """What came of it, in a sentence."""
        return self.message.text

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {
            "round": self.round,
            "trial": self.trial.number,
            "repeat_of": self.trial.parent,
            "seed": self.trial.seed,
            "equal": self.equal,
            "recorded": {"status": self.trial.status, "value": self.trial.value},
            "status": self.status,
            "reason": None if self.reason is None else self.reason.to_data(),
            "value": self.value,
            "best_step": self.best_step,
            "difference": self.difference,
            "first_difference": self.first_difference,
            "differing": list(self.differing),
            "changed": list(self.changed),
            "code_known": self.code_known,
            "attempts": self.trial.attempts,
            "folder": str(self.folder.absolute()),
            "seconds": self.seconds,
            "devices": list(self.devices),
        }


def again(
    trial: Trial, workload: Workload, *, anyway: bool = False, folder: str | Path | None = None
) -> Again:
    """Train a recorded trial anew under its own seed, configuration and settings, and compare.

    It trains in a fresh folder, by default below `again/`. Where the program's files are not those
    that the trial ran, it is refused with their names; `anyway=True` trains all the same. The new
    training is not stored in the round: under the same seed it is no independent repeat.

    Args:
        trial: a trial of a recorded round.
        workload: the program that trained it.
        anyway: whether to train although the program's files differ.
        folder: where to train; None: a new folder below `again/`.
    """
    _refuse(trial, workload)
    with Store.open(workload.store, create=False) as store:
        record = round_of(store, trial)
        if store.is_imported(trial):
            raise DesignError("again.imported", round=record.name)
        trial = store.trial(trial.identity)  # under its own number, by its round's objective
        known = store.provenance(trial)
    changed = files_that_differ(known, workload)
    if changed and not anyway:
        remedy = again_of(record.name, trial, anyway=True)
        facts = {"trial": remedy.number, "round": record.name, "files": list(changed)}
        raise WorkloadError("again.code_differs", remedy=remedy, **facts)
    as_it_ran = _as_it_ran(workload, record, {} if known is None else known.settings)
    fresh = _fresh(trial, folder)
    with through(workload.store, "again", budget=workload.budget):
        judged, curves, ended, devices = _train(trial, as_it_ran, record, fresh)
    return Again(
        round=record.name,
        metric=record.objective.metric,
        trial=trial,
        status=judged.status,
        reason=judged.reason,
        value=judged.value,
        best_step=judged.best_step,
        curves=curves,
        folder=fresh,
        seconds=ended.seconds,
        changed=changed,
        code_known=known is not None and bool(known.sources),
        devices=devices,
        detail=ended.detail,
    )


def files_that_differ(known: Provenance | None, workload: Workload) -> tuple[str, ...]:
    """The program's files that differ from those a trial ran; none where those are not known."""
    if known is None or not known.sources:
        return ()
    now = sources(workload.train)
    names = sorted({*known.sources, *now})
    return tuple(name for name in names if known.sources.get(name) != now.get(name))


def _refuse(trial: Trial, workload: Workload) -> None:
    if not isinstance(trial, Trial):
        raise DesignError("again.not_a_trial", trial=trial)
    if not trial.configuration:
        raise DesignError("repeat.no_configuration", trial=trial.number)
    refuse_unknown(trial, workload)


def _as_it_ran(workload: Workload, record: RoundRecord, settings: Mapping[str, Any]) -> Workload:
    """The workload with the objective of the round and the settings that the trial had."""
    every = settings.get(EVAL_EVERY, workload.eval_every)
    executor = executor_of(workload)
    per_trial = settings.get(DEVICES_PER_TRIAL)
    if isinstance(executor, Local) and isinstance(per_trial, int):
        executor = replace(executor, devices_per_trial=per_trial)
    return replace(workload, objective=record.objective, eval_every=every, executor=executor)


def _fresh(trial: Trial, folder: str | Path | None) -> Path:
    """A new folder; one that holds something already is refused."""
    if folder is not None:
        place = Path(folder)
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise DesignError("again.folder_in_use", folder=str(place))
    else:
        stem = "-".join(PurePosixPath(trial.folder).parts)
        tried = (Path(FOLDER, f"{stem}-{n}") for n in range(1, 1_000_000))
        place = next(place for place in tried if not place.exists())
    make_folder(place)
    return place.absolute()


def _train(
    trial: Trial, workload: Workload, record: RoundRecord, folder: Path
) -> tuple[Judged, Curves, Outcome, tuple[str, ...]]:
    assignment = Assignment(
        trial=trial.identity,
        attempt=1,
        number=trial.number,
        round=record.name,
        configuration=trial.configuration,
        seed=trial.seed,
        split_seed=split_seed(record.round.seed),
        folder=folder,
        eval_every=workload.eval_every,
    )
    watched = metrics_to_watch(workload.objective, workload.meaning)
    batches: list[Batch] = []
    seen, start_step = Seen(), 0
    devices: tuple[str, ...] = ()
    executor = executor_of(workload)
    ended: Outcome | None = None
    try:
        executor.start(workload, [assignment])
        while ended is None:
            for event in executor.events(WAIT_S):
                if isinstance(event, Began):
                    start_step, devices = event.start_step, event.devices
                elif isinstance(event, Logged):
                    batches.append(Batch(1, start_step, event.points))
                    seen = seen.adding(event.points, watched)
                elif isinstance(event, Ended):
                    ended = event.outcome
    finally:
        executor.close()
    # it has one attempt: the process that died is not started again
    verdict = conclude(ended, seen, workload.objective, DEATHS)
    curves = Curves(batches, str(folder))
    judged = judge(workload.objective, verdict.becomes, verdict.reason, curves)
    return judged, curves, ended, devices


def _differs_at(before: Curve, after: Curve) -> int | None:
    """The first step at which two curves differ; None: they are the same."""
    shared = min(len(before), len(after))
    apart = (before.steps[:shared] != after.steps[:shared]) | ~(
        (before.values[:shared] == after.values[:shared])
        | (np.isnan(before.values[:shared]) & np.isnan(after.values[:shared]))
    )
    where = np.flatnonzero(apart)
    if len(where):
        at = int(where[0])
        return int(min(before.steps[at], after.steps[at]))
    if len(before) == len(after):
        return None
    longer = before if len(before) > len(after) else after
    return int(longer.steps[shared])
