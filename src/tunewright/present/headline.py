"""The answer to a round's question, in one line: which setting is ahead, by how much, how surely.

The answer is yes or no only where the goal plainly asks whether something helps, and one of the two
settings is known to be that thing switched off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tunewright.checks.comparison import ComparisonEvidence, PairEvidence, TrendEvidence
from tunewright.design.ranges import Value, choices_of, same_value
from tunewright.finding import Finding, NotJudged
from tunewright.messages import Message, words
from tunewright.present.terminal.round_page import without_fixed
from tunewright.store.results import Results

_ASKS = re.compile(r"^\s*(do|does|will|would|can|could|should|is|are)\b", re.IGNORECASE)
_GAINS = re.compile(
    r"\b(help|helps|improve|improves|better|useful|worth|gain|gains|beat|beats|benefit)\b",
    re.IGNORECASE,
)
_DOWN = re.compile(r"\b(lower|lowers|reduce|reduces|decrease|decreases)\b", re.IGNORECASE)
_UP = re.compile(r"\b(raise|raises|increase|increases|higher)\b", re.IGNORECASE)
_TURNED = re.compile(
    r"\b(not|no|without|hurt|hurts|harm|harms|worse|remove|removing|drop|disable|less|fewer|than)\b"
    r"|n't",
    re.IGNORECASE,
)
_OFF = (0, False, None, "none", "None", "off", "no")


def headline(results: Results, findings: Sequence[Finding]) -> Message:
    """What the round answers, as a sentence with its facts."""
    best = results.top(1)
    if not best:
        counts = {"counts": results.counts, "trials": len(results.trials)}
        return Message("headline.nothing_completed", counts)
    for finding in findings:
        if finding.check == "comparison":
            evidence = finding.evidence
            if isinstance(evidence, ComparisonEvidence):
                return _compared(results, evidence)
            if isinstance(evidence, TrendEvidence) and finding.verdict != "cannot_judge":
                facts = {"name": evidence.name, "p": evidence.p, "follows": finding.verdict == "ok"}
                return Message("headline.trend", facts)
            if isinstance(evidence, NotJudged) and results.round.scientific:
                return _unjudged(results, evidence.why)
    return _best(results)


def _best(results: Results) -> Message:
    best = results.top(1)[0]
    hidden = without_fixed(results.round)
    settings = {n: v for n, v in best.configuration.items() if n not in hidden}
    facts = {"metric": results.objective.metric, "value": best.value, "settings": settings}
    return Message("headline.best", {**facts, "trial": best.shown_number})


def _unjudged(results: Results, why: Message) -> Message:
    best = results.top(1)[0]
    ahead = results.studies[best.study].scientific
    return Message("headline.not_judged", {"best": words.settings(ahead), "why": why})


def _compared(results: Results, evidence: ComparisonEvidence) -> Message:
    labels = [evidence.best, *(pair.other for pair in evidence.pairs)]
    known = {study.label: study.scientific for study in results.studies}
    settings = {label: known.get(label, {}) for label in labels}
    judged = [pair for pair in evidence.pairs if pair.difference is not None]
    told = all(pair.verdict == "worse" for pair in judged)
    nearest = judged[0] if judged else evidence.pairs[0]
    facts = {
        "says": _says(results, evidence, told),
        "best": words.settings(settings[evidence.best]),
        "other": _value(settings[nearest.other]),
        "others": len(evidence.pairs),
        "gap": nearest.difference,
        "trials": evidence.trials,
        "weak": evidence.weak,
        "worse": [_value(settings[p.other]) for p in judged if p.verdict == "worse"],
    }
    return Message("headline.ahead" if told else "headline.no_clear_gap", facts)


def _value(setting: Mapping[str, Value]) -> str:
    """A setting next to another: the value alone where only one hyperparameter is scientific."""
    if len(setting) == 1:
        return words.value(next(iter(setting.values())))
    return words.settings(setting)


def _says(results: Results, evidence: ComparisonEvidence, told: bool) -> str | None:
    """yes, no or unclear, where the goal asks whether something helps; else None."""
    declared = {n: choices_of(d) for n, d in results.round.scientific.items()}
    lists = {n: values for n, values in declared.items() if values is not None}
    if len(lists) != 1 or not asks_for_gain(results.round.goal, results.objective.minimize):
        return None
    (name,) = lists
    off = results.meaning.off_by_name.get(name, _without(lists[name]))
    if off is None:
        return None
    settings = {study.label: study.scientific[name] for study in results.studies}
    if same_value(settings[evidence.best], off):
        return "no" if told else "unclear"
    against = [p for p in evidence.pairs if same_value(settings[p.other], off)]
    return "yes" if _worse(against) else "unclear"


def _worse(pairs: Sequence[PairEvidence]) -> bool:
    return bool(pairs) and all(pair.verdict == "worse" for pair in pairs)


def _without(values: Sequence[Value]) -> Value | None:
    """The value that plainly switches something off; None if no value, or more than one, does."""
    found = [v for v in values if any(type(v) is type(o) and v == o for o in (*_OFF, 0.0))]
    return found[0] if len(found) == 1 else None


def asks_for_gain(goal: str | Message, minimize: bool) -> bool:
    """Whether a goal plainly asks if something makes the objective better.

    No goal of a generated round does; those are messages.

    >>> asks_for_gain("Does dropout lower the validation loss?", minimize=True)
    True
    >>> asks_for_gain("Does dropout hurt?", True), asks_for_gain("Which depth?", True)
    (False, False)
    """
    if isinstance(goal, Message) or not _ASKS.search(goal) or _TURNED.search(goal):
        return False
    way = _DOWN if minimize else _UP
    return bool(_GAINS.search(goal) or way.search(goal))
