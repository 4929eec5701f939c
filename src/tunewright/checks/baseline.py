"""Is the best trial better than chance? If not, nothing else of the round means anything.

The best of many evaluations of many trials falls below chance by noise alone, so what counts is a
moving mean that stays below it by more than the noise of all of them explains.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tunewright.actions import Action, Advise, Declare, ShowRound, ShowTrial
from tunewright.checks._better_half import have_learned
from tunewright.finding import Evidence, Finding, Verdict, not_judged
from tunewright.messages import Message
from tunewright.stats.noise import (
    FEWEST,
    ROBUST,
    SECOND_DIFFERENCE_VARIANCE,
    moving_mean,
    noisy_curves,
)
from tunewright.store.curves import Values
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_MARGIN = 0.02  # of chance: less better than that is not better
_TOP = 5
_BY_NOISE = 0.01  # of rounds that stay at chance may pass
_SHORTEST = 4  # evaluations: fewer show no noise, and only the margin counts
_NEAR = 0.25  # of chance: an objective that begins within it has chance among its values
_LOSSES = frozenset({"loss", "nll", "mse", "entropy"})  # words of a metric that chance is about


@dataclass(frozen=True)
class BaselineEvidence(Evidence):
    """The best value of a metric beside chance, or beside where trials began without a chance."""

    metric: str
    best: float
    chance: float | None = None
    start: float | None = None
    unused_chance: float | None = None  # declared, but no value of anything that was judged
    sustained: float | None = None  # the best moving mean, which is what is judged
    noise: float | None = None  # how far below chance noise alone may take it; None: not known


def baseline(results: Results) -> list[Finding]:
    """Ask the round whether its best trials beat chance, or at least where they began."""
    name = results.round.name
    top = results.top(_TOP)
    if not top:
        why = Message("baseline.none_completed")
        return [not_judged("baseline", name, why, ShowRound(name), scope="round")]
    chance = results.meaning.number("chance")
    metric = _loss(results, top, chance)
    if chance is not None and metric is not None:
        return [_against_chance(results, top, metric, chance)]
    return [_against_start(results, top, chance)]


def _against_chance(
    results: Results, top: tuple[Trial, ...], metric: str, chance: float
) -> Finding:
    sign = _sign(results, metric)
    curves = [sign * v for t in top if len(v := _finite(t, metric))]
    best, reached = min(float(v.min()) for v in curves), _reach(curves, _trial_count(results))
    beaten = reached.upper < sign * chance - _MARGIN * abs(chance)
    evidence = BaselineEvidence(metric, sign * best, chance=chance, **reached.facts(sign))
    return _finding(results, evidence, "ok" if beaten else "warn")


def _against_start(results: Results, top: tuple[Trial, ...], chance: float | None) -> Finding:
    metric, sign = results.objective.metric, -results.objective.sign
    curves = [sign * v for t in top if len(v := _finite(t, metric)) > 1]
    if not curves:
        why, name = Message("baseline.one_point", {"metric": metric}), results.round.name
        return not_judged("baseline", name, why, Declare("chance"), scope="round")
    first, lowest = np.array([v[0] for v in curves]), np.array([v.min() for v in curves])
    start, best = float(np.median(first)), float(lowest.min())
    reached = _reach(curves, _trial_count(results))
    evidence = BaselineEvidence(
        metric, sign * best, start=sign * start, unused_chance=chance, **reached.facts(sign)
    )
    fell = [start - lower > _MARGIN * abs(start) for lower in (best, reached.upper)]
    if not (any(have_learned(first, lowest)) and fell[0]):
        return _finding(results, evidence, "warn")
    # without a chance to compare with, what noise may explain is worth a note, and stops nothing
    return _finding(results, evidence, "ok" if fell[1] else "note")


@dataclass(frozen=True)
class Reached:
    """The best moving mean of some curves, lower being better, and what noise may add to it."""

    sustained: float
    noise: float | None  # None: too few evaluations show it

    @property
    def upper(self) -> float:
        """What was reached, noise taken off."""
        return self.sustained + (self.noise or 0.0)

    def facts(self, sign: float) -> dict[str, float | None]:
        """As evidence, in the metric's own units."""
        return {"sustained": sign * self.sustained, "noise": self.noise}


