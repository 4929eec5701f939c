"""The verb `repeat`: the same configuration again, under fresh seeds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from tunewright.errors import DesignError, NotFound, WorkloadError
from tunewright.execution.command import Command
from tunewright.execution.heartbeat import lease_s, on_duty
from tunewright.execution.interrupts import Interrupt
from tunewright.execution.retry import from_server
from tunewright.execution.run import (
    carry_out,
    executor_of,
    report_end,
    round_started,
    settings_of,
    take_over,
    watcher_of,
)
from tunewright.execution.sources import sources
from tunewright.execution.supervisor import RoundJob
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.nearest import nearest
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import Silent, Summary, Watcher
from tunewright.remedies import ListRounds
from tunewright.search.listed import Listed
from tunewright.store.leases import LeaseWatch
from tunewright.store.provenance import capture
from tunewright.store.results import Repeats
from tunewright.store.store import RoundRecord, Store
from tunewright.store.trial import Trial


def repeat(trial: Trial, workload: Workload, times: int, progress: Wanted = "auto") -> Repeats:
    """Train a trial's configuration `times` times in all, each under a separate seed.

    Repeats that are there already count: `times=5` twice means five. The repeats number k of two
    trials of a round share their seed, so that they can be compared in pairs. They take no number
    and stay out of `results.trials`. `repeats.seedless` means that all gave the same value although
    the program is not declared deterministic: it does not use its seed. `progress` is as for `run`.

    Args:
        trial: a trial of a recorded round.
        workload: the program that trained it.
        times: repeats in all, those that exist already included.
        progress: as for `tw.run`.
    """
    repeats, summary, interrupt = run_repeats(
        trial, workload, times, watcher_of(progress, workload)
    )
    report_end(f"repeats of trial {trial.number}", summary, interrupt)
    return repeats


def run_repeats(
    trial: Trial, workload: Workload, times: int, watch: Watcher | None = None
) -> tuple[Repeats, Summary, Interrupt]:
    """What `repeat` does, for those who want to watch it; signals never raise here."""
    watch = watch or Silent()
    number = _check(trial, workload, times)
    sinks = workload.placed_sinks()
    with Store.open(workload.store, create=False) as store:
        record = round_of(store, trial)
        root = store.root_of(record)
        # judged as their parent was, whatever this workload asks for by now
        workload = replace(workload, objective=record.objective)
        with on_duty(store, record.id, "supervisor", exclusive=True) as heartbeat:
            leases = LeaseWatch(lease_s())
            take_over(store, record, leases, root, watch)
            store.add_repeats(record.id, number, times)
            known = store.results(record.name).repeats(number)
            done = sum(each.ended for each in known)
            opening = round_started(record, len(known), done)
            took = tuple(each.seconds for each in (trial, *known) if each.status == "completed")
            job = RoundJob(
                store=store,
                record=record,
                heartbeat=heartbeat,
                workload=workload,
                executor=executor_of(workload),
                search=Listed([trial.configuration]),  # every repeat has its configuration
                root=root,
                watch=watch,
                claim=lambda count: store.claim_repeats(record.id, heartbeat.worker, number, count),
                provenance=capture(sources=sources(workload.train), settings=settings_of(workload)),
                opening=replace(opening, known_s=took, continued=done > 0, what="repeats"),
                leases=leases,
                waits=False,
            )
            summary, interrupt = carry_out(job, sinks)
        results = from_server(store, lambda: store.results(record.name), watch.message)
    repeats = Repeats(results.trial(number), results.repeats(number), results)
    if repeats.seedless and not workload.deterministic:
        watch.message(Message("repeat.identical", {"trials": [number]}).text)
    return repeats, summary, interrupt


def _check(trial: Trial, workload: Workload, times: int) -> int:
    """Refuse what cannot be repeated; the trial's number."""
    if not isinstance(trial, Trial):
        raise DesignError("repeat.not_a_trial", trial=trial)
    if isinstance(times, bool) or not isinstance(times, int) or times < 1:
        raise DesignError("repeat.bad_times", times=times)
    if trial.number is None:
        raise DesignError("repeat.of_a_repeat", parent=trial.parent)
    if not trial.configuration:
        raise DesignError("repeat.no_configuration", trial=trial.number)
    if isinstance(workload.train, Command) and not workload.train.takes_seed:
        raise WorkloadError("repeat.no_seed", template=workload.train.template)
    refuse_unknown(trial, workload)
    return trial.number if trial.origin is None else trial.origin[1]


def refuse_unknown(trial: Trial, workload: Workload) -> None:
    """Refuse a trial with a hyperparameter that the program no longer takes."""
    accepts = workload.accepts
    for name in trial.configuration:
        if name not in accepts.names and not accepts.takes_anything:
            near = nearest(name, accepts.names)
            hint = f"Did it become {near}?" if near else f"It takes {sorted(accepts.names)}."
            raise WorkloadError(
                "repeat.unknown_hyperparameter",
                trial=trial.number,
                name=name,
                workload=workload.name,
                hint=hint,
            )


def round_of(store: Store, trial: Trial) -> RoundRecord:
    """The round a trial belongs to, by its folder, which no two rounds share."""
    directory = PurePosixPath(trial.folder).parts[:1]
    for record in store.rounds():
        if (record.directory,) == directory:
            return record
    raise NotFound("repeat.trial_not_found", url=store.url, trial=trial.number, remedy=ListRounds())
