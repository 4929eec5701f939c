"""Does the objective jump from step to step late in training? Then the best value is partly luck.

Retrospective checkpoint selection takes the best of many late evaluations. On a curve that only
jumps around its level, the best of them is better than the level: the luck bonus. Where it exceeds
what separates the best trials, the comparison ranks luck.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tunewright.checks._better_half import TOP, Judged
from tunewright.checks._curve_question import Answer, CurveQuestion, ask, objective_metric
from tunewright.checks._study_rule import Reading, Statement
from tunewright.checks.logged_rate import decayed, learning_rates
from tunewright.checks.spacing import SpacedCurves
from tunewright.checks.trial_sd import trial_sd
from tunewright.finding import LegacyFinding as Finding
from tunewright.stats.noise import Floats, NoisyCurves, noisy_curves
from tunewright.store.results import Results

ENOUGH = 40  # evaluations: below it false alarms are too many to warn
SURE = 0.98  # of the lower limit


@dataclass(frozen=True, eq=False)
class Luck:
    """The luck bonus of each curve."""

    late_sd: Floats  # of one late evaluation
    bonus: Floats  # expected gain from taking the best of the late evaluations
    at_least: Floats  # its lower limit: the noise was estimated from few evaluations


def luck(curves: NoisyCurves, chosen: bool = True) -> Luck:
    """The luck bonus of choosing among the last fifth of each curve, at least 8 evaluations.

    Without a choice (the last value counts) it is one standard deviation of that value.
    """
    from scipy.special import chdtri, ndtri

    late = max(8, round(0.2 * curves.evaluations))
    # here a quiet end counts as quiet, as under a learning rate that decays
    factor = np.clip(curves.local_factor[:, curves.evaluations - 1 - curves.width // 2], 0.5, 2.0)
    late_sd = curves.sd * factor
    # correlated evaluations are fewer chances: so many independent ones have the same best
    chances = 1 + (late - 1) * (1 - curves.correlation**2)
    bonus = late_sd * ndtri((chances - 0.375) / (chances + 0.25)) if chosen else late_sd
    independent = (1 - curves.correlation) / (1 + curves.correlation)
    freedom = np.maximum(3.0, 0.75 * curves.evaluations * independent - 4)
    at_least = bonus * np.sqrt(freedom / chdtri(freedom, 1 - SURE))
    return Luck(late_sd, bonus, at_least)


def step_variance(results: Results) -> list[Finding]:
    """Ask each study whether late jumps outweigh what separates its best trials."""
    question = CurveQuestion(
        "step_variance",
        objective_metric(results),
        read=lambda judged, table: _readings(results, table, _yardstick(results, judged)),
        answer=lambda judged, said: _answer(results, said, _yardstick(results, judged)),
        many="note",  # the noise of weaker trials does not decide which is best
    )
    return ask(results, question)


def _yardstick(results: Results, judged: Judged) -> float | None:
    """What luck is measured against: the trial variance, or half the gap from best to fifth."""
    values = [t.value for t in judged.ranked[:TOP] if t.value is not None]
    gap = 0.5 * abs(values[-1] - values[0]) if len(values) == TOP else None
    known = [size for size in (trial_sd(results, judged.study), gap) if size is not None]
    return max(known, default=None)


def _readings(results: Results, table: SpacedCurves, yardstick: float | None) -> list[Reading]:
    found = luck(noisy_curves(table.values), results.objective.at == "best")
    readings = []
    for row, trial in enumerate(table.trials):
        facts = {
            "trial": trial.number,
            "late_sd": float(found.late_sd[row]),
            "luck": float(found.bonus[row]),
            "luck_at_least": float(found.at_least[row]),
        }
        flagged = yardstick is not None and bool(found.at_least[row] > yardstick)
        readings.append(Reading(trial, 0.0, flagged, table.values.shape[1], facts))
    return readings


def _answer(results: Results, said: Statement, yardstick: float | None) -> Answer:
    name = results.objective.metric
    median = float(np.median([r.facts["luck"] for r in said.top]))
    evidence = {"luck": median, "compared_with": yardstick}
    if yardstick is None:
        says = (
            f"the luck of a late evaluation of {name} is about {median:.3g}, but there is nothing"
            " to compare it with: fewer than five trials and no repeats"
        )
        advice: tuple[str, ...] = (f"tunewright repeat {results.round.name} --times 5",)
        return Answer("cannot_judge", says, advice, evidence)
    if not said.because:
        says = f"late jumps of {name} are worth about {median:.3g} of luck"
        return Answer(
            "ok", f"{says}, against {yardstick:.3g} between comparable trials", (), evidence
        )
    shown = said.speakers[0].facts
    says = (
        f"late jumps of {name} are worth about {shown['luck']:.3g} of luck (at least "
        f"{shown['luck_at_least']:.3g}) in {said.who}: more than the {yardstick:.3g} by "
        "which comparable trials differ"
    )
    advice = _remedies(results, said)
    few = said.speakers[0].points < ENOUGH
    return Answer("note" if few else said.verdict, says, advice, evidence)


def _remedies(results: Results, said: Statement) -> tuple[str, ...]:
    """The playbook's remedies, the likeliest cause first: a learning rate still high at the end."""
    found = [learning_rates(reading.trial, results.meaning) for reading in said.speakers]
    high = [not decayed(rates) for rates in found if rates is not None]
    decay = "let the learning rate decay towards zero (linear or cosine)"
    others = ("a larger batch size", "Polyak averaging of the weights", "a larger validation set")
    repeat = f"tunewright repeat {results.round.name} --times 5"
    if not high:
        return (f"unless it does already, {decay}", *others, repeat)
    if 2 * sum(high) > len(high):
        return (f"it is still high at the end: {decay}", *others, repeat)
    return (*others, repeat)
