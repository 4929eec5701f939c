"""The verbs `run` and `load`: a round is trained, or read back as it was recorded."""

from __future__ import annotations

import contextlib
import functools
import logging
import math
import os
import time
from dataclasses import replace
from pathlib import Path

from tunewright.budgets.gate import Gate
from tunewright.design.round import Round
from tunewright.design.workload_file import Sink
from tunewright.errors import DesignError, StoreError
from tunewright.execution.early_stopping import EarlyStopping
from tunewright.execution.executors.executor import Executor
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.execution.heartbeat import lease_s, on_duty
from tunewright.execution.interrupts import Interrupt, Interrupts
from tunewright.execution.known_lengths import seconds_elsewhere
from tunewright.execution.prepare import advice, ready
from tunewright.execution.retry import from_server
from tunewright.execution.sink_processes import Following, sinks_open
from tunewright.execution.sources import sources
from tunewright.execution.suggest import by_position, suggestions
from tunewright.execution.supervisor import RoundJob, Supervisor
from tunewright.execution.workload import Workload
from tunewright.progress.choose import Wanted, watcher_for
from tunewright.progress.watcher import RoundStarted, Silent, Summary, Watcher, Why
from tunewright.search.bayesian.earlier import learning_from_earlier
from tunewright.search.halton import Halton
from tunewright.search.search import Search
from tunewright.store.joined import with_earlier
from tunewright.store.leases import Kind, LeaseWatch
from tunewright.store.provenance import DEVICES_PER_TRIAL, EVAL_EVERY, capture
from tunewright.store.results import Results
from tunewright.store.store import RoundRecord, Store
from tunewright.store.trial import ENDED

SECONDS_PER_HOUR = 3600.0
log = logging.getLogger(__name__)


def run(
    round: Round,
    workload: Workload,
    search: Search | None = None,
    *,
    max_hours: float | None = None,
    retry_failed: bool = False,
    progress: Wanted = "auto",
    early_stopping: bool = False,
) -> Results:
    """Train every trial of the round that has not ended yet, and return the round as recorded.

    The same call again continues where it stopped and runs only what is missing. After `max_hours`
    no new trial begins. Failed trials are tried again only with `retry_failed`. Ctrl-C once: no new
    trials, the running ones finish, and this returns. Twice, or SIGTERM: they are asked to save and
    go back to pending, and the interrupt is raised. `progress` is "auto" (what fits: a live region
    in a terminal, a block in a notebook, a line now and then elsewhere), "off", or a
    `tw.progress.Watcher`.

    Args:
        round: the question; a round of the same name in the store is continued.
        workload: the training program, its objective, its store and its executor.
        search: suggests configurations; None: `tw.search.Halton()`, quasi-random.
        max_hours: after so many hours no new trial begins; None: no limit.
        retry_failed: whether to train failed trials again.
        progress: "auto", "off" or a `tw.progress.Watcher`.
        early_stopping: whether to stop trials that cannot win, at one of five looks; they end as
            `pruned`. It needs 60 finished trials of each study on the same schedule
            (docs/early_stopping.md).
    """
    results, summary, interrupt = run_round(
        round,
        workload,
        search=search,
        max_hours=max_hours,
        retry_failed=retry_failed,
        watch=watcher_of(progress, workload),
        early_stopping=early_stopping,
    )
    report_end(round.name, summary, interrupt)
    return results


def load(store: str | os.PathLike[str], name: str, *, earlier: bool = True) -> Results:
    """A round as recorded, judged by its objective; nothing is trained.

    A round that continues others comes joined with those of their trials that fit it, as
    `tunewright check` reads it; with `earlier=False` it comes alone.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        name: the name of the round.
        earlier: whether to join the rounds that it continues.
    """
    with Store.open(store, create=False) as opened:
        return with_earlier(opened, name) if earlier else opened.results(name)


def supervise(
    round: Round,
    workload: Workload,
    *,
    search: Search | None = None,
    max_hours: float | None = None,
    retry_failed: bool = False,
    watch: Watcher | None = None,
    trials: int | None = None,
    join: bool = False,
    advise: bool = True,
    early_stopping: bool = False,
) -> Results:
    """What `run` does, for those who want to watch it.

    `trials` limits how many trials come to an end in this call. With `join`, this process helps
    whoever supervises the round already, and waits with them until all of it has ended. How it
    ended is sent to `watch.closed`; signals never raise here. A round that nobody designed, such as
    a probe's, needs no advice on its design.
    """
    return run_round(
        round,
        workload,
        search=search,
        max_hours=max_hours,
        retry_failed=retry_failed,
        watch=watch,
        trials=trials,
        join=join,
        advise=advise,
        early_stopping=early_stopping,
    )[0]


