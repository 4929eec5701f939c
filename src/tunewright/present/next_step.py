"""What to do next with a round: the action, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tunewright.actions import (
    Action,
    CheckRound,
    Export,
    Launch,
    NextRound,
    Repeat,
    ReportRound,
    RunTrials,
    ShowTrial,
    StopRound,
)
from tunewright.messages import Message
from tunewright.remedies import JoinRound
from tunewright.store.results import Results

REPEATS = 5  # of the best configuration, to know its trial variance
TABLE = "trials.csv"


@dataclass(frozen=True)
class Step:
    """An action worth taking, and what it is good for."""

    action: Action
    why: Message

    def to_data(self) -> dict[str, Any]:
        """Plain data: the action, and why it helps."""
        return {**self.action.to_data(), "why": self.why.to_data()}


def next_steps(results: Results, reported: bool = False) -> tuple[Step, ...]:
    """The actions that help most from here, best first; `reported`: next to a report."""
    steps = tuple(_steps(results, results.round.name, reported))
    if results.imported:  # there is no program to train with, and no log
        return tuple(step for step in steps if not step.action.trains)
    return steps


def _steps(results: Results, name: str, reported: bool) -> Iterator[Step]:
    left = results.counts.get("pending", 0) + results.counts.get("running", 0)
    failed = [trial.number for trial in results.rows if trial.status == "failed"]
    if failed:
        code = "next.failed_elsewhere" if results.imported else "next.failed"
        why = Message(code, {"failed": len(failed)})
        yield Step(ShowTrial(name, failed[0] or 0), why)
    if left and results.supervised:  # another `run` would be refused
        yield Step(JoinRound(name), Message("next.join", {"left": left}))
        yield Step(StopRound(name), Message("next.stop"))
    elif left:
        yield Step(RunTrials(name), Message("next.left", {"left": left}))
    top = results.top(1)
    if top and not left and not reported:
        yield Step(CheckRound(name), Message("next.check"))
        yield Step(ReportRound(name), Message("next.report"))
        yield Step(NextRound(name), Message("next.propose"))
    if not top:
        infeasible = [t.number for t in results.rows if t.status == "infeasible"]
        if infeasible:
            yield Step(ShowTrial(name, infeasible[0] or 0), Message("next.went_wrong"))
    elif not left and len(results.repeats(top[0])) < REPEATS:
        yield Step(Repeat(name, REPEATS), Message("next.repeat"))
    elif not left:
        yield Step(Launch(name), Message("next.launch"))
    if top:
        yield Step(Export(name, TABLE), Message("next.export"))
