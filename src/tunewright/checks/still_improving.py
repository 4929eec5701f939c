"""Are the best trials still improving when training ends? Then longer training may pay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright.actions import Action, Advise, Extend, NextRound, ProbeLonger
from tunewright.checks._better_half import TOP, Judged
from tunewright.checks._curve_question import (
    IMMATERIAL,
    Answer,
    CurveEvidence,
    CurveQuestion,
    Reading,
    Statement,
    TrialFacts,
    ask,
    objective_metric,
)
from tunewright.checks._training_fit import TrainingFit, training_fit
from tunewright.checks.best_step import best_steps
from tunewright.checks.logged_rate import decayed, learning_rates, stepped
from tunewright.checks.spacing import SpacedCurves
from tunewright.finding import Finding
from tunewright.stats.noise import Floats, NoisyCurves, noisy_curves, slope_variance
from tunewright.store.results import Results

MEDIAN_LIMIT = 2.2
_DECAYING = ("cosine", "linear")  # schedules that end near zero
_CONSTANT = "constant"
_GENEROUS = Advise("generous_length")
# over the last quarter of training; "declared": it is on, and nothing shows what it does
Schedule = Literal["decaying", "steady", "declared", "unknown"]


@dataclass(frozen=True, eq=False)
class Improvement:
    """What each curve gained over its last quarter."""

    window: int  # evaluations in that quarter
    gain: Floats  # by the least-squares line through them; positive is better
    z: Floats  # the gain in standard errors
    matters: npt.NDArray[np.bool_]
    flagged: npt.NDArray[np.bool_]  # by the rule for one curve


def improving(curves: NoisyCurves) -> Improvement:
    """Fit a line to the last quarter of each curve, at least 8 evaluations."""
    window = max(8, round(0.25 * curves.evaluations))
    time = np.arange(window) - (window - 1) / 2
    slope = curves.values[:, -window:] @ time / (time @ time)
    error = curves.sd * np.sqrt(slope_variance(curves.correlation, window))
    gain, z = -slope * (window - 1), -slope / error
    enough = np.minimum(0.01 * curves.total, 0.005 * np.abs(curves.best))
    # a curve that comes back from something worse is recovering, not improving
    at_its_best = curves.means[:, -1] - curves.best < 0.5 * gain
    matters = (gain > enough) & (curves.total > 5 * curves.sd) & at_its_best
    flagged = matters & (z > 2.8 + 30 / curves.evaluations)
    return Improvement(window, gain, z, matters, flagged)


@dataclass(frozen=True)
class Gained(TrialFacts):
    """What one trial gained over its last quarter."""

    z: float
    gain: float
    since_step: int
    last_step: int


@dataclass(frozen=True, kw_only=True)
class StillImprovingEvidence(CurveEvidence):
    """What the best trials gained at the end, and whether a falling learning rate explains it."""

    best_steps: tuple[int, ...]  # of the best trials
    in_last_quarter: int  # of those steps
    shown: Gained | None = None  # of the best trial that carries the verdict
    # of the trials that carry it; of flat curves those of the best trials, if they leave it open
    schedules: tuple[Schedule, ...] = ()
    immaterial: bool = False  # the second half gains less than what was declared to matter
    not_fit: TrainingFit | None = None  # training ends before the training set is fit

    @property
    def consistently_late(self) -> bool:
        """Whether every one of the best trials was best in the last quarter of training."""
        return TOP <= len(self.best_steps) == self.in_last_quarter and not self.immaterial


def still_improving(results: Results) -> list[Finding]:
    """Ask each study whether its best trials were still improving when training ended."""
    question = CurveQuestion(
        "still_improving",
        objective_metric(results),
        read=_readings,
        answer=_answer,
        median_limit=MEDIAN_LIMIT,
        many="note",  # weaker trials improve to the end when their learning rate is low
    )
    return ask(results, question)


def _readings(results: Results, _: Judged, table: SpacedCurves) -> list[Reading[Gained]]:
    gains = improving(noisy_curves(table.values))
    readings = []
    for row, trial in enumerate(table.trials):
        steps = table.steps[row]
        facts = Gained(
            trial=trial.number,
            z=round(float(gains.z[row]), 2),
            gain=float(gains.gain[row]),
            since_step=int(steps[-gains.window]),
            last_step=int(steps[-1]),
        )
        z = float(gains.z[row]) if gains.matters[row] else IMMATERIAL
        readings.append(Reading(trial, z, bool(gains.flagged[row]), steps.size, facts))
    return readings


def _answer(
    results: Results, judged: Judged, statement: Statement[Gained], seen: CurveEvidence
) -> Answer:
    steps = best_steps(results, judged.ranked)
    schedules = tuple(_schedule(results, reading) for reading in statement.speakers)
    evidence = StillImprovingEvidence(
        **seen.fields,
        best_steps=steps.steps,
        in_last_quarter=steps.late,
        shown=statement.speakers[0].facts if statement.because else None,
        schedules=schedules if statement.because else (),
        not_fit=_not_fit(results, judged),
    )
    if not statement.because:
        return _flat(results, statement, evidence)
    if schedules.count("decaying") * 2 >= len(schedules):
        actions: tuple[Action, ...] = (*_branches(results, statement.speakers[0]), _GENEROUS)
        return Answer("cannot_judge", evidence, actions)
    log = (Advise("log_learning_rate"),) if {"unknown", "declared"} & set(schedules) else ()
    fit = () if evidence.not_fit is None else (Advise("fit_before_regularising"),)
    actions = (*log, _longer(results, statement.speakers[0]), Advise("decay_earlier"), *fit)
    return Answer(statement.verdict, evidence, actions)


def _not_fit(results: Results, judged: Judged) -> TrainingFit | None:
    """How far the best trials are from fitting the training set, where they do not."""
    fit = training_fit(results, judged.ranked)
    return None if fit is None or fit.fits else fit


def _flat(
    results: Results, statement: Statement[Gained], evidence: StillImprovingEvidence
) -> Answer:
    """Curves that end flat: with the learning rate near zero they would, however short training is.

    What would answer it is a longer training, in which the decay comes later.
    """
    schedules = tuple(_schedule(results, reading) for reading in statement.top)
    lowered = sum(schedule in ("decaying", "declared") for schedule in schedules)
    if not lowered or lowered * 2 < len(schedules):
        return Answer("ok", evidence)
    log = (Advise("log_learning_rate"),) if "declared" in schedules else ()
    actions = (
        *log,
        *_branches(results, statement.top[0]),
        _longer(results, statement.top[0]),
        _GENEROUS,
    )
    return Answer("cannot_judge", replace(evidence, schedules=schedules), actions)


def _branches(results: Results, reading: Reading[Gained]) -> tuple[Action, ...]:
    """A short probe that answers it, where the length of training is known."""
    extended = isinstance(_longer(results, reading), Extend)
    return (ProbeLonger(results.round.name),) if extended else ()


def _longer(results: Results, reading: Reading[Gained]) -> Action:
    """Train twice as long, in what the program calls its steps."""
    steps = reading.trial.configuration.get(results.meaning.name("max_train_steps"))
    name = results.round.name
    if isinstance(steps, bool) or not isinstance(steps, int):
        return NextRound(name)
    return Extend(name, 2 * steps)


def _schedule(results: Results, reading: Reading[Gained]) -> Schedule:
    """What the learning rate did over the last quarter, as logged, else as configured."""
    rates = learning_rates(reading.trial, results.meaning)
    if rates is not None:
        first, last = reading.facts.since_step, reading.facts.last_step
        return "decaying" if decayed(rates) or stepped(rates, first, last) else "steady"
    name = results.meaning.name("schedule")
    declared = reading.trial.configuration.get(name)
    if isinstance(declared, str) and any(kind in declared.lower() for kind in _DECAYING):
        return "decaying"
    if declared is None:
        return "unknown"
    off = results.meaning.off_by_name.get(name, _CONSTANT)
    constant = isinstance(declared, str) and _CONSTANT in declared.lower()  # after a warm-up
    return "steady" if declared == off or constant else "declared"
