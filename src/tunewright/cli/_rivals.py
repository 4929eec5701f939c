"""Which trial is the candidate of a launch, and which the baseline?

Without `--baseline` it is the trial launched last. Before the first launch it is the best trial of
the round's own starting point: the setting of its scientific hyperparameters that switches the
feature off (`[workload.off]`), else the first one listed.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from tunewright.cli._errors import Misuse
from tunewright.design.ranges import same_value
from tunewright.design.study import Study
from tunewright.launches import lineage
from tunewright.launches.lineage import Place
from tunewright.launches.looks import known
from tunewright.messages import words
from tunewright.store.repeats import Repeats
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial


@dataclass(frozen=True)
class Rivals:
    """Candidate and baseline, with what the record has of them."""

    candidate: Repeats
    baseline: Repeats
    why: str  # why this is the baseline
    won_with: int = 0  # of its repeats, so many made it the baseline

    @property
    def places(self) -> tuple[Place, Place]:
        """Where the two stand."""
        own, other = self.candidate, self.baseline
        return Place.of(own.results, own.of), Place.of(other.results, other.of)


def rivals(store: Store, results: Results, number: int | None, against: str | None) -> Rivals:
    """The two trials a launch compares."""
    if against is not None:
        return _pair(results, number, *_named(store, results, against), "as asked")
    now = lineage.baseline(store)
    if now is not None:
        theirs = _judged_alike(store, results, now.place.round)
        trial = theirs.trial(now.place.trial)
        return _pair(results, number, theirs, trial, "launched last", now.runs)
    start = _start(results)
    if start is None:
        name = words.shell_word(results.round.name)
        raise Misuse(
            f"nothing to compare {results.round.name} with: it has one setting, and nothing was "
            "launched before",
            cause="a launch compares a candidate with a baseline",
            remedy=f"tunewright launch {name} --first  (its best becomes the first baseline), or "
            f"tunewright launch {name} --baseline ROUND",
        )
    theirs_best = _best(results, start.number)
    why = f"{start.label}: the round's own starting point"
    if number is None:
        others = [t for t in results.top(len(results.trials)) if t.study != start.number]
        if not others:
            raise Misuse(f"{results.round.name}: no other setting than {start.label} has completed")
        number = others[0].number
    return _pair(results, number, results, theirs_best, why)


def _pair(
    results: Results, number: int | None, theirs: Results, trial: Trial, why: str, won_with: int = 0
) -> Rivals:
    candidate = results.best() if number is None else results.trial(number)
    if (results.round.name, candidate.number) == (theirs.round.name, trial.number):
        raise Misuse(
            f"trial {trial.number} of {results.round.name} is the baseline already",
            cause="there is nothing to launch",
            remedy="tunewright history, or --trial N for another candidate",
        )
    return Rivals(known(results, candidate), known(theirs, trial), why, won_with)


def _judged_alike(store: Store, results: Results, name: str) -> Results:
    """The baseline's round, by another objective where the candidate's is judged by another."""
    theirs = store.results(name)
    changed = store.round(results.round.name).objective != results.objective
    return theirs.with_objective(results.objective) if changed else theirs


def _named(store: Store, results: Results, text: str) -> tuple[Results, Trial]:
    """The trial that `7`, `ROUND` or `ROUND:7` stands for."""
    if text.isdigit():
        return results, results.trial(int(text))
    name, _, number = text.rpartition(":")
    if not number.isdigit() or not name:
        name, number = text, ""
    names = [record.name for record in store.rounds()]
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        raise Misuse(
            f"--baseline {text}: no round of this name, and no trial's number",
            cause=f"did you mean {near[0]!r}?" if near else f"there is: {', '.join(names)}",
            remedy="--baseline ROUND, --baseline ROUND:7, or --baseline 7 for one of this round",
        )
    theirs = _judged_alike(store, results, name)
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
    label = results.studies[study].label
    raise Misuse(
        f"{results.round.name}: no trial with {label} has completed, which would be the baseline",
        remedy=f"tunewright launch {words.shell_word(results.round.name)} --baseline ROUND",
    )
