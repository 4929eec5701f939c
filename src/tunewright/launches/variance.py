"""The three variances of a round together: trial, study and data, each with its uncertainty.

The playbook: before adopting a change, know how much of a difference is due to the seed (trial
variance), to the search (study variance), and to the data that was collected and split (data
variance).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from tunewright import messages
from tunewright.actions import Action, Advise, MeasureVariance, Repeat
from tunewright.checks.positions import losses_of
from tunewright.checks.trial_sd import seedless_trials
from tunewright.checks.variance import optimism, spread
from tunewright.errors import DesignError
from tunewright.execution.repeat import repeated
from tunewright.execution.run import watcher_of
from tunewright.execution.workload import Workload
from tunewright.facts import Facts
from tunewright.launches.arm import Arm
from tunewright.launches.data_variance import by_split, of_gain, of_value, runs_of
from tunewright.launches.replicate import known_splits, replicate, replicates, resplit
from tunewright.launches.rivals import as_recorded
from tunewright.launches.study_variance import from_halves, from_replicates
from tunewright.messages import Message, markup, words
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import Summary, Watcher
from tunewright.stats.noise import Floats
from tunewright.stats.spread import Spread
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

Unknown = Literal["trial", "study", "data", "splits"]


@dataclass(frozen=True)
class Variances(Facts):
    """How far chance moves the best value of a round, by where the chance comes from."""

    round: str
    metric: str
    trial: Spread | None  # the same configuration under other seeds
    study: Mapping[str, Spread]  # the best of each study, if its search were done again
    data: Spread | None  # the best value, on other examples of the same kind
    data_of_gain: Spread | None  # the difference between the two best studies, on other examples
    splits: Spread | None  # the best configuration, on other splits
    optimism: float | None  # by which the best value is too good, at least: it was picked
    missing: Mapping[Unknown, Action] = field(default_factory=dict)  # how to measure the rest
    rough: Mapping[Unknown, Action] = field(default_factory=dict)  # how to measure it better
    seedless: tuple[int, ...] = ()  # trials whose repeats were all the same: no seed is used
    interrupted: bool = False  # somebody stopped the training that was to measure it

    def __repr__(self) -> str:
        """What is known, a line each."""
        return f"<Variances of {self.round!r}>\n{self}"

    def _repr_html_(self) -> str:
        """A table for a notebook: each source with its standard deviation, and how to know more."""
        known = [self.trial, *self.study.values(), self.data, self.data_of_gain, self.splits]
        rows = tuple(
            (s.source, s.sd, f"{words.number(s.low)} … {words.number(s.high)}", s.how)
            for s in known
            if s is not None
        )
        names = ("source", "sd", "interval", "how")
        columns = tuple(Message(f"card.label.{name}").text for name in names)
        facts = {"round": self.round, "metric": self.metric}
        title = Message("card.variances", facts).text
        seedless = {"trials": list(self.seedless)}
        said = [messages.text("repeat.identical", seedless)] if self.seedless else []
        calls = [(action.call, action.text) for action in self.missing.values()]
        return markup.card(title, said, table=markup.Table(columns, rows), actions=calls)

    def __str__(self) -> str:
        """One line for each that is known."""
        known = [self.trial, *self.study.values(), self.data, self.data_of_gain, self.splits]
        lines = [str(one) for one in known if one is not None]
        if self.seedless:
            lines.insert(0, messages.text("repeat.identical", {"trials": list(self.seedless)}))
        return "\n".join(lines) or messages.text("variance.nothing_known", {})


def variance(
    results: Results,
    workload: Workload | None = None,
    *,
    times: int | None = None,
    studies: int | None = None,
    splits: int | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: Wanted = "auto",
) -> Variances:
    """Trial, study and data variance of a round, from what its store has.

    Nothing is trained unless a count is given.

        print(tw.launches.variance(tw.load("tuning.db", "depth")))
        tw.launches.variance(results, workload, times=5, studies=3)

    Args:
        results: the round.
        workload: its training program; needed where something is to be trained.
        times: train the best trial again until it has so many repeats.
        studies: run the whole search again until there are so many of it.
        splits: train the best trial on each of so many data splits.
        store: None: the workload's, or the one the results were read from; needed for results of
            a PostgreSQL store with a password.
        progress: as for `tw.run`.
    """
    summary: Summary | None = None
    if times or studies or splits:
        if workload is None:
            raise DesignError("variance.no_workload")
        watch = watcher_of(progress, workload)
        summary = _measure(results, workload, times, studies, splits, watch)
    address = store or (workload.store if workload is not None else results.store)
    if not address:  # results that were never in a store
        return variances_of(results)
    with Store.open(address, create=False) as opened:
        own = as_recorded(opened, results.round.name, results)
        best = own.top(1)
        arm = known_splits(opened, own, best[0]) if best else None
        found = variances_of(own, replicates(opened, own.round), arm)
    stopped = _stopped(summary)
    return replace(found, interrupted=True) if stopped else found


def variances_of(
    results: Results, replicates: Sequence[Results] = (), splits: Arm | None = None
) -> Variances:
    """The variances of a round, its replicates and the best configuration on several splits.

    `replicates` are the same round with other seeds (its own points count as one of them); `splits`
    is the best configuration trained on several data splits.
    """
    name = results.round.name
    seedless = seedless_trials(results)
    found = None if seedless else spread(_groups(results))
    trial = None
    if found is not None:
        freedom = found.repeats - found.groups
        how = Message("variance.repeats", {"repeats": found.repeats})
        trial = Spread("trial", found.sd, found.low, found.high, freedom, how)
    studies = {}
    for study in results.studies:
        own = from_replicates([results, *replicates], study.number) if replicates else None
        own = own or from_halves(results, study.number)
        if own is not None:
            studies[study.label] = own
    best = results.top(1)
    data, gap = _data(results, best[0]) if best else (None, None)
    missing: dict[Unknown, Action] = {}
    if trial is None:
        missing["trial"] = Advise("use_the_seed") if seedless else Repeat(name)
    rough: dict[Unknown, Action] = {}
    if not replicates:  # halves are right within a factor of two
        known = rough if len(studies) == len(results.studies) else missing
        known["study"] = MeasureVariance(name, studies=3)
    if data is None:
        missing["data"] = Advise("save_per_example")
    if splits is None:
        missing["splits"] = MeasureVariance(name, splits=5)
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
        rough=rough,
        seedless=seedless,
    )


def _measure(
    results: Results,
    workload: Workload,
    times: int | None,
    studies: int | None,
    splits: int | None,
    watch: Watcher | None,
) -> Summary | None:
    """Train what it takes to know them; how the last training ended."""
    summary: Summary | None = None
    if times:
        _, summary, _ = repeated(results.best(), workload, times, watch)
    if studies and not _stopped(summary):
        _, summary = replicate(results, workload, studies, watch)
    if splits and not _stopped(summary):
        _, summary = resplit(results, results.best(), workload, splits, watch)
    return summary


def _stopped(summary: Summary | None) -> bool:
    return summary is not None and summary.why != "finished"


def _groups(results: Results) -> list[list[float]]:
    parents = dict.fromkeys(r.parent for r in results.recorded_repeats if r.parent is not None)
    return [[r.value for r in results.repeats(p) if r.value is not None] for p in parents]


def _data(results: Results, best: Trial) -> tuple[Spread | None, Spread | None]:
    """The data variance of the best value, and of its difference to the best other study."""
    runs, own = _runs(results, best), _examples(results, best)
    if runs is None or own is None:
        return None, None
    for rival in results.top(len(results.trials)):
        if rival.study != best.study or len(results.studies) == 1:
            other = _examples(results, rival) if rival.number != best.number else None
            if other is not None and len(other) == len(own):
                return of_value(runs), of_gain(own, other)
    return of_value(runs), None


def _runs(results: Results, trial: Trial) -> Floats | None:
    """What its repeats kept per example, a row for each of them; its own where they kept none."""
    found = runs_of(results, results.repeats(trial))
    return runs_of(results, [trial]) if found is None else found


def _examples(results: Results, trial: Trial) -> Floats | None:
    """The same averaged over the repeats: their difference holds less of the seeds' noise."""
    found = _runs(results, trial)
    return None if found is None else np.asarray(found.mean(axis=0))


def _optimism(results: Results, trial: Spread | None) -> float | None:
    """By how much the best value of the best study is too good, at least."""
    if trial is None or not trial.sd > 0:
        return None
    best = results.top(1)
    losses = losses_of(results, results.of(best[0].study)) if best else np.empty(0)
    losses = losses[np.isfinite(losses)]
    return optimism(losses, trial.sd) if len(losses) >= 4 else None