def run_round(
    round: Round,
    workload: Workload,
    *,
    search: Search | None = None,
    max_hours: float | None = None,
    retry_failed: bool = False,
    watch: Watcher | None = None,
    trials: int | None = None,
    join: bool = False,
    advise: bool = True,
    early_stopping: bool = False,
) -> tuple[Results, Summary, Interrupt]:
    """The results, why it came to its end, and the last interrupt."""
    search, watch = search or Halton(), watch or Silent()
    _check_limits(max_hours, trials)
    sinks = workload.placed_sinks()
    search = learning_from_earlier(search, round, workload.store, workload.objective)
    complete = ready(round, workload, search)
    workload = workload.given(complete.names)
    deadline = None if max_hours is None else time.monotonic() + max_hours * SECONDS_PER_HOUR
    with Store.open(workload.store) as store:
        record = begin_round(store, complete, workload, search, watch)
        root = store.root_of(record)
        messages = advice(complete, workload, store) if advise and not record.continued else ()
        notes = tuple(str(note) for note in messages)
        from_server(store, lambda: _keep_notes(store, record, notes), watch.message)
        kind: Kind = "worker" if join else "supervisor"
        with on_duty(store, record.id, kind, exclusive=not join) as heartbeat:
            leases = LeaseWatch(lease_s())
            take_over(store, record, leases, root, watch)
            if retry_failed:
                from_server(store, lambda: store.reopen(record.id), watch.message)
            now = from_server(store, lambda: store.round(record.name), watch.message)
            record = replace(now, continued=record.continued)
            job = RoundJob(
                store=store,
                record=record,
                workload=workload,
                executor=executor_of(workload),
                search=search,
                root=root,
                watch=watch,
                claim=lambda count: store.claim(
                    record.id, heartbeat.worker, count, by_position(search)
                ),
                provenance=capture(sources=sources(workload.train), settings=settings_of(workload)),
                heartbeat=heartbeat,
                leases=leases,
                opening=_opening(store, record, workload, watch),
                notes=(*notes, *_about_folder(workload, root)),
                limit=trials,
                deadline=deadline,
                early_stopping=_early(store, record) if early_stopping else None,
            )
            summary, interrupt = carry_out(job, sinks)
        results = from_server(store, lambda: store.results(record.name), watch.message)
    return results, summary, interrupt


def _early(store: Store, record: RoundRecord) -> EarlyStopping:
    """Early stopping by the trials that have finished so far, those of earlier rounds included."""
    return EarlyStopping.of(with_earlier(store, record.name))


def watcher_of(progress: Wanted, workload: Workload) -> Watcher:
    """The watcher that `progress` asks for; training in this process may meet a debugger."""
    return watcher_for(progress, debuggable=isinstance(workload.executor, Inline))


def _opening(store: Store, record: RoundRecord, workload: Workload, watch: Watcher) -> RoundStarted:
    """The round as its watcher learns of it."""
    known: tuple[float, ...] = ()
    if type(watch) is not Silent and not record.counts.get("completed"):
        known = seconds_elsewhere(store, record.round, workload.name, record.meaning)
    done = sum(record.counts.get(status, 0) for status in ENDED)
    total = sum(record.counts.values())
    return replace(round_started(record, total, done), counts=record.counts, known_s=known)


def round_started(record: RoundRecord, total: int, done: int) -> RoundStarted:
    """The trials of a recorded round as a watcher learns of them."""
    fixed = {f.name for study in record.round.studies for f in study.fixed}
    searched = {h.name for study in record.round.studies for h in study.space}
    return RoundStarted(
        name=record.name,
        objective=str(record.objective),
        metric=record.objective.metric,
        total=total,
        done=done,
        fixed=tuple(sorted(fixed - searched)),
        continued=record.continued,
    )


def carry_out(job: RoundJob, sinks: tuple[Sink, ...]) -> tuple[Summary, Interrupt]:
    """Let a supervisor work while its sinks follow, with signals handled."""
    following = Following(job.workload.store, job.record, job.root)
    with sinks_open(sinks, following, job.watch.message) as hurry:
        summary, interrupt = _work(job)
        if interrupt >= Interrupt.STOP:
            hurry()
    return summary, interrupt


