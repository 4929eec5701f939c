"""Change the roles: compare settings fairly, fix what does not matter, regularise, repair.

Where one setting diverges more, or has its best elsewhere, the next round gives every setting its
own ranges around its own best trials, so that neither wastes its trials.

A hyperparameter is fixed, at its value in the best trial, when no study shows a sign of it while
others do matter, and when its range holds no warning. The learning rate is never fixed.

Regularisers are known by meaning. One that the round holds fixed becomes searched; one that it
searches already, with the best still overfitting, is widened upwards.

The commands are the playbook's own order: see the instability closer, then warm up, then clip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tunewright.actions import Action, CheckRound, Probe, RunTrials, ShowRound
from tunewright.advice.proposal import (
    Proposal,
    enough_for,
    fixed_at,
    proposal,
    reason,
    successor,
    with_ranges,
)
from tunewright.advice.widen import around_the_best
from tunewright.checks._better_half import TOP
from tunewright.checks._training_fit import TrainingFit, training_fit
from tunewright.checks.infeasible import InfeasibleEvidence
from tunewright.checks.overfitting import OverfittingEvidence
from tunewright.checks.sensitivity import SensitivityEvidence
from tunewright.design.conditions import Given
from tunewright.design.names import Meaning
from tunewright.design.presets import SPACES
from tunewright.design.range import in_digits
from tunewright.design.ranges import Range, Value, choices_of, is_number, linear, log
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.finding import Finding
from tunewright.messages import Message
from tunewright.store.results import Results

# strengths worth searching where nothing is known but the name
_STRENGTHS: Mapping[str, Range] = {"dropout": linear(0.0, 0.5), "label_smoothing": linear(0.0, 0.2)}
_ANY_STRENGTH = log(1e-6, 1e-2)
_DECADES = 100.0  # either way around a strength that is in use
_BROKEN = ("baseline", "training_bug")  # nothing else means anything until these are fixed
UNSTABLE = ("edge_of_divergence", "instability")
_PROBES = ("stability", "warmup", "clip")


def compare_again(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """A round that asks the same question under equal conditions."""
    own = [f for f in findings if f.check in ("fairness", "same_code") and f.verdict == "warn"]
    if not own:
        return []
    made = own_ranges(results) if own[0].check == "fairness" else None
    if made is not None:
        return [proposal("compare_again", reason("proposal.own_ranges", own), own, made)]
    # no trial of the old round counts, so the points and seeds are new
    again = {"seed": results.round.seed + 1, "continues": ""}
    made = successor(results.round, Message("change.compared_again"), **again)
    code = "proposal.one_code" if own[0].check == "same_code" else "proposal.equal_trials"
    check = (CheckRound(made.name),)
    return [proposal("compare_again", reason(code, own), own, made, check)]


def own_ranges(results: Results) -> Round | None:
    """The round with separate ranges for every value of its one scientific list; else None."""
    round = results.round
    if len(round.scientific) != 1:
        return None
    ((name, declared),) = round.scientific.items()
    if choices_of(declared) is None or isinstance(round.nuisance.get(name), Given):
        return None
    narrower = {
        study.scientific[name]: around_the_best(results, [study.number])
        for study in results.studies
    }
    shared = [c for c in round.nuisance if any(c in found for found in narrower.values())]
    if not shared:
        return None
    branches: list[tuple[Any, Mapping[str, Any]]] = [
        (value, with_ranges({n: round.nuisance[n] for n in shared}, found))
        for value, found in narrower.items()
    ]
    rest = {n: d for n, d in round.nuisance.items() if n not in shared}
    try:
        return successor(
            round,
            Message("change.own_ranges", {"names": shared, "by": name}),
            nuisance={**rest, name: Given(tuple(branches))},
        )
    except DesignError:
        return None


def fix(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """A round in which the hyperparameters without an effect are fixed."""
    values = immaterial(results, findings)
    if not values:
        return []
    own = [f for f in findings if f.check == "sensitivity"]
    try:
        made = successor(
            results.round,
            Message("change.fixed", {"names": list(values)}),
            **fixed_at(results.round, values),
        )
    except DesignError:
        return []
    return [proposal("fix", reason("proposal.fix", own, values=values), own, made)]


def immaterial(results: Results, findings: Sequence[Finding]) -> dict[str, Value]:
    """Nuisance hyperparameters no study shows a sign of, with their values in the best trial."""
    judged = [f.evidence for f in findings if isinstance(f.evidence, SensitivityEvidence)]
    best = results.top(1)
    if not judged or not best or not all(own.matter for own in judged):
        return {}
    # one without a main effect may still matter together with another
    needed = {name for own in judged for name in (*own.matter, *own.together)}
    rate = results.meaning.name("learning_rate")
    nuisance = results.round.nuisance
    return {
        name: best[0].configuration[name]
        for name in nuisance
        if isinstance(nuisance[name], Range)
        and name != rate
        and name in best[0].configuration
        and name not in needed
        and all(name in own.unseen for own in judged)
    }


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
    number = float(value)
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


def finish(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Run what is left of a round before anything is concluded from it."""
    del findings
    left = results.unfinished  # joined trials have all ended
    own = results.size - sum(t.origin is not None for t in results.rows)
    if not left and own:
        return []
    why = reason("proposal.no_trial_has_run")
    if own:
        why = reason("proposal.unfinished", left=left, trials_in_all=own)
    return [proposal("finish", why, actions=(RunTrials(results.round.name),))]


def mend(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """What looks like a bug: nothing learned, a training loss that rises, everything diverges."""
    own = [f for f in findings if f.check in _BROKEN and f.verdict == "warn"]
    own += [f for f in findings if _all_diverge(f)]
    name = results.round.name
    if not own and results.size and not (results.top(1) or results.unfinished):
        why = reason("proposal.none_completed", trials_in_all=results.size)
        return [proposal("repair", why, actions=(ShowRound(name),))]
    if not own:
        return []
    actions = [action for f in own for action in f.actions if action.argv] or [ShowRound(name)]
    why = reason("proposal.suspect", own)
    return [proposal("repair", why, own, actions=tuple(dict.fromkeys(actions)))]


def stabilise(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Instability that holds the learning rate down: probes that find its remedy."""
    own = [f for f in findings if f.check in UNSTABLE and f.verdict == "warn"]
    own += [f for f in findings if _trains_worse(f)]
    if not own:
        return []
    return [proposal("repair", reason("proposal.repair", own), own, actions=probes(results))]


def calm(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Much of the space diverges: a remedy may make it trainable (where it is not left out)."""
    own = [f for f in findings if f.check == "infeasible" and f.verdict == "warn"]
    own = [f for f in own if not _all_diverge(f)]
    if not own:
        return []
    return [proposal("repair", reason("proposal.repair", own), own, actions=probes(results))]


def probes(results: Results) -> tuple[Action, ...]:
    """The probes against instability, in the order to try them."""
    return tuple(Probe(probe, results.round.name) for probe in _PROBES)


def _all_diverge(finding: Finding) -> bool:
    """Whether so many trials are infeasible that the program itself is suspected."""
    seen = finding.evidence
    return isinstance(seen, InfeasibleEvidence) and seen.nearly_all


def _trains_worse(finding: Finding) -> bool:
    """Whether it warns that validation got worse because training did."""
    seen = finding.evidence
    if finding.verdict != "warn" or not isinstance(seen, OverfittingEvidence):
        return False
    return seen.kind == "training too"
