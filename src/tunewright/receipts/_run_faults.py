"""Faults of the runs that a receipt shows: curves cut short, seeds reused, trials that are gone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tunewright.checks.same_code import SameCodeEvidence, same_code
from tunewright.launches.asked import RECORDED
from tunewright.receipts._curves import broken_curves
from tunewright.store.curves import Curve
from tunewright.store.results import Results
from tunewright.store.trial import Trial, repeat_seed

_FEWEST = 5  # points of a curve that is judged
_SHORT = 0.9  # of the steps of like trials: a completed trial that ended earlier was cut
_STILL_HIGH = 0.35  # of the peak: a schedule at its end is lower
_STILL_FALLING = 0.08  # lost over the last tenth of training
_TAIL = 0.1
_MOST_LISTED = 20
_CODE = ("source files", "commit", "uncommitted changes")
Seen = Iterator[Mapping[str, Any]]


def truncated_curve(data: Mapping[str, Any], results: Results) -> Seen:
    """Curves with fewer points than were hashed, or shorter than the trial's other metrics."""
    every = [*data["trials"], *data["repeats"]]
    for cut, metric, shorter in broken_curves(every):
        if shorter:
            yield {"trial": _name(cut), "metric": metric, "points": cut["curves"][metric]["points"]}
    metric = results.objective.metric
    completed = [t for t in results.recorded if t.status == "completed" and t.origin is None]
    share = {trial.number: _share(trial, metric) for trial in completed}
    known = [value for value in share.values() if value is not None]
    if len(known) < _FEWEST or float(np.median(known)) < _SHORT:
        return
    for trial in completed:
        value = share[trial.number]
        if value is not None and value < _SHORT * float(np.median(known)):
            curve = trial.curves.only(metric)
            yield {
                "trial": trial.number,
                "metric": metric,
                "points": 0 if curve is None else len(curve),
            }


def _share(trial: Trial, metric: str) -> float | None:
    """How far the objective was logged, as a share of what else the trial logged."""
    objective = trial.curves.only(metric)
    others = [
        len_ for name in trial.curves if name != metric if (len_ := _last(trial.curves[name]))
    ]
    if objective is None or len(objective) < 1 or not others:
        return None
    return _last(objective) / max(others)


def _last(curve: Curve) -> int:
    return int(curve.steps[-1]) if len(curve) else 0


def mid_decay(data: Mapping[str, Any], results: Results) -> Seen:
    """Completed runs that ended before their schedule did, by their steps or by the logged rate."""
    length = results.meaning.name("max_train_steps")
    runs = [t for t in results.recorded if t.status == "completed" and t.origin is None]
    runs += [t for t in results.recorded_repeats if t.status == "completed"]
    ended: dict[Any, list[tuple[Trial, int]]] = defaultdict(list)
    for trial in runs:
        last = max((_last(curve) for curve in trial.curves.values()), default=0)
        if last:
            ended[trial.configuration.get(length)].append((trial, last))
    early = []
    for alike in ended.values():
        whole = max(last for _, last in alike)
        early += [trial for trial, last in alike if last < _SHORT * whole]
    rate = results.meaning.name("learning_rate")
    falling = [trial for trial in runs if _mid_fall(trial.curves.only(rate))]
    if early:
        yield {"trials": _numbers(early), "by": "steps"}
    if falling:
        yield {"trials": _numbers(falling), "by": "rate"}


def _mid_fall(curve: Curve | None) -> bool:
    """Whether a logged learning rate ends high and falling fast."""
    if curve is None or len(curve) < 2 * _FEWEST:
        return False
    values = curve.values
    peak = float(np.max(values))
    if not np.isfinite(values).all() or peak <= 0:
        return False
    span = float(curve.steps[-1] - curve.steps[0])
    before = float(np.interp(curve.steps[-1] - _TAIL * span, curve.steps, values))
    last = float(values[-1])
    return last > _STILL_HIGH * peak and last < (1 - _STILL_FALLING) * before


def best_of_history(data: Mapping[str, Any], results: Results) -> Seen:
    """A decision that counts the selected trial's own value, or values that no repeat has."""
    rounds = {results.round.name: [*data["trials"], *data["repeats"]]}
    rounds |= {
        round["round"]["name"]: [*round["trials"], *round["repeats"]] for round in data["earlier"]
    }
    rounds |= {
        n: [*round["trials"], *round["repeats"]] for n, round in data["other_rounds"].items()
    }
    for launch in data["launches"]:
        decision = launch["decision"]
        if decision.get("deterministic") or decision.get("method") in ("paired by split", "none"):
            continue
        if launch["baseline"] is None:
            continue
        metric = decision.get(RECORDED, {}).get("objective", {}).get("metric")
        if metric not in (None, results.objective.metric):
            continue
        for which in ("candidate", "baseline"):
            place = launch[which]
            if place["round"] not in rounds:
                continue
            trials = rounds[place["round"]]
            repeats = [t["value"] for t in trials if t["parent"] == place["trial"]]
            chosen = [
                t["value"] for t in trials if t["number"] == place["trial"] and not t.get("origin")
            ]
            for value in decision.get(f"{which}_values") or ():
                if not _near(value, repeats):
                    facts = {"arm": which, "round": place["round"], "trial": place["trial"]}
                    yield {**facts, "value": value, "selected": _near(value, chosen)}
                    break