def _reach(curves: list[Values], trials: int) -> Reached:
    """What the best of these curves reached; they are the best of so many trials.

    The noise counts as often as there are trials times evaluations to pick the best from.
    """
    levels = [_smooth(v, trials) for v in curves if len(v) >= FEWEST]
    short = [v for v in curves if _SHORTEST <= len(v) < FEWEST]
    if short:
        # Second differences after the steep first evaluation, read as those of an AR(1) of 0.8:
        # few evaluations do not show how much neighbours resemble each other.
        bends = np.concatenate([np.abs(np.diff(v[1:], n=2)) for v in short])
        sd = ROBUST * float(np.median(bends)) / np.sqrt(SECOND_DIFFERENCE_VARIANCE)
        for v in short:
            level = float(moving_mean(v[None], 3).min())
            levels.append(Reached(level, _times(trials * len(v)) * sd))
    if not levels:
        return Reached(min(float(v.min()) for v in curves), None)
    usual = float(np.median([r.noise for r in levels if r.noise is not None]))
    return min(
        (Reached(r.sustained, max(r.noise or 0.0, usual)) for r in levels),
        key=lambda r: r.upper,
    )


def _smooth(values: Values, trials: int) -> Reached:
    """The lowest moving mean of one curve, and the noise that picking it may have added."""
    curve = noisy_curves(values)
    at = curve.means.argmin(axis=1) + curve.width // 2
    error = float((curve.mean_sd(curve.width) * curve.factor_at(at))[0])
    return Reached(float(curve.best[0]), _times(trials * len(values)) * error)


def _times(picked_from: int) -> float:
    """How many standard errors the lowest of so many values lies below their mean, at most."""
    from scipy.special import ndtri

    return -float(ndtri(_BY_NOISE / picked_from))


def _trial_count(results: Results) -> int:
    return sum(trial.value is not None for trial in results.rows)


def _finding(results: Results, evidence: BaselineEvidence, verdict: Verdict) -> Finding:
    actions: list[Action] = []
    if verdict != "ok":
        look = ShowTrial(results.round.name, results.top(1)[0].number or 0)
        actions += [Advise("start_simpler"), Advise("overfit_one_batch"), look]
    if evidence.chance is None:
        actions.append(Declare("chance" if evidence.unused_chance is None else "valid_loss"))
    return Finding.of_round("baseline", results.round.name, verdict, evidence, tuple(actions))


def _loss(results: Results, top: tuple[Trial, ...], chance: float | None) -> str | None:
    """The metric that chance is a value of; the training loss only if nothing is validated."""
    meaning, objective = results.meaning, results.objective.metric
    valid_loss, train_loss = meaning.name("valid_loss"), meaning.name("train_loss")
    if any(len(_finite(trial, valid_loss)) for trial in top):
        return valid_loss
    if objective != train_loss and meaning.judges_validation(objective):
        return objective if chance is not None and _applies(chance, objective, top) else None
    return train_loss if any(len(_finite(trial, train_loss)) for trial in top) else None


def _applies(chance: float, metric: str, top: tuple[Trial, ...]) -> bool:
    """Whether chance may be a value of a metric: of a loss, or of what begins about there."""
    firsts = [values[0] for t in top if len(values := _finite(t, metric))]
    if not firsts:
        return False
    named = bool(_LOSSES & set(re.split(r"[^a-z]+", metric.lower())))
    return named or abs(float(np.median(firsts)) - chance) <= _NEAR * abs(chance)


def _sign(results: Results, metric: str) -> float:
    """1 if less is better of a metric, else -1."""
    return -results.objective.sign if metric == results.objective.metric else 1.0


def _finite(trial: Trial, metric: str) -> Values:
    curve = trial.curves.only(metric)
    return np.zeros(0) if curve is None else curve.values[np.isfinite(curve.values)]
