"""Is the best trial better than chance? If not, nothing else of the round means anything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tunewright.actions import Action, Advise, Declare, ShowRound, ShowTrial
from tunewright.checks._better_half import have_learned
from tunewright.finding import Evidence, Finding, NotJudged, Verdict
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.store.trial import Trial

MARGIN = 0.02  # of chance: less better than that is not better
TOP = 5


@dataclass(frozen=True)
class BaselineEvidence(Evidence):
    """The best value of a metric beside chance, or beside where trials began without a chance."""

    metric: str
    best: float
    chance: float | None = None
    start: float | None = None


def baseline(results: Results) -> list[Finding]:
    """Ask the round whether its best trials beat chance, or at least where they began."""
    name = results.round.name
    top = results.top(TOP)
    if not top:
        why = NotJudged(Message("baseline.none_completed"))
        return [Finding("baseline", "round", name, "cannot_judge", why, (ShowRound(name),))]
    chance = results.meaning.number("chance")
    metric = _loss(results, top)
    if chance is not None and metric is not None:
        return [_against_chance(results, top, metric, chance)]
    return [_against_start(results, top)]


def _against_chance(
    results: Results, top: tuple[Trial, ...], metric: str, chance: float
) -> Finding:
    lowest = {t.number: low for t in top if (low := _lowest(t, metric)) is not None}
    best = min(lowest.values())
    beaten = best < chance - MARGIN * abs(chance)
    return _finding(results, BaselineEvidence(metric, best, chance=chance), beaten)


def _against_start(results: Results, top: tuple[Trial, ...]) -> Finding:
    metric, sign = results.objective.metric, -results.objective.sign
    curves = [c for t in top if (c := t.curves.only(metric)) is not None and len(c) > 1]
    if not curves:
        why = NotJudged(Message("baseline.one_point", {"metric": metric}))
        declare = (Declare("chance"),)
        return Finding("baseline", "round", results.round.name, "cannot_judge", why, declare)
    values = [sign * c.values[np.isfinite(c.values)] for c in curves]
    first, lowest = np.array([v[0] for v in values]), np.array([v.min() for v in values])
    start, best = float(np.median(first)), float(lowest.min())
    evidence = BaselineEvidence(metric, sign * best, start=sign * start)
    learned = bool(any(have_learned(first, lowest))) and start - best > MARGIN * abs(start)
    return _finding(results, evidence, learned)


def _finding(results: Results, evidence: BaselineEvidence, learned: bool) -> Finding:
    actions: list[Action] = []
    if not learned:
        shown = ShowTrial(results.round.name, results.top(1)[0].number or 0)
        actions += [Advise("start_simpler"), Advise("overfit_one_batch"), shown]
    if evidence.chance is None:
        actions.append(Declare("chance"))
    verdict: Verdict = "ok" if learned else "warn"
    return Finding("baseline", "round", results.round.name, verdict, evidence, tuple(actions))


def _loss(results: Results, top: tuple[Trial, ...]) -> str | None:
    """The metric chance is a value of: what means the validation loss, else the training loss."""
    names = (results.meaning.name(meaning) for meaning in ("valid_loss", "train_loss"))
    for name in names:
        if any(_lowest(trial, name) is not None for trial in top):
            return name
    return None


def _lowest(trial: Trial, metric: str) -> float | None:
    curve = trial.curves.only(metric)
    if curve is None or not np.isfinite(curve.values).any():
        return None
    return float(curve.values[np.isfinite(curve.values)].min())
