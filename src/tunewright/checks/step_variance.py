"""Does the objective jump between evaluations late in training? Then its best is partly noise.

Retrospective checkpoint selection takes the best of many late evaluations. On a curve that only
jumps around its level, the best of them is better than the level: the selection gain. Where it
exceeds what separates the best trials, the comparison ranks noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tunewright.actions import Action, Advise, Repeat
from tunewright.checks._better_half import TOP, Judged
from tunewright.checks._curve_question import (
    Answer,
    CurveEvidence,
    CurveQuestion,
    Reading,
    Statement,
    TrialFacts,
    ask,
    objective_metric,
    training_metric,
)
from tunewright.checks.logged_rate import decayed, learning_rates
from tunewright.checks.spacing import SpacedCurves, tables
from tunewright.checks.trial_sd import smallest_difference, trial_sd
from tunewright.finding import Finding
from tunewright.stats.noise import Floats, NoisyCurves, noisy_curves
from tunewright.store.results import Results

_ENOUGH = 40  # evaluations: below it false alarms are too many to warn
_SURE = 0.98  # of the lower limit
_JUMPS = 0.1  # of what training improved: a training loss that jumps by more has not converged


@dataclass(frozen=True, eq=False)
class SelectionGain:
    """What the noise of late evaluations adds to the best value of each curve."""

    late_sd: Floats  # of one late evaluation
    gain: Floats  # expected from taking the best of the late evaluations
    at_least: Floats  # its lower limit: the noise was estimated from few evaluations


def selection_gain(curves: NoisyCurves, chosen: bool = True) -> SelectionGain:
    """The gain of choosing among the last fifth of each curve, at least 8 evaluations.

    Without a choice (the last value counts) it is one standard deviation of that value.
    """
    from scipy.special import chdtri, ndtri

    late = max(8, round(0.2 * curves.evaluations))
    # here a quiet end counts as quiet, as under a learning rate that decays
    factor = np.clip(curves.local_factor[:, curves.evaluations - 1 - curves.width // 2], 0.5, 2.0)
    late_sd = curves.sd * factor
    # correlated evaluations are fewer chances: so many independent ones have the same best
    chances = 1 + (late - 1) * (1 - curves.correlation**2)
    gain = late_sd * ndtri((chances - 0.375) / (chances + 0.25)) if chosen else late_sd
    independent = (1 - curves.correlation) / (1 + curves.correlation)
    freedom = np.maximum(3.0, 0.75 * curves.evaluations * independent - 4)
    at_least = gain * np.sqrt(freedom / chdtri(freedom, 1 - _SURE))
    return SelectionGain(late_sd, gain, at_least)


@dataclass(frozen=True)
class Yardstick:
    """What the selection gain is compared with: by how much comparable trials differ."""

    size: float
    # half the gap between the best and the fifth; what measurement makes of two equal trials
    source: Literal["trial_sd", "best_to_fifth", "measurement"]


@dataclass(frozen=True)
class Jumping(TrialFacts):
    """How much the late evaluations of one trial jump."""

    late_sd: float  # of one late evaluation
    gain: float  # expected from taking the best of them
    gain_at_least: float


@dataclass(frozen=True)
class TrainingJumps:
    """How much the training loss of the five best trials jumps late in training."""

    metric: str
    late_sd: float  # of one late point as logged; the median of the trials
    share: float  # of the improvement over training; the median of the trials
    jumping: int  # trials in which it is surely more than a tenth of the improvement
    of: int

    @property
    def jumps(self) -> bool:
        """Whether most of them jump."""
        return 2 * self.jumping > self.of


@dataclass(frozen=True, kw_only=True)
class StepVarianceEvidence(CurveEvidence):
    """What late jumps add to the best value, against what separates trials."""

    gain: float  # the median of the five best trials
    compared_with: Yardstick | None  # None with fewer than five trials and no repeats
    chosen: bool  # whether the best evaluation counts, rather than the last
    shown: Jumping | None = None  # of the best trial that carries the verdict
    rate_at_end: Literal["high", "low", "unknown"] = "unknown"  # where most of them had it
    training: TrainingJumps | None = None  # None: no training loss that can be read


def step_variance(results: Results) -> list[Finding]:
    """Ask each study whether late jumps outweigh what separates its best trials."""
    question = CurveQuestion(
        "step_variance",
        objective_metric(results),
        read=_readings,
        answer=_answer,
        many="note",  # the noise of weaker trials does not decide which is best
    )
    return ask(results, question)


def _yardstick(results: Results, judged: Judged) -> Yardstick | None:
    """Trial variance, half the gap from best to fifth, or measurement: the largest."""
    values = [t.value for t in judged.ranked[:TOP] if t.value is not None]
    known = []
    sd = trial_sd(results, judged.study)
    if sd is not None:
        known.append(Yardstick(sd, "trial_sd"))
    if len(values) == TOP:
        known.append(Yardstick(0.5 * abs(values[-1] - values[0]), "best_to_fifth"))
    apart = smallest_difference(results, judged.study)
    if known and apart is not None:  # a difference below it is none
        known.append(Yardstick(apart, "measurement"))
    return max(known, key=lambda yardstick: yardstick.size, default=None)


def _readings(results: Results, judged: Judged, table: SpacedCurves) -> list[Reading[Jumping]]:
    yardstick = _yardstick(results, judged)
    gains = selection_gain(noisy_curves(table.values), results.objective.at == "best")
    readings = []
    for row, trial in enumerate(table.trials):
        facts = Jumping(
            trial=trial.number,
            late_sd=float(gains.late_sd[row]),
            gain=float(gains.gain[row]),
            gain_at_least=float(gains.at_least[row]),
        )
        flagged = yardstick is not None and facts.gain_at_least > yardstick.size
        readings.append(Reading(trial, 0.0, flagged, table.values.shape[1], facts))
    return readings


def _training(results: Results, judged: Judged) -> TrainingJumps | None:
    """How much the training loss of the five best trials jumps, against what it improved."""
    metric = training_metric(results)
    if metric.name == results.objective.metric:
        return None
    sds, shares, sure = [], [], 0
    for table in tables(judged.trials[:TOP], metric.name, metric.sign):
        curves = noisy_curves(table.values)
        gains = selection_gain(curves, chosen=False)
        total = np.maximum(curves.total, 1e-300)
        sds += gains.late_sd.tolist()
        shares += (gains.late_sd / total).tolist()
        sure += int((gains.at_least > _JUMPS * total).sum())
    if not sds:
        return None
    return TrainingJumps(
        metric.name, float(np.median(sds)), float(np.median(shares)), sure, len(sds)
    )


def _answer(
    results: Results,
    judged: Judged,
    statement: Statement[Jumping],
    seen: CurveEvidence,
) -> Answer:
    yardstick = _yardstick(results, judged)
    spoke = bool(statement.because) and yardstick is not None
    rate_at_end = _rate_at_end(results, statement)
    evidence = StepVarianceEvidence(
        **seen.fields,
        gain=float(np.median([reading.facts.gain for reading in statement.top])),
        compared_with=yardstick,
        chosen=results.objective.at == "best",
        shown=statement.speakers[0].facts if spoke else None,
        rate_at_end=rate_at_end,
        training=_training(results, judged),
    )
    trains = evidence.training is not None and evidence.training.jumps
    if yardstick is None:
        return Answer("cannot_judge", evidence, (Repeat(results.round.name),))
    if not spoke and trains:
        return Answer("note", evidence, _calmer(rate_at_end))
    if not spoke:
        return Answer("ok", evidence)
    few = statement.speakers[0].points < _ENOUGH
    actions = _remedies(results, rate_at_end)
    return Answer("note" if few else statement.verdict, evidence, actions)


def _rate_at_end(
    results: Results, statement: Statement[Jumping]
) -> Literal["high", "low", "unknown"]:
    """Whether the learning rate was still high at the end of most trials that carry the verdict."""
    rates_of = [learning_rates(reading.trial, results.meaning) for reading in statement.speakers]
    high = [not decayed(rates) for rates in rates_of if rates is not None]
    if not high:
        return "unknown"
    return "high" if 2 * sum(high) > len(high) else "low"


def _remedies(
    results: Results, rate_at_end: Literal["high", "low", "unknown"]
) -> tuple[Action, ...]:
    """The playbook's remedies, the likeliest cause first: a learning rate still high at the end."""
    validation = Advise("larger_validation_set")
    return (*_calmer(rate_at_end), validation, Repeat(results.round.name))


def _calmer(rate_at_end: Literal["high", "low", "unknown"]) -> tuple[Action, ...]:
    """What calms training itself."""
    decay = () if rate_at_end == "low" else (Advise("decay_to_zero", {"rate_at_end": rate_at_end}),)
    return (*decay, Advise("larger_batch"), Advise("average_weights"))
