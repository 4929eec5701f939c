"""Tools that train nothing: propose_round, dry_run, check, next, history, why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tunewright import stores
from tunewright.actions import RunTrials
from tunewright.budgets.cost import CostEstimate
from tunewright.checks.checklist import check as checklist
from tunewright.design.round import Round
from tunewright.design.round_file import declaration_data, from_data
from tunewright.errors import DesignError, Misuse, NotFound
from tunewright.execution.executors.local import Local
from tunewright.execution.prepare import problems_of
from tunewright.finding import Finding
from tunewright.launches.lineage import history as read_history
from tunewright.mcp.answer import Answer, call_for, shorten, text_of
from tunewright.mcp.place import Place
from tunewright.present.next_step import next_steps
from tunewright.present.terminal.plan_page import plan
from tunewright.receipts.rates import FALSE_ALARMS
from tunewright.search.halton import Halton
from tunewright.store.results import Results

_TRIALS = 20  # per setting
_NEWEST = 5
RANK = {"warn": 0, "note": 1, "cannot_judge": 2, "ok": 3}


def propose_round(
    place: Place,
    *,
    name: str,
    goal: str,
    scientific: Mapping[str, Any] | None = None,
    nuisance: Mapping[str, Any] | None = None,
    fixed: Mapping[str, Any] | None = None,
    trials: int = _TRIALS,
    detail: bool = False,
) -> Answer:
    """Write a round's file, after every refusal that running it would meet."""
    data = {
        "name": name,
        "goal": goal,
        "trials_per_study": trials,
        "scientific": dict(scientific or {}),
        "nuisance": dict(nuisance or {}),
        "fixed": dict(fixed or {}),
    }
    if place.project.round_file(name).exists():
        raise Misuse("mcp.round_exists", name=name, remedy=RunTrials(name))
    proposed = from_data(data)
    problems = problems_of(proposed, place.project.workload())
    if problems:
        raise DesignError.several(problems)
    path = place.project.write(proposed)
    numbers = {"settings": len(proposed.studies), "trials": proposed.trials, "file": path.name}
    return Answer(
        tool="propose_round",
        verdict="proposed",
        sentence=text_of("mcp.proposed", name=name, **numbers),
        numbers=numbers,
        next={"tool": "dry_run", "arguments": {"round": name}},
        detail=_shape(proposed) if detail else None,
    )


def _shape(round: Round) -> dict[str, Any]:
    roles = ("scientific", "nuisance", "fixed")
    return {
        role: {n: declaration_data(d) for n, d in getattr(round, role).items()} for role in roles
    }


def dry_run(place: Place, *, round: str, detail: bool = False) -> Answer:
    """What running a round would do and cost."""
    described = place.project.round(round)
    slots = Local().slots
    planned = plan(described, place.project.workload(round=round), Halton(), slots)
    cost = planned.cost
    numbers = {
        "left": planned.left,
        "ended": planned.ended,
        "workers": planned.workers,
        "low_hours": _end(cost.clock_hours, 0),
        "high_hours": _end(cost.clock_hours, 1),
        **_money(cost),
        "basis": cost.basis,
        "exceeds": list(cost.exceeds),
        "advice": len(planned.advice),
    }
    step = "run" if planned.left else "check"
    return Answer(
        tool="dry_run",
        verdict="ready" if planned.left else "finished",
        sentence=text_of("mcp.dry_run", round=round, **numbers),
        numbers=numbers,
        next={"tool": step, "arguments": {"round": round}},
        detail={
            "advice": [str(remark) for remark in planned.advice],
            "first": planned.first,
            "cost": cost.to_data(),
        }
        if detail
        else None,
    )


def _end(bounds: tuple[float, float] | None, end: int) -> float | None:
    return None if bounds is None else _three_digits(bounds[end])


def _money(cost: CostEstimate) -> dict[str, Any]:
    """Money as a range, where a price is known."""
    if cost.money is None or cost.price is None:
        return {}
    low, high = cost.money
    money = {"low_money": _three_digits(low), "high_money": _three_digits(high)}
    return {**money, "currency": cost.price.currency}


def check(place: Place, *, round: str, detail: bool = False) -> Answer:
    """The checklist of a round: the most pressing answer, its error rate and its first action."""
    results = place.results(round)
    findings = sorted(checklist(results), key=lambda finding: RANK[finding.verdict])
    worst = findings[0]
    names: dict[str, list[str]] = {"warn": [], "note": []}
    for finding in findings:
        if finding.verdict in names and finding.check not in names[finding.verdict]:
            names[finding.verdict].append(finding.check)
    numbers: dict[str, Any] = {
        "warnings": names["warn"],
        "notes": names["note"],
        "not_judged": sum(finding.verdict == "cannot_judge" for finding in findings),
        "best": _best(results),
    }
    pressing = worst.verdict in ("warn", "note")
    acting = [
        action for finding in findings if finding.verdict == "warn" for action in finding.actions
    ]
    calls = [call for action in acting if "tool" in (call := call_for(action))]
    advice = [str(call_for(action)["advice"]) for action in acting if not action.command]
    if advice:
        numbers["advice"] = advice[0]
    following = calls[0] if calls else {"tool": "next", "arguments": {"round": round}}
    return Answer(
        tool="check",
        verdict=worst.verdict if pressing else "ok",
        sentence=worst.headline if pressing else text_of("mcp.check_fine", round=round),
        numbers=numbers,
        error_rate=FALSE_ALARMS.get(worst.check) if pressing else None,
        next=following,
        detail=[_finding(finding) for finding in findings] if detail else None,
    )


