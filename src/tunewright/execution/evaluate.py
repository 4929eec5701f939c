"""The verb `evaluate`: an offline evaluation of the selected checkpoints, recorded as metrics.

What training measures periodically is a proxy: often a sample of the validation data, in a smaller
batch, without post-processing. The few trials that matter are measured properly afterwards, each at
the checkpoint that retrospective selection chose.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tunewright.budgets.gate import through
from tunewright.design.ranges import Value
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.checkpoint import FOLDER, PLACE, STEP, Checkpoint, Measuring
from tunewright.execution.command import Command
from tunewright.execution.executors.executor import Assignment, Began, Ended, Event, Logged
from tunewright.execution.repeat import round_of
from tunewright.execution.run import executor_of, watcher_of
from tunewright.execution.workload import Workload
from tunewright.measured import Measured
from tunewright.messages import Message
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import Concluded, RoundStarted, Started, Summary, Watcher, Why
from tunewright.store.curves import unpack
from tunewright.store.judge import value_at
from tunewright.store.launches import Evaluation, looks
from tunewright.store.outcome import Outcome
from tunewright.store.rounds import inside
from tunewright.store.store import RoundRecord, Store
from tunewright.store.trial import Selected, Trial, claim_of, select_snapshot, split_seed

_WITHIN = "evaluation"  # the folder inside a trial's, for logs and files of the evaluation
_FIELDS = ("checkpoint", "step", "folder")  # of a command, beside the hyperparameters
WAIT_S = 0.5
Measure = Callable[[Checkpoint], Mapping[str, Any]] | Command


@dataclass(frozen=True)
class Evaluated:
    """One trial after its evaluation; without metrics there is a reason."""

    trial: Trial
    step: int | None  # of the checkpoint that was measured
    metrics: Mapping[str, float | Measured] = field(default_factory=dict)
    proxy: float | None = None  # the objective at that step, as training logged it
    reason: Message | None = None  # why it could not be measured
    detail: str = field(default="", repr=False)  # a traceback, or the end of the program's log

    @property
    def at_best_step(self) -> bool:
        """Whether the checkpoint of the trial's best step was still there."""
        return self.step is not None and self.step == self.trial.best_step

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {
            "trial": self.trial.number,
            "best_step": self.trial.best_step,
            "step": self.step,
            "metrics": dict(self.metrics),
            "proxy": self.proxy,
            "reason": None if self.reason is None else self.reason.to_data(),
            "detail": self.detail,
        }


OnMeasured = Callable[[Evaluated], None]


def evaluate(
    trials: Trial | Iterable[Trial],
    workload: Workload,
    with_: Measure,
    *,
    test: bool = False,
    on_measured: OnMeasured | None = None,
    progress: Wanted = "auto",
) -> tuple[Evaluated, ...]:
    """Measure the selected checkpoints of some trials, and record the metrics of each.

    `with_` is a function of a `Checkpoint` that returns its metrics (numbers, or `tw.Measured`),
    or a `command(...)` with the fields {checkpoint} (the snapshot's folder), {step}, {folder} (the
    trial's) and the hyperparameters, which prints them as one JSON object with a step. The metrics
    need names that training does not use: `results.with_objective("full_valid_error")` then ranks
    by them.
    `test=True` declares a look at the test set, of one configuration; the store counts the looks.
    `on_measured` receives each answer as it comes; all are returned in the trials' order.
    `progress` is as for `run`.

    Args:
        trials: one trial or several of a recorded round.
        workload: the program that trained them.
        with_: a function of a `Checkpoint`, or a `command(...)`.
        test: whether this is a look at the test set.
        on_measured: receives each answer as it comes.
        progress: as for `tw.run`.
    """
    tell = on_measured or (lambda answer: None)
    watch = watcher_of(progress, workload)
    chosen = _choose(trials, with_, test)
    with Store.open(workload.store, create=False) as store, contextlib.ExitStack() as stack:
        look = 1 + looks(store.evaluations(), workload.name) if test else 0
        records = {trial.identity: round_of(store, trial) for trial in chosen}
        jobs = [_job(store, records[trial.identity], trial, with_) for trial in chosen]
        answers: dict[int, Evaluated] = {}
        for job in jobs:
            if job.refused:
                answers[job.trial.identity] = Evaluated(job.trial, None, reason=job.refused)
                tell(answers[job.trial.identity])
        passing = through(workload.store, "evaluate", trials=0, budget=workload.budget)
        stack.enter_context(passing)
        for job, metrics, end in _measure_all(jobs, workload, with_, watch):
            key = job.trial.identity
            answer = _judge(store, records[key], job, metrics, end)
            if answer.metrics:
                evaluation = Evaluation(
                    trial=key,
                    number=job.trial.number,
                    step=job.step,
                    metrics=answer.metrics,
                    with_=_name_of(with_),
                    workload=workload.name,
                    objective=workload.objective.metric,
                    value=answer.proxy,
                    look=look,
                )
                store.add_evaluation(records[key].id, evaluation)
            answers[key] = answer
            tell(answer)
    return tuple(answers[trial.identity] for trial in chosen)


