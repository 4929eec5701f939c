"""How a question is put to the curves of every study: which trials, which curves, which words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tunewright.checks._better_half import Judged, better_halves
from tunewright.checks._study_rule import Reading, Statement, in_rank_order, statement
from tunewright.checks.spacing import LONGEST, SpacedCurves, tables, unreadable
from tunewright.design.study import Study
from tunewright.finding import LegacyFinding as Finding, Verdict, said_once
from tunewright.stats.noise import FEWEST
from tunewright.store.results import Results

SECTION = "Examining the training curves"  # of the playbook
FEW = 40  # points of a curve: below it only large effects can be seen
SHOWN = 20  # flagged trials listed as evidence; the rest is counted


@dataclass(frozen=True)
class Metric:
    """Which curve of a trial a question reads."""

    name: str
    sign: float = 1.0  # times this, lower is better
    meaning: str | None = None  # the `means=` entry that names it, where there is one


@dataclass(frozen=True)
class Answer:
    """The words of a finding; the verdict may be milder than the curves alone would have it."""

    verdict: Verdict
    says: str
    advice: tuple[str, ...] = ()
    evidence: Mapping[str, Any] | None = None  # beside what every curve question shows


@dataclass(frozen=True)
class CurveQuestion:
    """One question to the curves of a study's better half."""

    check: str
    metric: Metric
    read: Callable[[Judged, SpacedCurves], Sequence[Reading]]  # curves of one length
    answer: Callable[[Judged, Statement], Answer]
    median_limit: float | None = None
    fewest: int = FEWEST  # evaluations a curve needs
    longest: int = LONGEST  # points; more become means of neighbours
    many: Literal["note", "warn"] = "warn"  # when only trials below the five best are flagged
    section: str = SECTION


def objective_metric(results: Results) -> Metric:
    """The curve of the objective."""
    return Metric(results.objective.metric, -results.objective.sign)


def training_metric(results: Results) -> Metric:
    """The curve of what means the training loss."""
    return Metric(results.meaning.name("train_loss"), 1.0, "train_loss")


def ask(results: Results, question: CurveQuestion) -> list[Finding]:
    """One finding per study, or a single one when nothing can be judged anywhere."""
    findings = [_ask_study(question, judged) for judged in better_halves(results)]
    return said_once(findings, results.round.name)


def _ask_study(question: CurveQuestion, judged: Judged) -> Finding:
    study, metric = judged.study, question.metric
    if judged.reason:
        return _cannot_judge(question, study, judged.reason)
    readings = [
        reading
        for table in tables(judged.trials, metric.name, metric.sign, question.longest)
        if table.values.shape[1] >= question.fewest
        for reading in question.read(judged, table)
    ]
    if not readings:
        missing = unreadable(judged.trials, metric.name, metric.meaning, question.fewest)
        return _cannot_judge(question, study, *missing)
    said = statement(in_rank_order(readings, judged.trials), question.median_limit, question.many)
    answer = question.answer(judged, said)
    points = max(reading.points for reading in readings)
    says = answer.says
    if answer.verdict == "ok" and points < FEW:
        says += f" ({points} points a curve show only large effects; log about 100)"
    evidence = {
        "metric": metric.name,
        "judged": len(readings),
        "points": points,
        "never_learned": len(judged.never_learned),
        "because": said.because,
        "median_z": said.median_z,
        "flagged_trials": len(said.flagged),
        "flagged": [dict(r.facts) for r in said.flagged[:SHOWN]],
        "top": [dict(r.facts) for r in said.top],
        **(answer.evidence or {}),
    }
    return Finding(
        question.check,
        study.label,
        answer.verdict,
        says,
        evidence,
        answer.advice,
        question.section,
    )


def _cannot_judge(question: CurveQuestion, study: Study, says: str, *advice: str) -> Finding:
    return Finding(question.check, study.label, "cannot_judge", says, {}, advice, question.section)
