"""Faults of the design that a receipt shows: unequal budgets, wrong roles, ranges and splits."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from tunewright.design.conditions import Hyperparameter
from tunewright.design.guards import is_seed
from tunewright.design.names import lengths
from tunewright.design.ranges import is_number
from tunewright.design.round_file import from_data
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_UNEQUAL = 1.5  # times as many trials of one setting as of another ...
_FEWEST_MORE = 4  # ... and at least so many more: rounds end in the middle of a turn
_NARROW = 0.5  # of the winner's range: a rival that saw less was not tuned as well
_SAME_AGAIN = 3  # trials of one configuration that a user added by hand
_RIVAL_TRIALS = 2.0  # times as many trials as the rival of another round had
_SPLIT = re.compile(r"(^|[._])(split|fold|cv)([._]?(seed|id|index|number))?$|data[._]seed$")
Seen = Iterator[Mapping[str, Any]]


def unequal_tuning(data: Mapping[str, Any], results: Results) -> Seen:
    """Settings that were given far from equal numbers of trials."""
    arms = {arm["setting"]: arm["trials"] for arm in data["arms"]}
    if len(arms) > 1:
        most, fewest = max(arms, key=lambda s: arms[s]), min(arms, key=lambda s: arms[s])
        if arms[most] >= _UNEQUAL * arms[fewest] and arms[most] - arms[fewest] >= _FEWEST_MORE:
            yield {"most": most, "trials": arms[most], "fewest": fewest, "rival": arms[fewest]}
    for launch in data["launches"]:
        baseline, decision = launch["baseline"], launch["decision"]
        if baseline is None or decision.get("claim") != "feature":
            continue
        other = data["other_rounds"].get(baseline["round"])
        if other is None or launch["candidate"]["round"] != results.round.name:
            continue
        theirs = max(other["ended"].values(), default=0)
        ours = max(arms.values(), default=0)
        if ours >= _RIVAL_TRIALS * theirs and ours - theirs >= _FEWEST_MORE:
            facts = {"trials": ours, "rival": theirs}
            yield {"most": results.round.name, "fewest": baseline["round"], **facts}


def seed_tuned(data: Mapping[str, Any], results: Results) -> Seen:
    """A seed among the hyperparameters, or one configuration tried under many seeds."""
    for name in results.round.names:
        if is_seed(name) and not _SPLIT.search(name.lower()) and _values(results, name) > 1:
            yield {"name": name, "times": 0, "trials": []}
    same: dict[str, list[Trial]] = defaultdict(list)
    for trial in results.recorded:
        if trial.index is None and trial.origin is None:
            same[repr(sorted(trial.configuration.items()))].append(trial)
    for trials in same.values():
        if len(trials) >= _SAME_AGAIN and len({trial.seed for trial in trials}) == len(trials):
            yield {"name": "", "times": len(trials), "trials": [trial.number for trial in trials]}


def steps_tuned(data: Mapping[str, Any], results: Results) -> Seen:
    """Steps or epochs that were searched, or that differ between what is compared."""
    for name in _lengths(results):
        searched = any(h.name == name for study in results.studies for h in study.space)
        counts = _values(results, name)
        if name in results.round.scientific or searched or counts > 1:
            yield {"name": name, "values": counts}


def _lengths(results: Results) -> list[str]:
    """The hyperparameters that say how long to train, by declaration or by their spelling."""
    return list(lengths(results.meaning, results.round.names))


def narrowed_rival(data: Mapping[str, Any], results: Results) -> Seen:
    """A setting that lost after a search in a much smaller range than the winner's."""
    best = results.top(1)
    if best and len(results.studies) > 1:
        winner = results.studies[best[0].study]
        for study in results.studies:
            if study.number != winner.number:
                yield from _narrower(winner.space, study.space, winner.label, study.label)
    for launch in data["launches"]:
        baseline = launch["baseline"]
        if baseline is None or launch["decision"].get("claim") != "feature":
            continue
        other = data["other_rounds"].get(baseline["round"])
        if other is None or launch["candidate"]["round"] != results.round.name:
            continue
        theirs = from_data(other["round"])
        space = results.studies[0].space
        yield from _narrower(space, theirs.studies[0].space, results.round.name, theirs.name)


def _narrower(
    wide: tuple[Hyperparameter, ...], narrow: tuple[Hyperparameter, ...], winner: str, rival: str
) -> Seen:
    known = {h.name: h.range for h in wide}
    for h in narrow:
        mine = known.get(h.name)
        if mine is None or mine.kind != h.range.kind or mine.ends is None or h.range.ends is None:
            continue
        inside = h.range.covered(mine) > 0.999  # the winner's range has all of the rival's
        share = mine.covered(h.range)
        if inside and share <= _NARROW:
            facts = {"winner": winner, "rival": rival, "share": share}
            yield {"name": h.name, "range": h.range.to_data(), **facts}


def split_differs(data: Mapping[str, Any], results: Results) -> Seen:
    """Different data splits under what is compared: by a hyperparameter, a report, or the seed."""
    for name in results.round.names:
        if _SPLIT.search(name.lower()) and _values(results, name) > 1:
            yield {"name": name, "by": "hyperparameter"}
    reported: dict[str, set[str]] = defaultdict(set)
    for trial in results.recorded:
        for name, value in (trial.applied or {}).items():
            if _SPLIT.search(str(name).lower()) and trial.origin is None:
                reported[str(name)].add(repr(value))
    for name, values in reported.items():
        if len(values) > 1 and name not in results.round.names:
            yield {"name": name, "by": "report"}
    seeds = {results.round.name: results.round.seed}
    seeds |= {before.round.name: before.round.seed for before in results.earlier}
    seeds |= {name: other["round"]["seed"] for name, other in data["other_rounds"].items()}
    for launch in data["launches"]:
        if launch["baseline"] is None or launch["decision"].get("method") == "paired by split":
            continue
        pair = [launch[which]["round"] for which in ("candidate", "baseline")]
        known = {seeds[name] for name in pair if name in seeds}
        if len(known) > 1 and launch["decision"].get("verdict") != "undecided":
            yield {"name": "seed", "by": "round", "rounds": pair}


def _values(results: Results, name: str) -> int:
    """How many values of a hyperparameter the round's trials had."""
    values = {
        float(value) if is_number(value) else repr(value)
        for trial in results.recorded
        if (value := trial.configuration.get(name)) is not None
    }
    return len(values)
