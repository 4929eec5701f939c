"""Tools that train: run, launch, judge start a separate process; status looks at it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tunewright.diagnosis import diagnose as diagnosis
from tunewright.errors import Misuse, NotFound
from tunewright.execution.command import Command
from tunewright.mcp import jobs
from tunewright.mcp.answer import Answer, call_for, error_answer, shorten, text_of
from tunewright.mcp.jobs import Job
from tunewright.mcp.place import Place
from tunewright.present.next_step import next_steps
from tunewright.referee.referee import Referee, Terms, begin
from tunewright.store.results import Results
from tunewright.store.trial import ENDED

_LONGEST_WAIT_S = 50  # of one call: clients give up after a minute
_NEWEST = 5  # decisions of a lineage that an answer without detail has


def run(
    place: Place,
    *,
    round: str,
    trials: int | None = None,
    max_hours: float | None = None,
    workers: int | None = None,
    detail: bool = False,
) -> Answer:
    """Start a round in a separate process, after every refusal that it would meet."""
    from tunewright.execution.prepare import ready
    from tunewright.search.halton import Halton

    described = place.project.round(round)
    ready(described, place.project.workload(round=round), Halton())
    place.refuse_if_spent()
    options: list[str] = []
    for name, value in (("trials", trials), ("max-hours", max_hours), ("workers", workers)):
        if value:
            options += [f"--{name}", str(value)]
    job = jobs.start(place.folder, "run", round, ["run", "--json", *options, "--", round])
    return _start_answer(job, "run", {"trials": described.trials}, detail)


def launch(
    place: Place,
    *,
    round: str,
    baseline: str | None = None,
    times: int | None = None,
    first: bool = False,
    detail: bool = False,
) -> Answer:
    """Start a launch of the round's best trial in a separate process."""
    place.results(round)
    place.refuse_if_spent()
    options: list[str] = []
    if baseline is not None:
        options.append(f"--baseline={baseline}")
    if times:
        options += ["--times", str(times)]
    if first:
        options.append("--first")
    job = jobs.start(place.folder, "launch", round, ["launch", "--json", *options, "--", round])
    return _start_answer(job, "launch", {}, detail)


def judge(
    place: Place,
    *,
    action: str,
    change: str | None = None,
    protect: str | None = None,
    detail: bool = False,
) -> Answer:
    """Begin a lineage, or judge a change, audit or quote it in a separate process."""
    if action == "begin":
        return _begin_lineage(place, protect, detail)
    try:
        lineage = Referee()
    except NotFound as error:
        begin = {"tool": "judge", "arguments": {"action": "begin"}}
        return replace(error_answer("judge", error), next=begin)
    if action == "status":
        return _stands(lineage, detail)
    if action == "history":
        return _judgements(lineage, detail)
    place.refuse_if_spent()
    options = [] if change is None or action != "try" else [f"--change={change}"]
    about = change or "the working tree" if action == "try" else action
    job = jobs.start(place.folder, "judge", about, ["judge", action, "--json", *options])
    return _start_answer(job, "judge", {}, detail)


_TRY = {"tool": "judge", "arguments": {"action": "try"}}


def _begin_lineage(place: Place, protect: str | None, detail: bool) -> Answer:
    """Begin a lineage with the project's own command: an agent names no program to run."""
    workload = place.project.workload()
    if not isinstance(workload.train, Command):
        raise Misuse("mcp.judge_needs_command")
    paths = tuple(path.strip() for path in (protect or "").split(",") if path.strip())
    lineage = begin(workload.train, workload.objective, terms=Terms(protect=paths))
    return _stands(lineage, detail, is_new=True)


