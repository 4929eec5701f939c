"""The verdict of a report: what the round asked, what it found, what not to trust, what next."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tunewright.actions import RunTrials
from tunewright.checks.comparison import ComparisonEvidence, PairEvidence, TrendEvidence
from tunewright.design.ranges import Value, choices_of, same_value
from tunewright.finding import VERDICTS, Finding, NotJudged
from tunewright.messages import Message, words
from tunewright.present.next_step import Step, next_steps
from tunewright.present.report_parts import tally
from tunewright.present.terminal.round_page import without_fixed
from tunewright.store.results import Results

# ---- the answer to a round's question, in one line: which setting is ahead, by how much, how
# surely.
#
# The answer is yes or no only where the goal plainly asks whether something helps, and one of the
# two settings is known to be that thing switched off.


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
        counts = {"counts": results.counts, "trials": results.size}
        return Message("headline.nothing_completed", counts)
    for finding in findings:
        if finding.check == "comparison":
            evidence = finding.evidence
            if isinstance(evidence, ComparisonEvidence):
                return _comparison(results, evidence)
            if isinstance(evidence, TrendEvidence) and finding.verdict != "cannot_judge":
                facts = {"name": evidence.name, "p": evidence.p, "follows": finding.verdict == "ok"}
                return Message("headline.trend", facts)
            if isinstance(evidence, NotJudged) and results.round.scientific:
                return _not_judged(results, evidence.why)
    return _best(results)


def _best(results: Results) -> Message:
    best = results.top(1)[0]
    facts = {
        "metric": results.objective.metric,
        "value": best.value,
        "settings": settings(best.configuration, without_fixed(results.round)),
        "trial": best.shown_number,
    }
    return Message("headline.best", facts)


def _not_judged(results: Results, why: Message) -> Message:
    best = results.top(1)[0]
    ahead = results.studies[best.study].scientific
    return Message("headline.not_judged", {"best": words.settings(ahead), "why": why})


def _comparison(results: Results, evidence: ComparisonEvidence) -> Message:
    labels = [evidence.best, *(pair.other for pair in evidence.pairs)]
    known = {study.label: study.scientific for study in results.studies}
    by_label = {label: known.get(label, {}) for label in labels}
    judged = [pair for pair in evidence.pairs if pair.difference is not None]
    clear_gap = all(pair.verdict == "worse" for pair in judged)
    nearest = judged[0] if judged else evidence.pairs[0]
    facts = {
        "says": _yes_or_no(results, evidence, clear_gap),
        "best": words.settings(by_label[evidence.best]),
        "other": _value(by_label[nearest.other]),
        "others": len(evidence.pairs),
        "gap": nearest.difference,
        "trials": evidence.trials,
        "weak": evidence.weak,
        "worse": [_value(by_label[p.other]) for p in judged if p.verdict == "worse"],
    }
    return Message("headline.ahead" if clear_gap else "headline.no_clear_gap", facts)


def _value(setting: Mapping[str, Value]) -> str:
    """A setting next to another: the value alone where only one hyperparameter is scientific."""
    if len(setting) == 1:
        return words.value(next(iter(setting.values())))
    return words.settings(setting)


def _yes_or_no(results: Results, evidence: ComparisonEvidence, clear_gap: bool) -> str | None:
    """yes, no or unclear, where the goal asks whether something helps; else None."""
    declared = {n: choices_of(d) for n, d in results.round.scientific.items()}
    lists = {n: values for n, values in declared.items() if values is not None}
    if len(lists) != 1 or not asks_for_gain(results.round.goal, results.objective.minimize):
        return None
    (name,) = lists
    off = results.meaning.off_by_name.get(name, _without(lists[name]))
    if off is None:
        return None
    by_label = {study.label: study.scientific[name] for study in results.studies}
    if same_value(by_label[evidence.best], off):
        return "no" if clear_gap else "unclear"
    against = [p for p in evidence.pairs if same_value(by_label[p.other], off)]
    return "yes" if _worse(against) else "unclear"


def _worse(pairs: Sequence[PairEvidence]) -> bool:
    return bool(pairs) and all(pair.verdict == "worse" for pair in pairs)


def _without(values: Sequence[Value]) -> Value | None:
    """The value that plainly switches something off; None if no value, or more than one, does."""
    off_values = [v for v in values if any(type(v) is type(o) and v == o for o in (*_OFF, 0.0))]
    return off_values[0] if len(off_values) == 1 else None


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


# ---- answer


_MOST_STEPS = 5


@dataclass(frozen=True)
class Answer:
    """What a reader needs when they read nothing else."""

    goal: str  # of the round, as a question
    headline: Message  # the answer to it, in one line
    summary: tuple[Message, ...]  # the counts, the best trial, its repeats
    compared: tuple[Finding, ...]  # the comparisons of its scientific settings
    doubts: tuple[Finding, ...]  # warnings, then notes
    unknown: tuple[Finding, ...]  # what could not be judged, and what it needs
    fine: tuple[Finding, ...]
    caveats: tuple[Message, ...]
    next: tuple[Step, ...]  # the most useful action first

    @property
    def warnings(self) -> int:
        """How many entries of the checklist warn."""
        return tally(self.doubts)["warn"]

    @property
    def judged(self) -> bool:
        """Whether any question of the checklist could be answered."""
        return bool(self.fine or self.doubts)

    @property
    def trust(self) -> Message:
        """How far the round can be trusted, in one sentence."""
        facts = {"warnings": self.warnings, "judged": self.judged}
        facts["unknown"] = tally(self.unknown)["cannot_judge"]
        return Message("answer.trust", facts)


def answer(results: Results, findings: Sequence[Finding]) -> Answer:
    """Put the results and the checklist's findings into one answer."""
    by_verdict = {
        verdict: tuple(f for f in findings if f.verdict == verdict) for verdict in VERDICTS
    }
    compared = [f for f in findings if f.check == "comparison" and f.verdict != "cannot_judge"]
    doubts = by_verdict["warn"] + by_verdict["note"]
    return Answer(
        goal=results.round.asks,
        headline=headline(results, findings),
        summary=tuple(_summary(results)),
        compared=tuple(compared),
        doubts=doubts,
        unknown=by_verdict["cannot_judge"],
        fine=by_verdict["ok"],
        caveats=results.round.caveats,
        next=tuple(_next(results, doubts)),
    )


