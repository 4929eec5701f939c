"""Tools that train nothing: propose_round, dry_run, check, next, history, why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tunewright import stores
from tunewright.budgets.cost import CostEstimate
from tunewright.checks.checklist import check as checklist
from tunewright.design.round import Round
from tunewright.design.round_file import declaration_data, from_data
from tunewright.errors import DesignError, Misuse
from tunewright.execution.executors.local import Local
from tunewright.execution.prepare import refused
from tunewright.finding import Finding
from tunewright.launches.lineage import history as read_history
from tunewright.mcp.answer import Answer, call_for, said, shortened
from tunewright.mcp.place import Place
from tunewright.present.next_step import next_steps
from tunewright.present.terminal.plan_page import plan
from tunewright.receipts.rates import FALSE_ALARMS
from tunewright.search.halton import Halton
from tunewright.store.results import Results

_TRIALS = 20  # per setting
_SHOWN = 5
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
    asked = from_data(data)
    problems = refused(asked, place.project.workload())
    if problems:
        raise DesignError.several(problems)
    path = place.project.write(asked)
    numbers = {"settings": len(asked.studies), "trials": asked.trials, "file": path.name}
    return Answer(
        tool="propose_round",
        verdict="proposed",
        sentence=said("mcp.proposed", name=name, **numbers),
        numbers=numbers,
        next={"tool": "dry_run", "arguments": {"round": name}},
        detail=_shape(asked) if detail else None,
    )


def _shape(asked: Round) -> dict[str, Any]:
    roles = ("scientific", "nuisance", "fixed")
    return {
        role: {n: declaration_data(d) for n, d in getattr(asked, role).items()} for role in roles
    }


def dry_run(place: Place, *, round: str, detail: bool = False) -> Answer:
    """What running a round would do and cost."""
    asked = place.project.round(round)
    slots = Local().slots
    planned = plan(asked, place.project.workload(round=round), Halton(), slots)
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
        sentence=said("mcp.dry_run", round=round, **numbers),
        numbers=numbers,
        next={"tool": step, "arguments": {"round": round}},
        detail={
            "advice": [str(one) for one in planned.advice],
            "first": planned.first,
            "cost": cost.to_data(),
        }
        if detail
        else None,
    )


def _end(found: tuple[float, float] | None, end: int) -> float | None:
    return None if found is None else _rounded(found[end])


def _money(cost: CostEstimate) -> dict[str, Any]:
    """Money as a range, where a price is known."""
    if cost.money is None or cost.price is None:
        return {}
    low, high = cost.money
    money = {"low_money": _rounded(low), "high_money": _rounded(high)}
    return {**money, "currency": cost.price.currency}


def check(place: Place, *, round: str, detail: bool = False) -> Answer:
    """The checklist of a round: the most pressing answer, its error rate and its first action."""
    results = place.results(round)
    findings = sorted(checklist(results), key=lambda one: RANK[one.verdict])
    worst = findings[0]
    names: dict[str, list[str]] = {"warn": [], "note": []}
    for one in findings:
        if one.verdict in names and one.check not in names[one.verdict]:
            names[one.verdict].append(one.check)
    numbers: dict[str, Any] = {
        "warnings": names["warn"],
        "notes": names["note"],
        "not_judged": sum(one.verdict == "cannot_judge" for one in findings),
        "best": _best(results),
    }
    pressing = worst.verdict in ("warn", "note")
    acting = [action for one in findings if one.verdict == "warn" for action in one.actions]
    calls = [call for action in acting if "tool" in (call := call_for(action))]
    advice = [str(call_for(action)["advice"]) for action in acting if not action.command]
    if advice:
        numbers["advice"] = advice[0]
    following = calls[0] if calls else {"tool": "next", "arguments": {"round": round}}
    return Answer(
        tool="check",
        verdict=worst.verdict if pressing else "ok",
        sentence=worst.headline if pressing else said("mcp.check_fine", round=round),
        numbers=numbers,
        error_rate=FALSE_ALARMS.get(worst.check) if pressing else None,
        next=following,
        detail=[_finding(one) for one in findings] if detail else None,
    )


def _finding(one: Finding) -> dict[str, Any]:
    return {**one.to_data(), "words": str(one.words)}


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
            sentence=said("mcp.no_proposal", round=round),
            next=call_for(steps[0].action) if steps else None,
        )
    chosen = proposals[take - 1]
    numbers: dict[str, Any] = {"kinds": [one.kind for one in proposals], "take": take}
    if chosen.round is not None:
        numbers |= {"round": chosen.round.name, "trials": chosen.round.trials}
        if write and chosen.round.name != results.round.name:
            place.project.write(chosen.round, str(chosen.reason), chosen.search)
            numbers["file"] = f"{chosen.round.name}.toml"
    actions = [call_for(action) for action in chosen.actions]
    following = actions[0] if actions else None
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
        detail=[one.to_data() for one in proposals] if detail else None,
    )


def history(place: Place, *, detail: bool = False) -> Answer:
    """The launch decisions, and the baseline that came of them."""
    found = read_history(place.store)
    last = found.launches[-1] if found.launches else None
    decision = {} if last is None else last.decision
    rounds = [line.name for line in stores.rounds(place.store)][-_SHOWN:]
    numbers = {
        "launches": len(found.launches),
        "baseline": None if found.baseline is None else str(found.baseline.place),
        "last": None if last is None else str(last.candidate),
        "probability": decision.get("probability"),
        "gain": decision.get("shrunk_gain"),
        "rounds": rounds,
    }
    return Answer(
        tool="history",
        verdict="none" if last is None else last.verdict,
        sentence=said("mcp.history", **numbers),
        numbers=numbers,
        error_rate=decision.get("false_launch_rate"),
        next={"tool": "check", "arguments": {"round": rounds[-1]}} if rounds else None,
        detail=found.to_data() if detail else None,
    )


def why(place: Place, *, round: str, trial: int, detail: bool = False) -> Answer:
    """What became of one trial, and why."""
    results = place.results(round)
    own = results.trial(trial)
    ranked = [one.number for one in results.top()]
    settings = list(own.configuration.items())[:12]
    numbers = {
        "value": own.value,
        "best_step": own.best_step,
        "rank": ranked.index(trial) + 1 if trial in ranked else None,
        "of": len(ranked),
        "seconds": _rounded(own.seconds),
        "configuration": {
            name: shortened(value, 60) if isinstance(value, str) else value
            for name, value in settings
        },
    }
    facts = {"trial": trial, "status": own.status, "reason": own.reason or said("mcp.no_reason")}
    retry = {"command": f"tunewright run {round} --retry-failed"}
    look = {"tool": "check", "arguments": {"round": round}}
    return Answer(
        tool="why",
        verdict=own.status,
        sentence=said("mcp.why", **{**facts, "reason": str(facts["reason"])}),
        numbers=numbers,
        next=retry if own.status == "failed" else look,
        detail={"configuration": dict(own.configuration), "log": own.detail, "seed": own.seed}
        if detail
        else None,
    )


def _best(results: Results) -> dict[str, Any] | None:
    for best in results.top(1):
        return {"trial": best.number, "value": best.value}
    return None


def _rounded(hours: float) -> float:
    return float(f"{hours:.3g}")
