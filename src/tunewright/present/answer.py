"""The verdict of a report: what the round asked, what it found, what not to trust, what next."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tunewright.actions import RunTrials
from tunewright.finding import Finding
from tunewright.messages import Message
from tunewright.present.headline import headline
from tunewright.present.next_step import Step, next_steps
from tunewright.present.terminal.round_page import without_fixed
from tunewright.store.results import Results

MOST_STEPS = 5


@dataclass(frozen=True)
class Answer:
    """What a reader needs when they read nothing else."""

    asked: str  # the goal
    headline: Message  # the answer to it, in one line
    found: tuple[Message, ...]  # the best trial first
    compared: tuple[Finding, ...]  # the comparisons of its scientific settings
    doubts: tuple[Finding, ...]  # warnings, then notes
    unknown: tuple[Finding, ...]  # what could not be judged, and what it needs
    fine: tuple[Finding, ...]
    caveats: tuple[Message, ...]
    next: tuple[Step, ...]  # the most useful action first

    @property
    def warnings(self) -> int:
        """How many findings warn."""
        return sum(finding.verdict == "warn" for finding in self.doubts)

    @property
    def judged(self) -> bool:
        """Whether any question of the checklist could be answered."""
        return bool(self.fine or self.doubts)

    @property
    def trust(self) -> Message:
        """How far the round can be trusted, in one sentence."""
        facts = {"warnings": self.warnings, "judged": self.judged, "unknown": len(self.unknown)}
        return Message("answer.trust", facts)


def answer(results: Results, findings: Sequence[Finding]) -> Answer:
    """Put the results and the checklist's findings into one answer."""
    by_verdict = {
        verdict_: tuple(f for f in findings if f.verdict == verdict_)
        for verdict_ in ("warn", "note", "ok", "cannot_judge")
    }
    compared = [f for f in findings if f.check == "comparison" and f.verdict != "cannot_judge"]
    doubts = by_verdict["warn"] + by_verdict["note"]
    return Answer(
        asked=results.round.asks,
        headline=headline(results, findings),
        found=tuple(_found(results)),
        compared=tuple(compared),
        doubts=doubts,
        unknown=by_verdict["cannot_judge"],
        fine=by_verdict["ok"],
        caveats=results.round.caveats,
        next=tuple(_next(results, doubts)),
    )


def _found(results: Results) -> Iterator[Message]:
    yield Message("answer.counts", {"counts": results.counts, "trials": len(results.trials)})
    for best in results.top(1):
        facts = {
            "metric": results.objective.metric,
            "value": best.value,
            "trial": best.shown_number,
            "step": best.best_step,
            "settings": settings(best.configuration, without_fixed(results.round)),
        }
        yield Message("answer.best", facts)
        repeats = [r.value for r in results.repeats(best) if r.value is not None]
        if len(repeats) > 1:
            mean, sd = statistics.fmean(repeats), statistics.stdev(repeats)
            yield Message("answer.repeated", {"times": len(repeats), "mean": mean, "sd": sd})


def settings(configuration: Mapping[str, Any], without: Sequence[str] = ()) -> dict[str, Any]:
    """A configuration without what need not be shown.

    >>> settings({"optimizer": "adam", "steps": 9}, without=["steps"])
    {'optimizer': 'adam'}
    """
    return {name: value for name, value in configuration.items() if name not in without}


def _next(results: Results, doubts: Sequence[Finding]) -> list[Step]:
    """What each finding advises first, then what the state of the round asks for, each once."""
    advised = [
        Step(action, Message("next.advised", {"check": finding.check}))
        for finding in doubts
        for action in [action for action in finding.actions if action.argv][:1]
    ]
    # an action keeps the place where it is advised first, and the last reason for it
    steps = {step.action.argv: step for step in (*advised, *next_steps(results, reported=True))}
    ordered = list(steps.values())
    if results.counts.get("pending", 0) + results.counts.get("running", 0):
        # nothing else is worth doing first
        ordered.sort(key=lambda step: not isinstance(step.action, RunTrials))
    return ordered[:MOST_STEPS]