def _near(value: float, known: Sequence[float | None]) -> bool:
    return any(
        other is not None and abs(other - value) <= 1e-9 * max(1.0, abs(other)) for other in known
    )


def test_peeking(data: Mapping[str, Any], results: Results) -> Seen:
    """Several trials measured on the test set, or an objective that is the test set's."""
    looked = dict.fromkeys((look["trial"], look["number"]) for look in data["looks"])
    if len(looked) > 1:
        yield {"by": "looks", "looks": len(data["looks"]), "trials": [n for _, n in looked]}
    words = re.split(r"[^a-z0-9]+", results.objective.metric.lower())
    if "test" in words:
        yield {"by": "objective", "metric": results.objective.metric, "looks": 0}


def dropped_failures(data: Mapping[str, Any], results: Results) -> Seen:
    """Numbers of trials, or counts of repeats, that are not there."""
    numbers = {t["number"] for t in data["trials"] if t["origin"] is None}
    if not results.imported:
        missing = sorted(set(range(max(numbers, default=-1) + 1)) - numbers)
        if missing:
            yield {"missing": missing[:_MOST_LISTED], "of": "trials"}
    declared = results.round.trials
    if numbers and not results.imported and max(numbers) + 1 < declared:
        yield {"missing": list(range(max(numbers) + 1, declared))[:_MOST_LISTED], "of": "trials"}
    if results.imported:
        return
    by_parent: dict[int, set[int]] = defaultdict(set)
    for repeat in data["repeats"]:
        by_parent[repeat["parent"]].add(repeat["seed"])
    for parent, seeds in by_parent.items():
        known = {repeat_seed(results.round.seed, k): k for k in range(1, 2 * len(seeds) + 20)}
        counts = {known[seed] for seed in seeds if seed in known}
        if len(counts) != len(seeds):
            continue  # seeds that are not ours: of another store
        missing = sorted(set(range(1, max(counts) + 1)) - counts)
        if missing:
            yield {"missing": missing[:_MOST_LISTED], "of": "repeats", "trial": parent}


def changed_code(data: Mapping[str, Any], results: Results) -> Seen:
    """Trials that ran different source files, commits or uncommitted changes."""
    for finding in same_code(results):
        evidence = finding.evidence
        for difference in evidence.differences if isinstance(evidence, SameCodeEvidence) else ():
            if difference.part in _CODE:
                odd = difference.groups[-1]
                yield {
                    "part": difference.part,
                    "files": list(difference.files)[:5],
                    "trials": list(odd.trials),
                }


def reused_seeds(data: Mapping[str, Any], results: Results) -> Seen:
    """Runs that count as independent under one seed, or with the very same curve."""
    if results.imported:
        return
    groups: dict[tuple[str, int], list[Trial]] = defaultdict(list)
    for trial in results.recorded:
        if trial.origin is None and trial.ended:
            groups["trials", trial.study].append(trial)
    for again in results.recorded_repeats:
        if again.parent is not None:
            groups["repeats", again.parent].append(again)
    for (of, key), runs in groups.items():
        shared = _shared([trial.seed for trial in runs])
        if shared:
            odd = [trial for trial in runs if trial.seed in shared]
            yield {"of": of, "by": "seed", "trials": _numbers(odd), "about": key}
    if results.meaning.deterministic:
        return
    for (of, key), runs in groups.items():
        if of == "repeats" and _alike(runs, results.objective.metric):
            yield {"of": of, "by": "curve", "trials": [key], "about": key}


def _shared(seeds: Sequence[int]) -> set[int]:
    return {seed for seed in seeds if seeds.count(seed) > 1}


def _alike(repeats: Sequence[Trial], metric: str) -> bool:
    """Whether two repeats logged the very same curve, of enough different values."""
    seen = set()
    for trial in repeats:
        curve = trial.curves.only(metric)
        if curve is None or len(curve) < _FEWEST or len(set(curve.values.tolist())) < _FEWEST:
            continue
        key = (curve.steps.tobytes(), curve.values.tobytes())
        if key in seen:
            return True
        seen.add(key)
    return False


def _numbers(trials: Sequence[Trial]) -> list[int]:
    """Their numbers; of repeats, those of the trials they repeat."""
    numbers = [t.number if t.number is not None else t.parent for t in trials]
    return [number for number in dict.fromkeys(numbers) if number is not None][:_MOST_LISTED]


def _name(trial: Mapping[str, Any]) -> Any:
    return trial["number"] if trial["number"] is not None else trial["parent"]
