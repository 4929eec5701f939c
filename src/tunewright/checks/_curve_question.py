"""Questions to the curves of every study, and how flags on curves become one verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from tunewright.actions import Action, ShowTrial
from tunewright.checks._better_half import TOP, Judged, better_halves
from tunewright.checks.spacing import LONGEST, SpacedCurves, tables, unreadable
from tunewright.finding import Evidence, Finding, Verdict, merge_not_judged, not_judged
from tunewright.stats.noise import FEWEST
from tunewright.store.results import Results
from tunewright.store.trial import Trial

MOST_LISTED = 20  # flagged trials listed as evidence; the rest is counted
IMMATERIAL = -9.0  # the z of an effect too small to matter, however certain
_FALSE_ALARMS = 0.02  # per trial: every single-curve rule is below it on average


# ---- what do single trials show about their study? From flags on curves to one verdict.


# which trials carry a verdict: the best one, the five best together, several or one of them, or
# more of the better half than chance explains; nobody where nothing was found
Because = Literal["", "best", "median", "several", "one", "many"]


@dataclass(frozen=True)
class TrialFacts:
    """What one trial's curve shows; each check adds what it measured."""

    trial: int | None


def look_at(results: Results, trial: Trial) -> tuple[ShowTrial, ...]:
    """Show a trial, by the round that it belongs to; nothing for a repeat, which has no number."""
    round, number = trial.origin or (results.round.name, trial.number)
    return () if number is None else (ShowTrial(round, number),)


F = TypeVar("F", bound=TrialFacts)


@dataclass(frozen=True)
class Reading(Generic[F]):
    """What one trial's curve answers to one question."""

    trial: Trial
    z: float  # the effect in standard errors, or IMMATERIAL
    flagged: bool  # by the rule for a single curve
    points: int  # of the curve
    facts: F


@dataclass(frozen=True)
class Statement(Generic[F]):
    """What a study's curves answer to one question."""

    verdict: Literal["ok", "note", "warn"]
    because: Because
    top: tuple[Reading[F], ...]  # of the five best trials
    flagged: tuple[Reading[F], ...]  # best trial first
    judged: int  # how many curves were read
    median_z: float | None = None  # of the five best trials; None with fewer

    @property
    def speakers(self) -> tuple[Reading[F], ...]:
        """The readings that carry the verdict: the flagged, or the five that agree."""
        if self.because == "median":
            return tuple(r for r in self.top if r.z > IMMATERIAL)
        return self.flagged

    @property
    def flagged_of_top(self) -> int:
        """How many of the five best trials are flagged."""
        return sum(reading.flagged for reading in self.top)


def judge_readings(
    readings: Sequence[Reading[F]],
    median_limit: float | None = None,
    many: Literal["note", "warn"] = "warn",
) -> Statement[F]:
    """The verdict over readings ordered from the best trial down.

    Warns when the best trial is flagged, when the five best agree (their median z passes the
    limit), when two or more of them are flagged, or (unless `many` is "note") when more of all
    trials are than chance explains; notes a single one of the five. The median gives a verdict at
    20 evaluations, where no single curve can; its limits are 98 % quantiles over worlds without an
    effect.
    """
    top = readings[:TOP]
    flagged = tuple(r for r in readings if r.flagged)
    of_top = sum(r.flagged for r in top)
    median = float(np.median([r.z for r in top])) if len(top) == TOP else None
    because: Because = ""
    if top and top[0].flagged:
        because = "best"
    elif median is not None and median_limit is not None and median > median_limit:
        because = "median"
    elif of_top >= 2:
        because = "several"
    elif len(flagged) > flags_by_chance(len(readings)):
        because = "many"
    elif of_top == 1:
        because = "one"
    verdict: Literal["ok", "note", "warn"] = "warn" if because else "ok"
    if because == "one" or (because == "many" and many == "note"):
        verdict = "note"
    return Statement(verdict, because, tuple(top), flagged, len(readings), median)


def in_rank_order(readings: Iterable[Reading[F]], trials: Sequence[Trial]) -> list[Reading[F]]:
    """The readings in the order of the trials, which is best first."""
    rank = {id(trial): position for position, trial in enumerate(trials)}
    return sorted(readings, key=lambda reading: rank[id(reading.trial)])


def flags_by_chance(trials: int) -> int:
    """How many of so many trials chance may flag: the 99 % quantile at 2 % each.

    >>> [flags_by_chance(trials) for trials in (16, 30, 50)]
    [2, 3, 4]
    """
    from scipy.special import bdtr

    return next(k for k in range(trials + 1) if bdtr(k, trials, _FALSE_ALARMS) >= 0.99)


# ---- a question to the curves


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
    read: Callable[[Results, Judged, SpacedCurves], Sequence[Reading[F]]]  # curves of one length
    answer: Callable[[Results, Judged, Statement[F], CurveEvidence], Answer]
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
    findings = [_ask_study(results, question, judged) for judged in better_halves(results)]
    return merge_not_judged(findings, results.round.name)


def _ask_study(results: Results, question: CurveQuestion[F], judged: Judged) -> Finding:
    study, metric = judged.study, question.metric
    if judged.why_not is not None:
        return not_judged(question.check, study.label, judged.why_not)
    readings = [
        reading
        for table in tables(judged.trials, metric.name, metric.sign, question.longest)
        if table.values.shape[1] >= question.fewest
        for reading in question.read(results, judged, table)
    ]
    if not readings:
        why, actions = unreadable(judged.trials, metric.name, metric.meaning, question.fewest)
        return not_judged(question.check, study.label, why, *actions)
    statement = judge_readings(
        in_rank_order(readings, judged.trials), question.median_limit, question.many
    )
    seen = CurveEvidence(
        metric=metric.name,
        judged=statement.judged,
        points=max(reading.points for reading in readings),
        never_learned=len(judged.never_learned),
        because=statement.because,
        median_z=statement.median_z,
        flagged_trials=len(statement.flagged),
        flagged_of_top=statement.flagged_of_top,
        flagged=tuple(reading.facts for reading in statement.flagged[:MOST_LISTED]),
        top=tuple(reading.facts for reading in statement.top),
    )
    answer = question.answer(results, judged, statement, seen)
    return Finding.of_study(
        question.check, study.label, answer.verdict, answer.evidence, answer.actions
    )