def _finding(finding: Finding) -> dict[str, Any]:
    return {**finding.to_data(), "words": str(finding.words)}


def next_(
    place: Place, *, round: str, write: bool = False, take: int = 1, detail: bool = False
) -> Answer:
    """What to do after a round; with `write` the proposed round's file is written."""
    results = place.results(round)
    proposals = place.project.next_round(results)
    if not 1 <= take <= max(1, len(proposals)):
        raise Misuse("next.no_such_proposal", number=take, count=len(proposals))
    if not proposals:
        steps = next_steps(results)
        return Answer(
            tool="next",
            verdict="none",
            sentence=text_of("mcp.no_proposal", round=round),
            next=call_for(steps[0].action) if steps else None,
        )
    chosen = proposals[take - 1]
    numbers: dict[str, Any] = {"kinds": [proposal.kind for proposal in proposals], "take": take}
    if chosen.round is not None:
        numbers |= {"round": chosen.round.name, "trials": chosen.round.trials}
        if write and chosen.round.name != results.round.name:
            place.project.write(chosen.round, str(chosen.reason), chosen.search)
            numbers["file"] = f"{chosen.round.name}.toml"
    actions = [call_for(action) for action in chosen.actions]
    # without a round and an action, the reason states what to change by hand
    by_hand = {"advice": str(text_of("mcp.by_hand"))}
    following = actions[0] if actions else by_hand
    unwritten = chosen.round is not None and chosen.round.name != results.round.name and not write
    if unwritten:
        given = {"round": round, "write": True, **({"take": take} if take > 1 else {})}
        following = {"tool": "next", "arguments": given}
    return Answer(
        tool="next",
        verdict=chosen.kind,
        sentence=chosen.reason.text,
        numbers=numbers,
        next=following,
        detail=[proposal.to_data() for proposal in proposals] if detail else None,
    )


def history(place: Place, *, detail: bool = False) -> Answer:
    """The launch decisions, and the baseline that came of them."""
    try:
        launches = read_history(place.store)
    except NotFound:  # no store: nothing has run
        return Answer(tool="history", verdict="none", sentence=text_of("mcp.history", launches=0))
    last = launches.launches[-1] if launches.launches else None
    decision = {} if last is None else last.decision
    rounds = [line.name for line in stores.rounds(place.store)][-_NEWEST:]
    numbers = {
        "launches": len(launches.launches),
        "baseline": None if launches.baseline is None else str(launches.baseline.place),
        "last": None if last is None else str(last.candidate),
        "probability": decision.get("probability"),
        "gain": decision.get("shrunk_gain"),
        "rounds": rounds,
    }
    return Answer(
        tool="history",
        verdict="none" if last is None else last.verdict,
        sentence=text_of("mcp.history", **numbers),
        numbers=numbers,
        error_rate=decision.get("false_launch_rate"),
        next={"tool": "check", "arguments": {"round": rounds[-1]}} if rounds else None,
        detail=launches.to_data() if detail else None,
    )


def why(place: Place, *, round: str, trial: int, detail: bool = False) -> Answer:
    """What became of one trial, and why."""
    results = place.results(round)
    shown_trial = results.trial(trial)
    ranked = [rival.number for rival in results.top()]
    settings = list(shown_trial.configuration.items())[:12]
    numbers = {
        "value": shown_trial.value,
        "best_step": shown_trial.best_step,
        "rank": ranked.index(trial) + 1 if trial in ranked else None,
        "of": len(ranked),
        "seconds": _three_digits(shown_trial.seconds),
        "configuration": {
            name: shorten(value, 60) if isinstance(value, str) else value
            for name, value in settings
        },
    }
    facts = {
        "trial": trial,
        "status": shown_trial.status,
        "reason": shown_trial.reason or text_of("mcp.no_reason"),
    }
    retry = {"command": f"tunewright run {round} --retry-failed"}
    look = {"tool": "check", "arguments": {"round": round}}
    return Answer(
        tool="why",
        verdict=shown_trial.status,
        sentence=text_of("mcp.why", **{**facts, "reason": str(facts["reason"])}),
        numbers=numbers,
        next=retry if shown_trial.status == "failed" else look,
        detail={
            "configuration": dict(shown_trial.configuration),
            "log": shown_trial.detail,
            "seed": shown_trial.seed,
        }
        if detail
        else None,
    )


def _best(results: Results) -> dict[str, Any] | None:
    for best in results.top(1):
        return {"trial": best.number, "value": best.value}
    return None


def _three_digits(hours: float) -> float:
    return float(f"{hours:.3g}")
