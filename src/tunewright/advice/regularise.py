"""Add the regulariser that overfitting asks for, as a nuisance hyperparameter.

Regularisers are known by meaning. One that the round holds fixed becomes searched; one that it
searches already, with the best still overfitting, is widened upwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tunewright.advice.proposal import Proposal, enough_for, proposal, reason, successor
from tunewright.checks._better_half import TOP
from tunewright.checks._training_fit import TrainingFit, training_fit
from tunewright.checks.overfitting import OverfittingEvidence
from tunewright.design._preset_ranges import SPACES
from tunewright.design.names import Meaning
from tunewright.design.ranges import Range, Value, is_number, linear, log
from tunewright.design.round import Round
from tunewright.design.round_numbers import in_digits
from tunewright.errors import DesignError
from tunewright.finding import Finding
from tunewright.messages import Message
from tunewright.store.results import Results

# strengths worth searching where nothing is known but the name
_STRENGTHS: Mapping[str, Range] = {
    "dropout": linear(0.0, 0.5),
    "label_smoothing": linear(0.0, 0.2),
}
_ANY_STRENGTH = log(1e-6, 1e-2)
_DECADES = 100.0  # either way around a strength that is in use


def regularise(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """A round that tunes the regularisers beside the rest, where the best trials overfit."""
    own = [f for f in findings if _overfits(f)]
    if not own:
        return []
    known = results.meaning.regularisers
    round = results.round
    fixed = {n: v for n, v in round.fixed.items() if n in known}
    if not fixed:
        searched = {n: d for n, d in round.nuisance.items() if n in known and isinstance(d, Range)}
        return _stronger(results, own, searched) or _none(own, known)
    added = {
        name: range
        for name, value in fixed.items()
        if (range := strength(name, value, results.meaning, round.fixed)) is not None
    }
    if not added:
        return _none(own, known)
    first = next(iter(added))
    made = [_with(round, {first: added[first]})]  # one at a time is cheaper, and shows which helps
    if len(added) > 1:
        made.append(_with(round, added))
    fit = {"not_fit": not_fit(results)}
    return [
        proposal("regularise", reason("proposal.regularise", own, ranges=ranges, **fit), own, next_)
        for ranges, next_ in zip(({first: added[first]}, added), made, strict=False)
    ]


def not_fit(results: Results) -> TrainingFit | None:
    """How far the best trials are from fitting the training set, where they do not.

    Regularisation is then unlikely to help (playbook, "Deciding how long to train").
    """
    found = training_fit(results, results.top(TOP))
    return None if found is None or found.fits else found


def _overfits(finding: Finding) -> bool:
    """Whether it warns of overfitting, rather than of training that got worse too."""
    seen = finding.evidence
    if finding.verdict != "warn" or not isinstance(seen, OverfittingEvidence):
        return False
    return seen.kind != "training too"


def strength(name: str, value: Value, meaning: Meaning, fixed: Mapping[str, Any]) -> Range | None:
    """Where to search a regulariser that was fixed at this value; None for one without numbers.

    >>> str(strength("weight_decay", 1e-4, Meaning(), {}))
    'log(1e-06, 0.01)'
    >>> str(strength("dropout", 0.0, Meaning(), {}))
    'linear(0, 0.5)'
    """
    for meant, usual in _STRENGTHS.items():
        if name == meant or name.endswith(f".{meant}") or meant in name.lower():
            return usual
    if not is_number(value):
        return None
    number = float(value)  # type: ignore[arg-type]
    if number > 0:
        return log(in_digits(number / _DECADES), in_digits(number * _DECADES))
    if meaning.of(name) == "weight_decay":
        optimizer = str(fixed.get(meaning.name("optimizer"), "")).lower()
        for entry in SPACES.get(optimizer, ()):
            if entry.name == "weight_decay" and entry.searched is not None:
                return entry.searched
    return _ANY_STRENGTH


def _with(round: Round, added: Mapping[str, Range]) -> Round:
    made = successor(
        round,
        Message("change.regularised", {"names": list(added)}),
        nuisance={**added, **round.nuisance},
        fixed={n: v for n, v in round.fixed.items() if n not in added},
    )
    return replace(made, trials_per_study=enough_for(made))


def _stronger(
    results: Results, own: Sequence[Finding], searched: Mapping[str, Range]
) -> list[Proposal]:
    """What is searched already reaches further up."""
    found: dict[str, Range] = {}
    for name, range in searched.items():
        fractions = range.count is None and range.scale != "log_from_one"
        if fractions and (made := range.widen("high")) is not None:
            found[name] = made.range
    if not found:
        return []
    try:
        made_round = successor(
            results.round,
            Message("change.stronger", {"names": list(found)}),
            nuisance={**results.round.nuisance, **found},
        )
    except DesignError:
        return []
    why = reason("proposal.stronger", own, ranges=found, not_fit=not_fit(results))
    return [proposal("regularise", why, own, made_round)]


def _none(own: Sequence[Finding], known: Sequence[str]) -> list[Proposal]:
    return [proposal("regularise", reason("proposal.no_regulariser", own, known=known), own)]
