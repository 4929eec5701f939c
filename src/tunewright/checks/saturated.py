"""Had the best trials settled long before training ended? Then it can be shorter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tunewright.checks._better_half import Judged
from tunewright.checks._curve_question import Answer, CurveQuestion, ask, objective_metric
from tunewright.checks._study_rule import IMMATERIAL, Reading, Statement
from tunewright.checks.best_step import best_steps, shorter
from tunewright.checks.spacing import SpacedCurves
from tunewright.checks.trial_sd import trial_sd
from tunewright.finding import LegacyFinding as Finding
from tunewright.stats.noise import Floats, NoisyCurves, noisy_curves
from tunewright.store.results import Results

FEWEST = 40  # evaluations: with 20 no plateau can be told from a slow descent
LIMIT, MEDIAN_LIMIT = 2.0, 1.5
SHARE = 0.02  # of the improvement and of the best value: what counts as no difference by default


@dataclass(frozen=True, eq=False)
class Saturation:
    """Whether the second half of training changed each curve by less than a margin."""

    gain: Floats  # from the middle of training to its end; positive is better
    margin: Floats  # a difference smaller than this is none
    z: Floats  # how surely the change lies within the margin, in standard errors
    matters: npt.NDArray[np.bool_]  # the end is about as good as the curve ever was
    flagged: npt.NDArray[np.bool_]  # by the rule for one curve
    settled: npt.NDArray[np.int64]  # first evaluation from which the curve is within the margin


def saturation(curves: NoisyCurves, margin: float | None = None) -> Saturation:
    """Test the middle fifth of each curve against its last fifth for equivalence.

    `margin` is the smallest difference that matters, in units of the metric; without one it is
    2 % of the improvement or of the best value, whichever is smaller. Two-sided: a curve that
    rises in its second half has not settled either.
    """
    width = max(4, round(0.2 * curves.evaluations))
    middle = curves.evaluations // 2 - width // 2
    before = curves.values[:, middle : middle + width].mean(axis=1)
    gain = before - curves.values[:, -width:].mean(axis=1)
    margins = np.minimum(SHARE * curves.total, SHARE * np.abs(curves.best))
    if margin is not None:
        margins = np.full_like(margins, margin)
    error = curves.mean_sd(width) * np.sqrt(2)
    z = (margins - np.abs(gain)) / error
    # a curve that fell, got worse and stayed there has not settled at what it can reach
    matters = curves.values[:, -width:].mean(axis=1) - curves.best < margins + 2 * error
    settled = (curves.means <= (curves.best + margins)[:, None]).argmax(axis=1) + curves.width - 1
    return Saturation(gain, margins, z, matters, matters & (z > LIMIT), settled)


def saturated(results: Results) -> list[Finding]:
    """Ask each study whether its best trials had settled by half of training."""
    question = CurveQuestion(
        "saturated",
        objective_metric(results),
        read=lambda judged, table: _readings(table, _margin(results, judged)),
        answer=lambda judged, said: _answer(results, judged, said),
        median_limit=MEDIAN_LIMIT,
        many="note",  # what weaker trials do says little about how long the best need
        fewest=FEWEST,
    )
    return ask(results, question)


def _margin(results: Results, judged: Judged) -> float | None:
    """The smallest difference that matters, if the round or its repeats tell."""
    return results.round.detect or trial_sd(results, judged.study)


def _readings(table: SpacedCurves, margin: float | None) -> list[Reading]:
    found = saturation(noisy_curves(table.values), margin)
    return [
        Reading(
            trial,
            float(found.z[row]) if found.matters[row] else IMMATERIAL,
            bool(found.flagged[row]),
            table.values.shape[1],
            {
                "trial": trial.number,
                "z": round(float(found.z[row]), 2),
                "gain": float(found.gain[row]),
                "margin": float(found.margin[row]),
                "settled_step": int(table.steps[row, found.settled[row]]),
                "last_step": int(table.steps[row, -1]),
            },
        )
        for row, trial in enumerate(table.trials)
    ]


def _answer(results: Results, judged: Judged, said: Statement) -> Answer:
    name = results.objective.metric
    steps = best_steps(results, judged.ranked)
    evidence = {
        "best_steps": list(steps.steps),
        "max_train_steps": steps.max_train_steps,
        "proposed_max_train_steps": steps.proposed,
    }
    where = (
        f"best steps {min(steps.steps)} to {max(steps.steps)} of {steps.max_train_steps}"
        if steps.steps
        else "no best steps"
    )
    shorten = "a shorter training would find the same: about {} steps as max_train_steps"
    if said.because:
        settled = [float(r.facts["settled_step"]) for r in said.speakers]
        proposed = min(shorter(np.array(settled)), steps.max_train_steps)
        evidence["proposed_max_train_steps"] = proposed
        shown = said.speakers[0].facts
        says = (
            f"{name} had settled by half of training in {said.who}: the second half changed it by "
            f"{abs(shown['gain']):.3g}, less than the {shown['margin']:.3g} that matters; {where}"
        )
        advice: tuple[str, ...] = (
            shorten.format(proposed),
            f"tunewright next {results.round.name}",
        )
        if _margin(results, judged) is None:
            advice += ("2 % is a convention: give the round detect= in units of the metric",)
        return Answer(said.verdict, says, advice, evidence)
    if len(steps.steps) >= 5 and steps.early == len(steps.steps):
        says = f"every one of the best trials was best within the first tenth of training: {where}"
        advice = (shorten.format(steps.proposed), "if they overfit instead, regularise first")
        return Answer("warn", says, advice, evidence)
    if steps.proposed is not None:
        says = f"half of the best trials were best in the first half of training: {where}"
        advice = (shorten.format(steps.proposed), "if they overfit instead, regularise first")
        return Answer("note", says, advice, evidence)
    return Answer("ok", f"{name} was not settled by half of training; {where}", (), evidence)
