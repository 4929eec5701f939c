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
    successor,
    warnings,
    with_ranges,
)
from tunewright.advice.widen import around_the_best, overfitting
from tunewright.checks._better_half import TOP
from tunewright.checks._training_fit import TrainingFit, training_fit
from tunewright.checks.infeasible import InfeasibleEvidence
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
    unfair = warnings(findings, "fairness", "same_code")
    if not unfair:
        return []
    fair_round = own_ranges(results) if unfair[0].check == "fairness" else None
    if fair_round is not None:
        return [proposal("compare_again", "proposal.own_ranges", unfair, fair_round)]
    # no trial of the old round counts, so the points and seeds are new
    again = {"seed": results.round.seed + 1, "continues": ""}
    fair_round = successor(results.round, Message("change.compared_again"), **again)
    code = "proposal.one_code" if unfair[0].check == "same_code" else "proposal.equal_trials"
    check = (CheckRound(fair_round.name),)
    return [proposal("compare_again", code, unfair, fair_round, check)]


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
    shared = [c for c in round.nuisance if any(c in ranges for ranges in narrower.values())]
    if not shared:
        return None
    branches: list[tuple[Any, Mapping[str, Any]]] = [
        (value, with_ranges({n: round.nuisance[n] for n in shared}, ranges))
        for value, ranges in narrower.items()
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
    sensitivity = [f for f in findings if f.check == "sensitivity"]
    try:
        smaller_round = successor(
            results.round,
            Message("change.fixed", {"names": list(values)}),
            **fixed_at(results.round, values),
        )
    except DesignError:
        return []
    return [proposal("fix", "proposal.fix", sensitivity, smaller_round, values=values)]


def immaterial(results: Results, findings: Sequence[Finding]) -> dict[str, Value]:
    """Nuisance hyperparameters no study shows a sign of, with their values in the best trial."""
    judged = [f.evidence for f in findings if isinstance(f.evidence, SensitivityEvidence)]
    best = results.top(1)
    if not judged or not best or not all(evidence.matter for evidence in judged):
        return {}
    # one without a main effect may still matter together with another
    needed = {name for evidence in judged for name in (*evidence.matter, *evidence.together)}
    rate = results.meaning.name("learning_rate")
    nuisance = results.round.nuisance
    return {
        name: best[0].configuration[name]
        for name in nuisance
        if isinstance(nuisance[name], Range)
        and name != rate
        and name in best[0].configuration
        and name not in needed
        and all(name in evidence.unseen for evidence in judged)
    }


def regularise(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """A round that tunes the regularisers beside the rest, where the best trials overfit."""
    overfit = overfitting(findings)
    if not overfit:
        return []
    known = results.meaning.regularisers
    round = results.round
    fixed = {n: v for n, v in round.fixed.items() if n in known}
    if not fixed:
        searched = {n: d for n, d in round.nuisance.items() if n in known and isinstance(d, Range)}
        return _stronger(results, overfit, searched) or _none(overfit, known)
    added = {
        name: range
        for name, value in fixed.items()
        if (range := strength(name, value, results.meaning, round.fixed)) is not None
    }
    if not added:
        return _none(overfit, known)
    first = next(iter(added))
    choices = [{first: added[first]}]  # one at a time is cheaper, and shows which helps
    if len(added) > 1:
        choices.append(added)
    fit = not_fit(results)
    code = "proposal.regularise"
    return [
        proposal("regularise", code, overfit, _with(round, ranges), ranges=ranges, not_fit=fit)
        for ranges in choices
    ]


def not_fit(results: Results) -> TrainingFit | None:
    """How far the best trials are from fitting the training set, where they do not.

    Regularisation is then unlikely to help (playbook, "Deciding how long to train").
    """
    fit = training_fit(results, results.top(TOP))
    return None if fit is None or fit.fits else fit


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
    regularised = successor(
        round,
        Message("change.regularised", {"names": list(added)}),
        nuisance={**added, **round.nuisance},
        fixed={n: v for n, v in round.fixed.items() if n not in added},
    )
    return replace(regularised, trials_per_study=enough_for(regularised))


def _stronger(
    results: Results, overfit: Sequence[Finding], searched: Mapping[str, Range]
) -> list[Proposal]:
    """What is searched already reaches further up."""
    stronger: dict[str, Range] = {}
    for name, range in searched.items():
        fractions = range.count is None and range.scale != "log_from_one"
        if fractions and (move := range.widen("high")) is not None:
            stronger[name] = move.range
    if not stronger:
        return []
    try:
        stronger_round = successor(
            results.round,
            Message("change.stronger", {"names": list(stronger)}),
            nuisance={**results.round.nuisance, **stronger},
        )
    except DesignError:
        return []
    code, fit = "proposal.stronger", not_fit(results)
    return [proposal("regularise", code, overfit, stronger_round, ranges=stronger, not_fit=fit)]


def _none(overfit: Sequence[Finding], known: Sequence[str]) -> list[Proposal]:
    return [proposal("regularise", "proposal.no_regulariser", overfit, known=known)]


def finish(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Run what is left of a round before anything is concluded from it."""
    del findings
    left = results.unfinished  # joined trials have all ended
    laid_out = results.size - sum(t.origin is not None for t in results.rows)
    if not left and laid_out:
        return []
    run = (RunTrials(results.round.name),)
    if not laid_out:
        return [proposal("finish", "proposal.no_trial_has_run", actions=run)]
    code = "proposal.unfinished"
    return [proposal("finish", code, actions=run, left=left, trials_in_all=laid_out)]


def suspect(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """What looks like a bug: nothing learned, a training loss that rises, everything diverges."""
    broken = warnings(findings, *_BROKEN) + [f for f in findings if _all_diverge(f)]
    name = results.round.name
    if not broken:
        if not results.size or results.top(1) or results.unfinished:
            return []
        code, show = "proposal.none_completed", (ShowRound(name),)
        return [proposal("repair", code, actions=show, trials_in_all=results.size)]
    actions = [action for f in broken for action in f.actions if action.argv] or [ShowRound(name)]
    distinct = tuple(dict.fromkeys(actions))
    return [proposal("repair", "proposal.suspect", broken, actions=distinct)]


def stabilise(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Instability that holds the learning rate down: probes that find its remedy."""
    unstable = warnings(findings, *UNSTABLE) + overfitting(findings, training_too=True)
    return _repair(results, unstable)


def calm(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Much of the space diverges: a remedy may make it trainable (where it is not left out)."""
    return _repair(results, [f for f in warnings(findings, "infeasible") if not _all_diverge(f)])


def _repair(results: Results, because: list[Finding]) -> list[Proposal]:
    if not because:
        return []
    return [proposal("repair", "proposal.repair", because, actions=probes(results))]


def probes(results: Results) -> tuple[Action, ...]:
    """The probes against instability, in the order to try them."""
    return tuple(Probe(probe, results.round.name) for probe in _PROBES)


def _all_diverge(finding: Finding) -> bool:
    """Whether so many trials are infeasible that the program itself is suspected."""
    seen = finding.evidence
    return isinstance(seen, InfeasibleEvidence) and seen.nearly_all