def _work(job: RoundJob) -> tuple[Summary, Interrupt]:
    """Let a supervisor work, with signals handled; the watcher receives beginning and end."""
    began = time.monotonic()
    job.watch.began(job.opening)
    for text in job.notes:
        job.watch.message(text)
    gate = Gate.of(job.store, job.workload.budget)
    _tell_cost(job, gate, "budget.before")
    why: Why = "error"
    supervisor: Supervisor | None = None
    with Interrupts() as interrupts:
        try:
            supervisor = Supervisor(job, interrupts)
            interrupts.on_change = supervisor.on_interrupt
            why = supervisor.work()
        except KeyboardInterrupt:
            why = "interrupted"
            raise
        finally:
            ended = supervisor.progress.ended if supervisor else 0
            summary = _summary(job, why, time.monotonic() - began, ended)
            _tell_cost(job, gate, "budget.after")
            job.watch.closed(summary)
    if why == "budget spent":
        raise gate.error()
    return summary, interrupts.level


def _tell_cost(job: RoundJob, gate: Gate, code: str) -> None:
    """Tell the watcher what is spent and left, where there is a budget."""
    if type(job.watch) is Silent:
        return
    with contextlib.suppress(StoreError):
        cost = from_server(job.store, lambda: gate.cost(code), job.watch.message)
        if cost is not None:
            job.watch.message(cost.text)


def report_end(name: str, summary: Summary, interrupt: Interrupt) -> None:
    """Raise what a signal asked for, now that everything is put away; else say why it ended."""
    if summary.why == "terminated":
        raise SystemExit(143)  # 128 + SIGTERM, as a shell would say
    if summary.why == "interrupted" and interrupt >= Interrupt.STOP:
        raise KeyboardInterrupt
    if summary.why != "finished":
        log.warning("%s: %s", name, summary.says)


def executor_of(workload: Workload) -> Executor:
    """Who trains this workload."""
    return Local() if workload.executor is None else workload.executor


def settings_of(workload: Workload) -> dict[str, int | None]:
    """What a trial is trained with beside its configuration and seed: to do it again alike."""
    per_trial = getattr(executor_of(workload), "devices_per_trial", None)
    return {EVAL_EVERY: workload.eval_every, DEVICES_PER_TRIAL: per_trial}


def take_over(
    store: Store, record: RoundRecord, leases: LeaseWatch, root: Path, watch: Watcher
) -> None:
    """Take back what dead owners held, and take in what they left in the trial folders."""
    from_server(store, lambda: store.reclaim(record.id, leases, root), watch.message)
    from_server(store, lambda: store.import_spool(record.id, root), watch.message)


def begin_round(
    store: Store, round: Round, workload: Workload, search: Search, watch: Watcher
) -> RoundRecord:
    """Record a round that is ready to run, or continue it."""
    chosen = None if workload.folder is None else Path(workload.folder)
    root = store.trial_root(chosen)

    def begin() -> RoundRecord:
        return store.begin(
            round,
            workload.objective,
            workload.meaning,
            search=search.name,
            suggestions=suggestions(search),
            command=workload.name,
            folder="" if chosen is None else str(root),
            campaign="" if workload.purpose is None else workload.purpose.campaign,
            purpose="" if workload.purpose is None else workload.purpose.kind,
            ahead=by_position(search) is not None,
        )

    return from_server(store, begin, watch.message)


def _keep_notes(store: Store, record: RoundRecord, notes: tuple[str, ...]) -> None:
    with store.transaction():
        for text in notes:
            store.note(record, text)


def _about_folder(workload: Workload, root: Path) -> tuple[str, ...]:
    if workload.folder is None or root == Path(workload.folder).expanduser().absolute():
        return ()
    return (f"this round keeps its trial folders where it began: {root}",)


def _summary(job: RoundJob, why: Why, seconds: float, ended: int) -> Summary:
    counts = job.record.counts
    with contextlib.suppress(StoreError):  # perhaps what ended the round: then what was known
        read = functools.partial(job.store.round, job.record.name)
        now = read() if why == "error" else from_server(job.store, read, job.watch.message)
        counts = now.counts
    summary = Summary(why, counts, seconds, ended)
    if why == "limit" and summary.whole:
        return replace(summary, why="finished")
    if why == "finished" and job.waits and not summary.whole:
        return replace(summary, stopped=True)
    return summary


def _check_limits(max_hours: float | None, trials: int | None) -> None:
    if max_hours is not None and not 0 < max_hours < math.inf:
        raise DesignError("run.bad_max_hours", max_hours=max_hours)
    if trials is not None and (isinstance(trials, bool) or trials < 1):
        raise DesignError("run.bad_trials", trials=trials)
