"""What a diagnosis answers: one question about one curve, with its evidence and its error rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from tunewright import messages
from tunewright.actions import Action
from tunewright.finding import VERDICTS, Evidence, NotJudged, Verdict
from tunewright.messages import Message, Words

Question = Literal[
    "diverged",  # is the loss NaN, infinite, or far above where it began?
    "spikes",  # does the training loss jump up and come back?
    "training_bug",  # does the training loss rise and stay up?
    "overfitting",  # does validation get worse while training does not?
    "still_improving",  # does it improve when training ends?
    "saturated",  # had it levelled off by half of training?
    "noise",  # do late evaluations jump by much of what training gained?
    "periodicity",  # do the evaluations go up and down with a period?
    "gradient_norm",  # does the gradient norm explode or vanish?
    "learned",  # is it better than chance?
    "schedule",  # does the logged learning rate follow its schedule?
]
QUESTIONS: tuple[Question, ...] = get_args(Question)


@dataclass(frozen=True)
class ErrorRate:
    """How often a warning about this question is wrong, as measured on curves with known labels."""

    false_alarms: float  # warnings among curves whose label is "no"
    power: float  # warnings among judged curves whose label is "yes"
    curves: int  # that were measured


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One question about one run. `cannot_judge` is an answer: the evidence states why."""

    question: Question
    run: str  # what the source calls the run
    metric: str | None  # the curve that was read; None: no curve of that kind was logged
    verdict: Verdict  # ok, note, warn, cannot_judge
    evidence: Evidence
    error_rate: ErrorRate | None  # of a warning; None where nothing was judged or measured
    actions: tuple[Action, ...] = ()  # what to do next, in order

    @property
    def words(self) -> Words:
        """A headline of at most twelve words, then the evidence."""
        if isinstance(self.evidence, NotJudged):
            facts = {"metric": self.metric, "why": self.evidence.why.to_data()}
            return Words(
                Message("diagnosis.cannot_judge", {"question": self.question}).text,
                (Message("diagnosis.why", facts).text,),
            )
        facts = {"metric": self.metric, **self.evidence.to_data()}
        lines = [Message(f"diagnosis.{self.question}.{self.verdict}", facts).text]
        lines += [Message(f"diagnosis.{self.question}.evidence", facts).text]
        if self.error_rate is not None and self.verdict == "warn":
            rate = {"false_alarms": self.error_rate.false_alarms, "curves": self.error_rate.curves}
            lines.append(Message("diagnosis.error_rate", rate).text)
        return Words(lines[0], tuple(line for line in lines[1:] if line))

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data, without words."""
        rate = self.error_rate
        return {
            "question": self.question,
            "run": self.run,
            "metric": self.metric,
            "verdict": self.verdict,
            "evidence": self.evidence.to_data(),
            "error_rate": None
            if rate is None
            else {
                "false_alarms": rate.false_alarms,
                "power": rate.power,
                "curves": rate.curves,
            },
            "actions": [action.to_data() for action in self.actions],
        }

    def __repr__(self) -> str:
        """The verdict and the headline."""
        return f"<{self.verdict} {self.question} ({self.run}): {self.words.headline}>"


@dataclass(frozen=True)
class ReadRun:
    """One run as it was read: which curves it has, and what each of them is taken for."""

    name: str
    metrics: Mapping[str, str]  # metric -> train, valid, learning_rate, gradient_norm, other
    points: int  # of the longest curve
    last_step: int | None


@dataclass(frozen=True)
class Diagnosis:
    """Every question about every run of a source.

    >>> import tunewright as tw
    >>> steps = range(0, 1000, 10)
    >>> loss = [2.0 / (1 + step / 100) for step in steps]
    >>> found = tw.diagnose({"train_loss": loss}, run="r1")
    >>> [one.question for one in found.of("cannot_judge")][:2]
    ['overfitting', 'periodicity']
    """

    source: str  # the path, or "curves"
    runs: tuple[ReadRun, ...]
    answers: tuple[Answer, ...]  # of the first run, then of the next; in the order of QUESTIONS
    notes: tuple[Message, ...] = field(default=())  # of the reader: what was left out

    def of(self, *verdicts: Verdict) -> tuple[Answer, ...]:
        """The answers with one of these verdicts."""
        return tuple(answer for answer in self.answers if answer.verdict in verdicts)

    @property
    def verdict(self) -> Verdict:
        """The gravest verdict: warn, then note, then ok; cannot_judge if nothing was judged."""
        known = {answer.verdict for answer in self.answers}
        return next((verdict for verdict in VERDICTS if verdict in known), "cannot_judge")

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data, without words."""
        return {
            "source": self.source,
            "verdict": self.verdict,
            "runs": [
                {
                    "name": run.name,
                    "metrics": dict(run.metrics),
                    "points": run.points,
                    "last_step": run.last_step,
                }
                for run in self.runs
            ],
            "answers": [answer.to_data() for answer in self.answers],
            "notes": [note.to_data() for note in self.notes],
        }

    def __repr__(self) -> str:
        """The counts, then every warning and note."""
        head = messages.text(
            "diagnosis.tally",
            {
                "runs": len(self.runs),
                "warn": len(self.of("warn")),
                "note": len(self.of("note")),
                "cannot_judge": len(self.of("cannot_judge")),
            },
        )
        lines = [f"  {answer!r}" for answer in (*self.of("warn"), *self.of("note"))]
        return "\n".join([f"<Diagnosis: {head}>", *lines[:40]])