def _summary(results: Results) -> Iterator[Message]:
    yield Message("answer.counts", {"counts": results.counts, "trials": results.size})
    for best in results.top(1):
        facts = {
            "metric": results.objective.metric,
            "value": best.value,
            "trial": best.shown_number,
            "step": best.best_step,
            "settings": settings(best.configuration, without_fixed(results.round)),
        }
        yield Message("answer.best", facts)
        repeats = [r.value for r in results.repeats(best) if r.value is not None]
        if len(repeats) > 1:
            mean, sd = statistics.fmean(repeats), statistics.stdev(repeats)
            yield Message("answer.repeated", {"times": len(repeats), "mean": mean, "sd": sd})


def settings(configuration: Mapping[str, Any], without: Sequence[str] = ()) -> dict[str, Any]:
    """A configuration without what need not be shown.

    >>> settings({"optimizer": "adam", "steps": 9}, without=["steps"])
    {'optimizer': 'adam'}
    """
    return {name: value for name, value in configuration.items() if name not in without}


def _next(results: Results, doubts: Sequence[Finding]) -> list[Step]:
    """What each finding advises first, then what the state of the round asks for, each once."""
    advised = [
        Step(action, Message("next.advised", {"check": finding.check}))
        for finding in doubts
        for action in [action for action in finding.actions if action.argv][:1]
    ]
    # an action keeps the place where it is advised first, and the last reason for it
    steps = {step.action.argv: step for step in (*advised, *next_steps(results, reported=True))}
    ordered = list(steps.values())
    if results.counts.get("pending", 0) + results.counts.get("running", 0):
        # nothing else is worth doing first
        ordered.sort(key=lambda step: not isinstance(step.action, RunTrials))
    return ordered[:_MOST_STEPS]
