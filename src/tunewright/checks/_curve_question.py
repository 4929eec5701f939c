"""How a question is put to the curves of every study: which trials, which curves, what was seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, Literal

from tunewright.actions import Action
from tunewright.checks._better_half import Judged, better_halves
from tunewright.checks._study_rule import (
    Because,
    F,
    Reading,
    Statement,
    TrialFacts,
    in_rank_order,
    statement,
)
from tunewright.checks.spacing import LONGEST, SpacedCurves, tables, unreadable
from tunewright.design.study import Study
from tunewright.finding import Evidence, Finding, NotJudged, Verdict, said_once
from tunewright.messages import Message
from tunewright.stats.noise import FEWEST
from tunewright.store.results import Results

SHOWN = 20  # flagged trials listed as evidence; the rest is counted


@dataclass(frozen=True)
class Metric:
    """Which curve of a trial a question reads."""

    name: str
    sign: float = 1.0  # times this, lower is better
    meaning: str | None = None  # the `means=` entry that names it, where there is one


@dataclass(frozen=True, kw_only=True)
class CurveEvidence(Evidence):
    """What every question to curves saw; each check adds what it alone measured."""

    metric: str
    judged: int  # curves that were read
    points: int  # of the longest curve
    never_learned: int  # trials left out because they stayed at chance level
    because: Because  # which trials carry the verdict
    median_z: float | None  # of the five best trials; None with fewer
    flagged_trials: int
    flagged_of_top: int  # of the five best trials
    flagged: tuple[TrialFacts, ...]  # best trial first, at most 20
    top: tuple[TrialFacts, ...]  # the five best trials

    @property
    def fields(self) -> dict[str, Any]:
        """What every question saw, as arguments for the evidence of one check."""
        return {field.name: getattr(self, field.name) for field in fields(CurveEvidence)}


@dataclass(frozen=True)
class Answer:
    """The answer of one check; the verdict may be milder than the curves alone would have it."""

    verdict: Verdict
    evidence: CurveEvidence
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True)
class CurveQuestion(Generic[F]):
    """One question to the curves of a study's better half."""

    check: str
    metric: Metric
    read: Callable[[Judged, SpacedCurves], Sequence[Reading[F]]]  # curves of one length
    answer: Callable[[Judged, Statement[F], CurveEvidence], Answer]
    median_limit: float | None = None
    fewest: int = FEWEST  # evaluations a curve needs
    longest: int = LONGEST  # points; more become means of neighbours
    many: Literal["note", "warn"] = "warn"  # when only trials below the five best are flagged


def objective_metric(results: Results) -> Metric:
    """The curve of the objective."""
    return Metric(results.objective.metric, -results.objective.sign)


def training_metric(results: Results) -> Metric:
    """The curve of what means the training loss."""
    return Metric(results.meaning.name("train_loss"), 1.0, "train_loss")


def ask(results: Results, question: CurveQuestion[F]) -> list[Finding]:
    """One finding per study, or a single one when nothing can be judged anywhere."""
    findings = [_ask_study(question, judged) for judged in better_halves(results)]
    return said_once(findings, results.round.name)


def _ask_study(question: CurveQuestion[F], judged: Judged) -> Finding:
    study, metric = judged.study, question.metric
    if judged.why_not is not None:
        return _cannot_judge(question.check, study, judged.why_not)
    readings = [
        reading
        for table in tables(judged.trials, metric.name, metric.sign, question.longest)
        if table.values.shape[1] >= question.fewest
        for reading in question.read(judged, table)
    ]
    if not readings:
        missing = unreadable(judged.trials, metric.name, metric.meaning, question.fewest)
        return _cannot_judge(question.check, study, *missing)
    said = statement(in_rank_order(readings, judged.trials), question.median_limit, question.many)
    seen = CurveEvidence(
        metric=metric.name,
        judged=said.judged,
        points=max(reading.points for reading in readings),
        never_learned=len(judged.never_learned),
        because=said.because,
        median_z=said.median_z,
        flagged_trials=len(said.flagged),
        flagged_of_top=said.flagged_of_top,
        flagged=tuple(reading.facts for reading in said.flagged[:SHOWN]),
        top=tuple(reading.facts for reading in said.top),
    )
    answer = question.answer(judged, said, seen)
    return Finding.of_study(
        question.check, study.label, answer.verdict, answer.evidence, answer.actions
    )


def _cannot_judge(
    check: str, study: Study, why: Message, actions: tuple[Action, ...] = ()
) -> Finding:
    return Finding.of_study(check, study.label, "cannot_judge", NotJudged(why), actions)
