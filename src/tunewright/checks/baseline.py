"""Is the best trial better than chance? If not, nothing else of the round means anything."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tunewright.actions import Action, Advise, Declare, ShowRound, ShowTrial
from tunewright.checks._better_half import have_learned
from tunewright.finding import Evidence, Finding, NotJudged, Verdict
from tunewright.messages import Message
from tunewright.store.curves import Values
from tunewright.store.results import Results
from tunewright.store.trial import Trial

MARGIN = 0.02  # of chance: less better than that is not better
TOP = 5
NEAR = 0.25  # of chance: an objective that begins within it has chance among its values
LOSSES = frozenset({"loss", "nll", "mse", "entropy"})  # words of a metric that chance is about


@dataclass(frozen=True)
class BaselineEvidence(Evidence):
    """The best value of a metric beside chance, or beside where trials began without a chance."""

    metric: str
    best: float
    chance: float | None = None
    start: float | None = None
    unused_chance: float | None = None  # declared, but no value of anything that was judged


def baseline(results: Results) -> list[Finding]:
    """Ask the round whether its best trials beat chance, or at least where they began."""
    name = results.round.name
    top = results.top(TOP)
    if not top:
        why = NotJudged(Message("baseline.none_completed"))
        return [Finding("baseline", "round", name, "cannot_judge", why, (ShowRound(name),))]
    chance = results.meaning.number("chance")
    metric = _loss(results, top, chance)
    if chance is not None and metric is not None:
        return [_against_chance(results, top, metric, chance)]
    return [_against_start(results, top, chance)]


def _against_chance(
    results: Results, top: tuple[Trial, ...], metric: str, chance: float
) -> Finding:
    sign = _sign(results, metric)
    best = min(float((sign * v).min()) for t in top if len(v := _finite(t, metric)))
    beaten = best < sign * chance - MARGIN * abs(chance)
    evidence = BaselineEvidence(metric, sign * best, chance=chance)
    return _finding(results, evidence, beaten)


def _against_start(results: Results, top: tuple[Trial, ...], chance: float | None) -> Finding:
    metric, sign = results.objective.metric, -results.objective.sign
    curves = [c for t in top if (c := t.curves.only(metric)) is not None and len(c) > 1]
    if not curves:
        why = NotJudged(Message("baseline.one_point", {"metric": metric}))
        declare = (Declare("chance"),)
        return Finding("baseline", "round", results.round.name, "cannot_judge", why, declare)
    values = [sign * c.values[np.isfinite(c.values)] for c in curves]
    first, lowest = np.array([v[0] for v in values]), np.array([v.min() for v in values])
    start, best = float(np.median(first)), float(lowest.min())
    evidence = BaselineEvidence(metric, sign * best, start=sign * start, unused_chance=chance)
    learned = bool(any(have_learned(first, lowest))) and start - best > MARGIN * abs(start)
    return _finding(results, evidence, learned)


def _finding(results: Results, evidence: BaselineEvidence, learned: bool) -> Finding:
    actions: list[Action] = []
    if not learned:
        shown = ShowTrial(results.round.name, results.top(1)[0].number or 0)
        actions += [Advise("start_simpler"), Advise("overfit_one_batch"), shown]
    if evidence.chance is None:
        actions.append(Declare("chance" if evidence.unused_chance is None else "valid_loss"))
    verdict: Verdict = "ok" if learned else "warn"
    return Finding("baseline", "round", results.round.name, verdict, evidence, tuple(actions))


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
    named = bool(LOSSES & set(re.split(r"[^a-z]+", metric.lower())))
    return named or abs(float(np.median(firsts)) - chance) <= NEAR * abs(chance)


def _sign(results: Results, metric: str) -> float:
    """1 if less is better of a metric, else -1."""
    return -results.objective.sign if metric == results.objective.metric else 1.0


def _finite(trial: Trial, metric: str) -> Values:
    curve = trial.curves.only(metric)
    return np.zeros(0) if curve is None else curve.values[np.isfinite(curve.values)]