def _stands(lineage: Referee, detail: bool, is_new: bool = False) -> Answer:
    """Where a lineage stands."""
    stands = lineage.status()
    numbers = {
        "tried": stands.tried,
        "kept": stands.kept,
        "discarded": stands.discarded,
        "undecided": stands.undecided,
        "current": stands.current[:12],
        "running_gain": stands.running_gain,
        "sd": stands.sd,
        "runs": stands.cost.runs,
        "protect": list(stands.protect),
    }
    if stands.quote is not None:
        numbers |= {"quoted_gain": stands.quote.gain, "interval": stands.quote.interval}
    return Answer(
        tool="judge",
        verdict="begun" if is_new else "answered",
        sentence=text_of("mcp.judge_begun" if is_new else "mcp.judge_stands", **numbers),
        numbers=numbers,
        next=_TRY,
        detail=stands.to_data() if detail else None,
    )


def _judgements(lineage: Referee, detail: bool) -> Answer:
    """The newest decisions of a lineage."""
    decisions = lineage.history()
    newest = [
        {
            "number": decision.number,
            "verdict": decision.verdict,
            "gain": float(f"{decision.expected_gain:.3g}"),
            "runs": decision.runs,
            "what": shorten(decision.summary, 40),
        }
        for decision in decisions[-_NEWEST:]
    ]
    return Answer(
        tool="judge",
        verdict="answered",
        sentence=text_of("mcp.judge_history", decisions=len(decisions), newest=len(newest)),
        numbers={"decisions": len(decisions), "newest": newest},
        next=_TRY,
        detail=[decision.to_data() for decision in decisions] if detail else None,
    )


def diagnose(place: Place, *, path: Path, detail: bool = False) -> Answer:
    """What the curves of any run say: the gravest answer, its error rate, its first action."""
    answers = diagnosis.diagnose(path)
    pressing = [*answers.of("warn"), *answers.of("note")]
    numbers = {
        "runs": len(answers.runs),
        "warnings": list(dict.fromkeys(warning.question for warning in answers.of("warn"))),
        "ok": len(answers.of("ok")),
        "cannot_judge": len(answers.of("cannot_judge")),
    }
    first = pressing[0] if pressing else None
    rate = None if first is None else first.error_rate
    actions = [] if first is None else [call_for(action) for action in first.actions]
    code = "mcp.diagnosed_nothing" if first is None else "mcp.diagnosed"
    about = {} if first is None else {"run": first.run, "headline": str(first.words.headline)}
    return Answer(
        tool="diagnose",
        verdict=answers.verdict,
        sentence=text_of(code, **about),
        numbers=numbers,
        error_rate=None if rate is None else rate.false_alarms,
        next=actions[0] if actions else None,
        detail=answers.to_data() if detail else None,
    )


def _start_answer(job: Job, tool: str, numbers: Mapping[str, Any], detail: bool) -> Answer:
    return Answer(
        tool=tool,
        verdict="started",
        sentence=text_of("mcp.started", kind=job.kind, about=job.about, handle=job.handle),
        numbers={**numbers, "handle": job.handle, "pid": job.pid},
        next={"tool": "status", "arguments": {"handle": job.handle, "wait": _LONGEST_WAIT_S}},
        detail={"argv": list(job.argv)} if detail else None,
    )


def status(
    place: Place,
    *,
    handle: str | None = None,
    round: str | None = None,
    since: int = 0,
    wait: int = 0,
    detail: bool = False,
) -> Answer:
    """How far a round or a job is, and what it answered when it has ended."""
    if handle is None and round is None:
        raise Misuse("mcp.missing_argument", tool="status", name="handle")
    job = (
        jobs.newest(place.folder, round or "")
        if handle is None
        else jobs.find(place.folder, handle)
    )
    if job is not None:
        jobs.wait(job, min(wait, _LONGEST_WAIT_S))
    name = round if round is not None else job.about if job is not None else ""
    if job is not None and job.kind == "judge":
        return _status_answer(job, place, None, since, detail)
    try:
        results: Results | None = place.results(name)
    except NotFound:
        if job is None:
            raise
        results = None  # it has not begun yet
    return _status_answer(job, place, results, since, detail)


