"""A round, or one configuration, done again under other seeds: for study and data variance.

A replicate of a round has separate points, seeds and a separate data split, and so shows all that
chance does to a search. One configuration on several splits, each a separate small round, shows
what the data do; candidate and baseline on the same splits are compared one by one.
"""

from __future__ import annotations

from dataclasses import replace

from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.execution.run import supervised
from tunewright.execution.workload import Workload
from tunewright.launches.arm import Arm
from tunewright.messages import Message
from tunewright.progress.watcher import Summary, Watcher
from tunewright.seeds import derived
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial


def replicate_round(round: Round, number: int) -> Round:
    """The same round under other seeds; the number counts from 2, since the round itself is 1."""
    return replace(
        round,
        name=f"{round.name}.study{number}",
        goal=Message("goal.replicate", {"round": round.name}),
        seed=derived(round.seed, "study", number),
    )


def replicates(store: Store, round: Round) -> tuple[Results, ...]:
    """The replicates of a round that a store has, as far as they were finished."""
    names = {record.name for record in store.rounds()}
    found = []
    number = 2
    while (name := replicate_round(round, number).name) in names:
        results = store.results(name)
        if all(trial.ended for trial in results.trials):
            found.append(results)
        number += 1
    return tuple(found)


def replicate(
    results: Results, workload: Workload, studies: int, watch: Watcher | None = None
) -> tuple[tuple[Results, ...], Summary]:
    """Run a round again until there are this many of it, itself included."""
    if isinstance(studies, bool) or studies < 2:
        raise DesignError("variance.bad_studies", studies=studies)
    found: list[Results] = []
    summary = Summary("finished")
    for number in range(2, studies + 1):
        again = replicate_round(results.round, number)
        own, summary, _ = supervised(again, workload, watch=watch)
        if summary.why != "finished":
            break
        found.append(own)
    return tuple(found), summary


def _split_round(results: Results, trial: Trial, number: int, seed: int | None = None) -> Round:
    """One configuration on the data split of this number, from 1.

    The splits follow from `seed`, by default the round's: trials of one round share them.
    """
    return Round(
        f"{results.round.name}.trial{trial.number}.split{number}",
        goal=Message("goal.split", {"round": results.round.name, "trial": trial.number}),
        fixed=dict(trial.configuration),
        trials_per_study=1,
        seed=derived(results.round.seed if seed is None else seed, "split", number),
    )


def resplit(
    results: Results,
    trial: Trial,
    workload: Workload,
    splits: int,
    watch: Watcher | None = None,
    seed: int | None = None,
) -> tuple[Arm, Summary]:
    """Train a trial's configuration once on each of these many data splits."""
    if isinstance(splits, bool) or splits < 1:
        raise DesignError("variance.bad_splits", splits=splits)
    runs = []
    summary = Summary("finished")
    for number in range(1, splits + 1):
        own, summary, _ = supervised(
            _split_round(results, trial, number, seed), workload, watch=watch
        )
        if summary.why != "finished":
            break
        runs.append(own)
    return _split_arm(results, trial, runs), summary


def known_splits(store: Store, results: Results, trial: Trial) -> Arm | None:
    """A trial's configuration on the data splits that a store has; None without any."""
    names = {record.name for record in store.rounds()}
    runs = []
    number = 1
    while (name := _split_round(results, trial, number).name) in names:
        runs.append(store.results(name))
        number += 1
    return _split_arm(results, trial, runs) if runs else None


def _split_arm(results: Results, trial: Trial, runs: list[Results]) -> Arm:
    """One value for each data split; nothing was picked here, so that the trials count."""
    ended = [(run, run.trials[0]) for run in runs]
    valued = [(run.round.seed, t.value) for run, t in ended if t.value is not None]
    statuses = [t.status for _, t in ended]
    return Arm(
        label=f"{results.round.name} trial {trial.number}",
        values=tuple(value for _, value in valued),
        objective=results.objective,
        splits=tuple(seed for seed, _ in valued),
        infeasible=statuses.count("infeasible"),
        failed=statuses.count("failed"),
        unfinished=sum(status in ("pending", "running", "pruned") for status in statuses),
        round=results.round,
        study=results.studies[trial.study].label,
        configuration=trial.configuration,
    )