def _name_of(with_: Measure) -> str:
    """The name of what measures: `module.function`, or the command."""
    if isinstance(with_, Command):
        return with_.template
    module = getattr(with_, "__module__", None) or "?"
    return f"{module}.{getattr(with_, '__qualname__', type(with_).__name__)}"


@dataclass(frozen=True)
class _Job:
    """One checkpoint to measure."""

    trial: Trial
    folder: Path  # the trial's
    snapshot: Selected | None
    round: RoundRecord
    refused: Message | None = None

    @property
    def step(self) -> int:
        return self.snapshot.step if self.snapshot is not None else self.trial.best_step or 0

    def assignment(self, command: bool) -> Assignment:
        place = None if self.snapshot is None else str(self.snapshot.path.absolute())
        facts: dict[str, Value] = dict(
            zip(
                _FIELDS if command else (PLACE, STEP, FOLDER),
                (place, self.step, str(self.folder.absolute())),
                strict=True,
            )
        )
        within = self.folder / _WITHIN
        within.mkdir(parents=True, exist_ok=True)
        return Assignment(
            trial=self.trial.identity,
            attempt=1,
            number=self.trial.number,
            round=self.round.name,
            configuration={**self.trial.configuration, **facts},
            seed=self.trial.seed,
            split_seed=split_seed(self.round.round.seed),
            folder=within,
        )


def _choose(trials: Trial | Iterable[Trial], with_: Measure, test: bool) -> list[Trial]:
    given = [trials] if isinstance(trials, Trial) else list(trials)
    if not given or not all(isinstance(trial, Trial) for trial in given):
        raise DesignError("evaluate.not_trials", trials=trials)
    if not isinstance(with_, Command) and not callable(with_):
        raise WorkloadError("evaluate.not_callable", with_=with_)
    if test and any(trial.configuration != given[0].configuration for trial in given):
        raise DesignError("evaluate.several_on_test", trials=len(given))
    return list({trial.identity: trial for trial in given}.values())


def _job(store: Store, record: RoundRecord, trial: Trial, with_: Measure) -> _Job:
    root = store.root_of(record)
    snapshot, folder = select_snapshot(root, trial, record.objective), inside(root, trial.folder)
    refused: Message | None = None
    clash = sorted(set(_FIELDS) & set(trial.configuration)) if isinstance(with_, Command) else []
    if trial.value is None:
        refused = Message("evaluation.no_checkpoint", {"status": trial.status})
    elif clash:
        refused = Message("evaluation.field_taken", {"name": clash[0]})
    elif isinstance(with_, Command) and "checkpoint" in with_.fields and snapshot is None:
        refused = Message("evaluation.no_snapshot")
    return _Job(trial, folder, snapshot, record, refused)


