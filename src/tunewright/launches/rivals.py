"""Which trial is the candidate of a launch, and which the baseline?

Without a named one the baseline is the trial launched last. Before the first launch it is the best
trial of the round's own starting point: the setting of its scientific hyperparameters that
switches the feature off (`off=` of the workload), else the first one listed.

A round is read together with those it continues, as `tw.load` reads it: the best trial may be one
of theirs. Each of the two trials then stands in the round that ran it, where its repeats are.
"""

from __future__ import annotations

import difflib
import shlex
from dataclasses import dataclass

from tunewright.actions import TrainAgain
from tunewright.design.ranges import same_value
from tunewright.design.study import Study
from tunewright.errors import DesignError, NotFound
from tunewright.execution.repeat import round_of
from tunewright.launches import lineage
from tunewright.launches.lineage import Place
from tunewright.launches.looks import known
from tunewright.messages import Message
from tunewright.store.joined import with_earlier
from tunewright.store.results import Repeats, Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

Named = Trial | Results | str | int  # how a baseline is named


@dataclass(frozen=True)
class Rivals:
    """Candidate and baseline, with their repeats so far."""

    candidate: Repeats
    baseline: Repeats
    why: Message  # why this is the baseline
    won_with: int = 0  # of its repeats, so many made it the baseline

    @property
    def places(self) -> tuple[Place, Place]:
        """Where the two stand."""
        own, other = self.candidate, self.baseline
        return Place.of(own.results, own.of), Place.of(other.results, other.of)


def rivals(store: Store, results: Results, number: int | None, against: Named | None) -> Rivals:
    """The two trials a launch compares; `number` is the candidate's, by default the best."""
    if against is not None:
        theirs, trial = _named(store, results, against)
        other = _where_it_ran(store, results, trial)
        return _pair(store, results, number, other, Message("launch.baseline_named"))
    now = lineage.baseline(store)
    if now is not None:
        theirs = _judged_alike(store, results, now.place.round)
        other = known(theirs, theirs.trial(now.place.trial))
        why = Message("launch.baseline_launched")
        return _pair(store, results, number, other, why, now.runs)
    start = _start(results)
    if start is None:
        command = shlex.join(["tunewright", "launch", results.round.name])
        raise DesignError("launch.no_baseline", round=results.round.name, command=command)
    theirs_best = _best(results, start.number)
    if number is None:
        others = [t for t in results.top(len(results.trials)) if t.study != start.number]
        if not others:
            raise NotFound("launch.no_other_setting", round=results.round.name, label=start.label)
        number = others[0].number
    why = Message("launch.baseline_start", {"study": start.label})
    return _pair(store, results, number, _where_it_ran(store, results, theirs_best), why)


def of_round(store: Store, trial: Trial) -> tuple[str, int]:
    """The name of a trial's round, and its number there."""
    if trial.number is None:
        raise DesignError("launch.trial_is_repeat", parent=trial.parent)
    if trial.origin is not None:
        return trial.origin
    return round_of(store, trial).name, trial.number


def refuse_pruned(results: Results, trial: Trial) -> None:
    """A candidate that was stopped early has no value: it is trained to its end first."""
    if trial.status == "pruned":
        name, number = trial.origin or (results.round.name, trial.number or 0)
        remedy = TrainAgain(name, number)
        raise DesignError("launch.candidate_pruned", trial=number, round=name, remedy=remedy)


def as_recorded(
    store: Store, name: str, objective: Results | None, *, earlier: bool = False
) -> Results:
    """A round as the store has it, with those it continues if asked, judged alike."""
    recorded = with_earlier(store, name) if earlier else store.results(name)
    if objective is None or objective.objective == recorded.objective:
        return recorded
    return recorded.with_objective(objective.objective)


def _pair(
    store: Store,
    results: Results,
    number: int | None,
    other: Repeats,
    why: Message,
    won_with: int = 0,
) -> Rivals:
    place = Place.of(other.results, other.of)
    found = _best_but(results, place) if number is None else results.trial(number)
    refuse_pruned(results, found)
    own = _where_it_ran(store, results, found)
    if Place.of(own.results, own.of) == place:
        raise DesignError("launch.already_the_baseline", trial=place.trial, round=place.round)
    return Rivals(own, other, why, won_with)


def _best_but(results: Results, baseline: Place) -> Trial:
    """The best trial; a baseline that an earlier round ran has been launched from there already."""
    for trial in results.top(len(results.trials)):
        if trial.origin != (baseline.round, baseline.trial):
            return trial
    return results.best()


def _where_it_ran(store: Store, results: Results, trial: Trial) -> Repeats:
    """A trial with its repeats in the round that ran it, which may be an earlier one."""
    name, number = of_round(store, trial)
    own = _judged_alike(store, results, name)
    return known(own, own.trial(number))


def _judged_alike(store: Store, results: Results, name: str, *, earlier: bool = False) -> Results:
    """A round, by another objective where the candidate's is judged by another."""
    theirs = with_earlier(store, name) if earlier else store.results(name)
    changed = store.round(results.round.name).objective != results.objective
    return theirs.with_objective(results.objective) if changed else theirs


def _named(store: Store, results: Results, named: Named) -> tuple[Results, Trial]:
    """The trial that a trial, results (their best), `7`, `ROUND` or `ROUND:7` refers to."""
    if isinstance(named, Trial):
        name, own = of_round(store, named)
        theirs = _judged_alike(store, results, name)
        return theirs, theirs.trial(own)
    if isinstance(named, Results):
        theirs = _judged_alike(store, results, named.round.name, earlier=True)
        return theirs, theirs.best()
    if isinstance(named, int) or named.isdigit():
        return results, results.trial(int(named))
    name, _, number = named.rpartition(":")
    if not number.isdigit() or not name:
        name, number = named, ""
    names = [record.name for record in store.rounds()]
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        near_name = near[0] if near else None
        raise NotFound("launch.unknown_baseline", named=named, near=near_name, known=names)
    theirs = _judged_alike(store, results, name, earlier=True)
    return theirs, theirs.trial(int(number)) if number else theirs.best()


def _start(results: Results) -> Study | None:
    """The study a round starts from: its feature off, or the first value listed."""
    if len(results.studies) < 2:
        return None
    off = results.meaning.off
    for study in results.studies:
        known_off = [name for name in study.scientific if name in off]
        if known_off and all(same_value(study.scientific[n], off[n]) for n in known_off):
            return study
    return results.studies[0]


def _best(results: Results, study: int) -> Trial:
    for trial in results.top(len(results.trials)):
        if trial.study == study:
            return trial
    raise NotFound(
        "launch.baseline_not_completed",
        round=results.round.name,
        label=results.studies[study].label,
    )