def _status_answer(
    job: Job | None, place: Place, results: Results | None, since: int, detail: bool
) -> Answer:
    envelope = None if job is None else job.envelope(place.folder)
    state = "none" if job is None else job.state(place.folder)
    counts = {} if results is None else dict(results.counts)
    ended = sum(counts.get(status, 0) for status in ENDED)
    numbers: dict[str, Any] = {
        "counts": counts,
        "ended": ended,
        "new": max(0, ended - since),
        "handle": None if job is None else job.handle,
    }
    best = None if results is None else next(iter(results.top(1)), None)
    if best is not None:
        numbers["best"] = {"trial": best.number, "value": best.value}
    verdict = _verdict(state, results)
    following: Mapping[str, Any] | None = None
    if state == "running":
        assert job is not None
        given = {"handle": job.handle, "since": ended, "wait": _LONGEST_WAIT_S}
        following = {"tool": "status", "arguments": given}
    elif results is not None:
        steps = next_steps(results)
        following = call_for(steps[0].action) if steps else None
    error, rate = None, None
    sentence: str = text_of("mcp.status", verdict=verdict, ended=ended, counts=counts)
    if envelope is not None and not envelope.get("ok", False):
        refusal = envelope.get("error") or {}
        known = ("code", "refusal")
        error = {name: refusal[name] for name in known if name in refusal}
        sentence, verdict = str(refusal.get("message", "")), "refused"
        argv = (refusal.get("remedy") or {}).get("argv")
        following = {"command": shlex.join(argv)} if argv else following
        if refusal.get("code") == "launch.no_baseline" and job is not None:
            following = {"tool": "launch", "arguments": {"round": job.about, "first": True}}
    elif envelope is not None and job is not None and job.kind != "run":
        verdict, sentence, rate = _decision(job, envelope.get("data") or {}, numbers)
        following = {"tool": "history", "arguments": {}} if job.kind == "launch" else _TRY
    return Answer(
        tool="status",
        verdict=verdict,
        sentence=sentence,
        numbers=numbers,
        error_rate=rate,
        next=following,
        error=error,
        detail=_log(job, place, envelope) if detail else None,
    )


def _verdict(state: str, results: Results | None) -> str:
    if state in ("running", "died"):
        return state
    left = 0 if results is None else results.unfinished
    return "finished" if results is not None and not left else "stopped"


def _decision(
    job: Job, data: Mapping[str, Any], numbers: dict[str, Any]
) -> tuple[str, str, float | None]:
    """What a launch or a judge answered."""
    if job.kind == "launch":
        decision = data.get("decision") or {}
        for name in ("probability", "gain", "interval", "runs"):
            numbers[name] = decision.get(name)
        numbers["refusal"] = data.get("refusal")
        verdict = str(decision.get("verdict", "none"))
        facts = {"verdict": verdict, "about": job.about, "probability": decision.get("probability")}
        return verdict, text_of("mcp.launched", **facts), decision.get("false_launch_rate")
    numbers.pop("counts")
    known = ("expected_gain", "gain", "interval", "chance_better", "runs", "sd", "running_gain")
    numbers |= {name: data[name] for name in (*known, "kept") if name in data}
    if "removals" in data:  # of an audit
        numbers["removed"] = sum(removal["verdict"] == "remove" for removal in data["removals"])
        numbers["commit"] = str(data["commit"])[:12]
    verdict = str(data.get("verdict", "answered"))
    facts = {"verdict": verdict, "about": job.about, "probability": data.get("chance_better")}
    facts |= {name: numbers.get(name) for name in ("gain", "interval", "removed")}
    return verdict, text_of("mcp.judged", **facts), None


def _log(job: Job | None, place: Place, envelope: Mapping[str, Any] | None) -> Any:
    if job is None:
        return None
    path = job.answer_path(place.folder).with_suffix(".log")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    return {"answer": envelope, "log": [shorten(line) for line in lines[-20:]]}