def _measure_all(
    jobs: list[_Job], workload: Workload, with_: Measure, watch: Watcher
) -> Iterator[tuple[_Job, dict[str, float | Measured], Outcome]]:
    """Let the workload's executor measure, and give each job's metrics when it has ended."""
    command = isinstance(with_, Command)
    train = with_ if isinstance(with_, Command) else Measuring(with_)
    measuring = replace(workload, train=train)
    open_ = {job.trial.identity: job for job in jobs if not job.refused}
    metrics: dict[int, dict[str, float | Measured]] = {key: {} for key in open_}
    executor = executor_of(workload)
    display = _Display(watch, open_)
    try:
        executor.start(measuring, [job.assignment(command) for job in open_.values()])
        while open_:
            for event in executor.events(WAIT_S):
                display.take(event)
                if isinstance(event, Logged):
                    for name, curve in unpack(event.points).items():
                        last = float(curve.values[-1])
                        metrics[event.trial][name] = curve.measurement(-1) or last
                elif isinstance(event, Ended):
                    yield open_.pop(event.trial), metrics[event.trial], event.outcome
    finally:
        executor.close()
        display.close()


class _Display:
    """An evaluation as a watcher sees it: each checkpoint is a trial."""

    def __init__(self, watch: Watcher, jobs: Mapping[int, _Job]) -> None:
        """Begins at once, unless there is nothing to measure."""
        self._watch, self._jobs, self._since = watch, dict(jobs), time.monotonic()
        self._running, self._ended = 0, 0
        for job in list(jobs.values())[:1]:
            metric = job.round.objective.metric
            name, objective = job.round.name, str(job.round.objective)
            watch.began(
                RoundStarted(
                    name=name,
                    objective=objective,
                    metric=metric,
                    total=len(jobs),
                    what="evaluation",
                )
            )

    def take(self, event: Event) -> None:
        """Report a checkpoint that begins or has been measured."""
        if not isinstance(event, Began | Ended):
            return
        trial = self._jobs[event.trial].trial
        if isinstance(event, Began):
            self._running += 1
            self._watch.claimed(Started(claim_of(trial), self._running))
            return
        self._running, self._ended = max(0, self._running - 1), self._ended + 1
        outcome = event.outcome
        if outcome.status != "completed":
            outcome = replace(outcome, status="failed")  # it has one attempt
        self._watch.ended(Concluded(claim_of(trial), outcome, None, self._running))

    def close(self) -> None:
        """Report the end, however it came."""
        if self._jobs:
            whole = self._ended == len(self._jobs)
            why: Why = "finished" if whole else "interrupted"
            seconds = time.monotonic() - self._since
            self._watch.closed(Summary(why, seconds=seconds, ended=self._ended))


def _judge(
    store: Store, record: RoundRecord, job: _Job, metrics: dict[str, float | Measured], end: Outcome
) -> Evaluated:
    """What an evaluation came to; names that training has logged are refused."""
    trial, objective = job.trial, _proxy(job, record.objective.metric)
    answer = Evaluated(trial, job.step, metrics, objective)
    if end.status != "completed":
        cause = end.reason or Message("evaluation.ended", {"outcome": end.status})
        return replace(answer, metrics={}, reason=cause, detail=end.detail)
    if not metrics:
        return replace(answer, reason=Message("evaluation.nothing_measured"))
    before = {
        name
        for earlier in store.evaluations(record.id)
        if earlier.trial == trial.identity
        for name in earlier.metrics
    }
    taken = sorted(set(metrics) & (set(trial.curves) - before))
    if taken:
        reason = Message("evaluation.metric_taken", {"metric": taken[0]})
        return replace(answer, metrics={}, reason=reason)
    return answer


def _proxy(job: _Job, metric: str) -> float | None:
    """The objective at the checkpoint's step, as training logged it."""
    curve = job.trial.curves.only(metric)
    return None if curve is None or not len(curve) else value_at(curve, job.step)
