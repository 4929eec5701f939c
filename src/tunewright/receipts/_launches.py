"""Launch decisions in a receipt: what was decided on which runs, and the same decision again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from tunewright.launches.asked import RECORDED, question_from
from tunewright.launches.lineage import BY_SPLIT
from tunewright.receipts._rounds import round_data
from tunewright.store.launches import Launched, Place
from tunewright.store.plain_json import objective_from
from tunewright.store.results import Repeats, Results
from tunewright.store.store import Store

# what a decision is: derived again, it must be the same
DERIVED = (
    *("verdict", "probability", "gain", "interval", "shrunk_gain", "shrunk_interval", "claim"),
    *("threshold", "false_launch_rate", "runs_needed", "method", "sd", "looks"),
    *("candidate_values", "baseline_values"),
)


def about(launched: Launched, rounds: set[str]) -> bool:
    """Whether a decision is about a trial of one of these rounds."""
    places = (launched.candidate, launched.baseline)
    return any(place is not None and place.round in rounds for place in places)


def launch_data(launched: Launched) -> dict[str, Any]:
    """A decision as it was recorded."""
    return {
        "key": launched.key,
        "written": launched.written.isoformat(),
        "candidate": asdict(launched.candidate),
        "baseline": None if launched.baseline is None else asdict(launched.baseline),
        "verdict": launched.verdict,
        "decision": dict(launched.decision),
        "why": launched.why,
        "goal": launched.goal,
        "commit": launched.commit,
    }


def other_rounds(
    store: Store, launches: list[Launched], known: set[str]
) -> dict[str, dict[str, Any]]:
    """Other rounds in these decisions: the trials that were compared, and what was spent."""
    wanted: dict[str, set[int]] = {}
    for launch in launches:
        for place in (launch.candidate, launch.baseline):
            if place is not None and place.round and place.round not in known:
                wanted.setdefault(place.round, set()).add(place.trial)
    others = {}
    for name, numbers in wanted.items():
        results = store.results(name)
        ended: dict[str, int] = {}
        for trial in results.rows:
            ended[str(trial.study)] = ended.get(str(trial.study), 0) + trial.ended
        some = replace(
            results,
            recorded=tuple(t for t in results.recorded if t.number in numbers),
            waiting=(),
            recorded_repeats=tuple(t for t in results.recorded_repeats if t.parent in numbers),
        )
        others[name] = {**round_data(some), "ended": ended}
    return others


def derive_again(
    data: Mapping[str, Any], rounds: Mapping[str, Results]
) -> dict[str, tuple[Any, Any]] | None:
    """What a recorded decision and the same decision from the curves differ in: (recorded, now).

    None: it cannot be derived again (a first baseline, a comparison by split, an older record).
    """
    decision = data["decision"]
    terms = decision.get(RECORDED)
    if terms is None or data["baseline"] is None or decision.get("method") == BY_SPLIT:
        return None
    question = question_from(terms)
    arms = []
    for which, count, skip in zip(
        ("candidate", "baseline"), terms["runs"], (0, terms["skip"]), strict=True
    ):
        place = data[which]
        if place["round"] not in rounds:
            return None
        results = rounds[place["round"]].with_objective(objective_from(terms["objective"]))
        if all(trial.number != place["trial"] for trial in results.recorded):
            return {"trial": (f"{place['round']} trial {place['trial']}", None)}
        runs = results.repeats(place["trial"])[skip : skip + count]
        arms.append(Repeats(results.trial(place["trial"]), runs, results))
    if question.terms.deterministic or all(arm.deterministic for arm in arms):
        from tunewright.launches.looks import exact_arm

        now = question.answer(exact_arm(arms[0]), exact_arm(arms[1])).to_data()
    else:
        now = question.answer(arms[0], arms[1]).to_data()
    return {
        name: (decision.get(name), now.get(name))
        for name in DERIVED
        if not same(decision.get(name), now.get(name))
    }


def same(recorded: Any, now: Any, tolerance: float = 1e-9) -> bool:
    """Whether two pieces of plain data are equal; numbers to a relative 1e-9.

    >>> same({"p": 0.1 + 0.2}, {"p": 0.3}), same([1], [2]), same(None, 0)
    (True, False, False)
    """
    if isinstance(recorded, bool) or isinstance(now, bool):
        return recorded is now
    if isinstance(recorded, int | float) and isinstance(now, int | float):
        if recorded != recorded or now != now:
            return recorded != recorded and now != now
        return recorded == now or abs(recorded - now) <= tolerance * max(
            1.0, abs(recorded), abs(now)
        )
    if isinstance(recorded, Mapping) and isinstance(now, Mapping):
        return recorded.keys() == now.keys() and all(
            same(recorded[k], now[k], tolerance) for k in recorded
        )
    if isinstance(recorded, list | tuple) and isinstance(now, list | tuple):
        return len(recorded) == len(now) and all(
            same(a, b, tolerance) for a, b in zip(recorded, now, strict=True)
        )
    return bool(recorded == now)


__all__ = ["DERIVED", "Place", "about", "derive_again", "launch_data", "other_rounds", "same"]
