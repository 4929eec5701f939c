"""Is the best trial better than chance? If not, nothing else of the round means anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from tunewright.checks._better_half import have_learned
from tunewright.finding import LegacyFinding as Finding
from tunewright.store.results import Results
from tunewright.store.trial import Trial

SECTION = "Choosing the initial configuration"
MARGIN = 0.02  # of chance: less better than that is not better
TOP = 5


def baseline(results: Results) -> list[Finding]:
    """Ask the round whether its best trials beat chance, or at least where they began."""
    about = f"round {results.round.name}"
    top = results.top(TOP)
    if not top:
        says = "no trial has completed"
        advice = (f"tunewright show {results.round.name}",)
        return [Finding("baseline", about, "cannot_judge", says, {}, advice, SECTION)]
    chance = results.meaning.number("chance")
    metric = _loss(results, top)
    if chance is not None and metric is not None:
        return [_against_chance(results, about, top, metric, chance)]
    return [_against_start(results, about, top)]


def _against_chance(
    results: Results, about: str, top: tuple[Trial, ...], metric: str, chance: float
) -> Finding:
    lowest = {t.number: low for t in top if (low := _lowest(t, metric)) is not None}
    best = min(lowest.values())
    evidence: dict[str, Any] = {"metric": metric, "chance": chance, "best": best}
    if best < chance - MARGIN * abs(chance):
        says = f"{metric} reached {best:.4g}, chance is {chance:.4g}"
        return Finding("baseline", about, "ok", says, evidence, (), SECTION)
    says = f"{metric} of the best trials is {best:.4g}, no better than chance ({chance:.4g})"
    return Finding("baseline", about, "warn", says, evidence, _simpler(results), SECTION)


def _against_start(results: Results, about: str, top: tuple[Trial, ...]) -> Finding:
    metric, sign = results.objective.metric, -results.objective.sign
    curves = [c for t in top if (c := t.curves.only(metric)) is not None and len(c) > 1]
    if not curves:
        says = f"{metric} has one point a trial and no chance level is declared"
        advice = ('Workload(..., means={"chance": ...}): the loss of a guess, log(classes)',)
        return Finding("baseline", about, "cannot_judge", says, {}, advice, SECTION)
    values = [sign * c.values[np.isfinite(c.values)] for c in curves]
    first, lowest = np.array([v[0] for v in values]), np.array([v.min() for v in values])
    start, best = float(np.median(first)), float(lowest.min())
    evidence: dict[str, Any] = {"metric": metric, "start": sign * start, "best": sign * best}
    undeclared = '; declare means={"chance": ...} to judge it against a guess'
    if any(have_learned(first, lowest)) and start - best > MARGIN * abs(start):
        says = f"{metric} went from {sign * start:.4g} at first to {sign * best:.4g}{undeclared}"
        return Finding("baseline", about, "ok", says, evidence, (), SECTION)
    says = f"{metric} of the best trials went from {sign * start:.4g} to {sign * best:.4g} only"
    says += f": they hardly learned{undeclared}"
    return Finding("baseline", about, "warn", says, evidence, _simpler(results), SECTION)


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


def _simpler(results: Results) -> tuple[str, ...]:
    return (
        "begin with a smaller, simpler configuration that learns something",
        "check the labels, the loss and the learning rate on one batch that must be overfitted",
        f"tunewright trial {results.round.name} {results.top(1)[0].number}",
    )
