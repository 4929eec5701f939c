"""The verdict of a report: what the round asked, what it found, what not to trust, what next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tunewright.finding import Finding
from tunewright.messages import words
from tunewright.present.next_step import Step, next_steps
from tunewright.present.terminal.round_page import counts_line, without_fixed
from tunewright.store.results import Results

MOST_STEPS = 5
PROGRAM = "tunewright "


@dataclass(frozen=True)
class Answer:
    """What a reader needs when they read nothing else."""

    asked: str  # the goal
    found: tuple[str, ...]  # the best trial first
    doubts: tuple[Finding, ...]  # warnings, then notes
    unknown: tuple[Finding, ...]  # what could not be judged, and what it needs
    fine: tuple[Finding, ...]
    caveats: tuple[str, ...]
    next: tuple[Step, ...]  # the most useful command first

    @property
    def warnings(self) -> int:
        """How many findings warn."""
        return sum(finding.verdict == "warn" for finding in self.doubts)

    @property
    def judged(self) -> bool:
        """Whether any question of the checklist could be answered."""
        return bool(self.fine or self.doubts)

    @property
    def trust(self) -> str:
        """How far the round can be trusted, in one sentence."""
        if self.warnings:
            return f"{words.count(self.warnings, 'warning')}: read what not to trust first."
        if not self.judged:
            return "Nothing could be judged yet."
        unknown = f"; {len(self.unknown)} could not be judged" if self.unknown else ""
        return f"No warning of the checklist{unknown}."


def answer(results: Results, findings: Sequence[Finding]) -> Answer:
    """Put the results and the checklist's findings into one answer."""
    by_verdict = {
        verdict_: tuple(f for f in findings if f.verdict == verdict_)
        for verdict_ in ("warn", "note", "ok", "cannot_judge")
    }
    return Answer(
        results.round.goal,
        tuple(_found(results, findings)),
        by_verdict["warn"] + by_verdict["note"],
        by_verdict["cannot_judge"],
        by_verdict["ok"],
        results.round.caveats,
        tuple(_next(results, by_verdict["warn"] + by_verdict["note"])),
    )


def _found(results: Results, findings: Sequence[Finding]) -> Iterator[str]:
    yield f"{counts_line(results)}."
    top = results.top(1)
    if top:
        best = top[0]
        yield (
            f"Best {results.objective.metric}: {words.number(best.value)}, trial {best.number} at "
            f"step {best.best_step} ({settings(best.configuration, without_fixed(results.round))})."
        )
    for finding in findings:
        if finding.check == "comparison" and finding.verdict != "cannot_judge":
            yield f"{finding.says}."
    repeats = [r.value for r in results.repeats(top[0]) if r.value is not None] if top else []
    if len(repeats) > 1:
        mean = sum(repeats) / len(repeats)
        spread = (sum((r - mean) ** 2 for r in repeats) / (len(repeats) - 1)) ** 0.5
        yield (
            f"Repeated {len(repeats)} times with new seeds, the best trial has mean "
            f"{words.number(mean)} and standard deviation {words.number(float(f'{spread:.2g}'))}."
        )


def settings(configuration: Mapping[str, Any], without: Sequence[str] = ()) -> str:
    """A configuration inside a sentence or a cell.

    >>> settings({"optimizer": "adam", "learning_rate": 0.0130001, "steps": 9}, without=["steps"])
    'optimizer=adam, learning_rate=0.013'
    """
    shown = {name: value for name, value in configuration.items() if name not in without}
    return ", ".join(f"{name}={words.value(value)}" for name, value in shown.items())


def _next(results: Results, doubts: Sequence[Finding]) -> list[Step]:
    """The commands the findings advise, then what the state of the round asks for, each once."""
    steps = {
        step.command: step
        for step in (
            *(
                Step(advice, f"advised by: {finding.check}")
                for finding in doubts
                for advice in finding.advice
                if advice.startswith(PROGRAM)
            ),
            *next_steps(results, reported=True),
        )
    }
    left = results.counts.get("pending", 0) + results.counts.get("running", 0)
    ordered = list(steps.values())
    if left:  # nothing else is worth doing first
        ordered.sort(key=lambda step: not step.command.startswith(f"{PROGRAM}run"))
    return ordered[:MOST_STEPS]
