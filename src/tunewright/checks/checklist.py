"""The checklist: every question of the playbook about a round, in its order.

Each rule for a single trial or study is calibrated to be wrong in at most about 2 to 3 % of
healthy cases. Where one question is put to many studies some of them warn by chance: as many as
chance explains become notes, unless they are about the best setting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from tunewright.actions import Advise, for_imported
from tunewright.checks._curve_question import flags_by_chance
from tunewright.checks.applied import applied
from tunewright.checks.baseline import baseline
from tunewright.checks.boundary import boundary
from tunewright.checks.comparison import comparison
from tunewright.checks.density import density
from tunewright.checks.edge_of_divergence import edge_of_divergence
from tunewright.checks.fairness import fairness
from tunewright.checks.infeasible import infeasible
from tunewright.checks.instability import instability
from tunewright.checks.overfitting import overfitting
from tunewright.checks.periodicity import periodicity
from tunewright.checks.same_code import same_code
from tunewright.checks.saturated import SaturatedEvidence, saturated
from tunewright.checks.sensitivity import sensitivity
from tunewright.checks.step_variance import step_variance
from tunewright.checks.still_improving import StillImprovingEvidence, still_improving
from tunewright.checks.training_bug import training_bug
from tunewright.checks.validation_size import validation_size
from tunewright.checks.variance import variance
from tunewright.finding import Finding, Findings
from tunewright.store.results import Results

QUESTIONS: tuple[Callable[[Results], list[Finding]], ...] = (
    # is there anything to look at?
    baseline,
    same_code,
    applied,
    # the search space
    boundary,
    density,
    infeasible,
    # optimization failures
    edge_of_divergence,
    instability,
    training_bug,
    # training curves
    overfitting,
    step_variance,
    validation_size,
    still_improving,
    saturated,
    periodicity,
    # what the round asked
    fairness,
    comparison,
    sensitivity,
    variance,
)
_MANY = 10  # studies: with fewer, a warning of one is worth looking at


def check(results: Results) -> Findings:
    """Ask every question of the checklist about a round, in the playbook's order.

    The answer is a list; a notebook shows it as one page, warnings first.

    Args:
        results: a round as `tw.run` or `tw.load` returns it.
    """
    best = results.top(1)
    label = results.studies[best[0].study].label if best else ""
    # squares of values near the largest float are infinite, which no comparison minds
    with np.errstate(over="ignore", invalid="ignore"):
        findings = one_length([f for ask in QUESTIONS for f in by_chance(ask(results), label)])
    if not results.imported:
        return Findings(findings)
    return Findings(replace(f, actions=for_imported(f.actions)) for f in findings)


def by_chance(findings: Iterable[Finding], best: str) -> list[Finding]:
    """The answers to one question, where as many warnings as chance explains become notes."""
    kept = list(findings)
    warned = [f for f in kept if f.verdict == "warn" and f.scope == "study"]
    judged = sum(f.verdict != "cannot_judge" for f in kept)
    if judged < _MANY or len(warned) > flags_by_chance(judged):
        return kept
    return [
        replace(f, verdict="note", chance_among=judged) if f in warned and f.about != best else f
        for f in kept
    ]


# ---- Longer or shorter? The one place that decides when curves of a study point both ways.
#
# `still_improving` and `saturated` measure with different margins: curves may gain to the end, and
# gain less in all of the second half than what matters. If what matters was declared, or is known
# from repeats, that decides; otherwise the gain does. Never do both warn about one study, and never
# does one propose a shorter training beside a warning that training is too short.


_SPEAKS = ("note", "warn")


def one_length(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, with at most one opinion about the length of training for each study."""
    speaking = {(f.check, f.about): f for f in findings if f.verdict in _SPEAKS}
    outweighed: dict[tuple[str, str], Finding] = {}
    for (name, about), late in speaking.items():
        early = speaking.get(("saturated", about))
        if (
            name == "still_improving"
            and early is not None
            and "warn" in (late.verdict, early.verdict)
        ):
            mild = _milder(late, early)
            if mild is not None:
                outweighed[mild.check, about] = mild
    return [outweighed.get((f.check, f.about), f) for f in findings]


def _milder(late: Finding, early: Finding) -> Finding | None:
    """The finding that yields, as a note without a proposal; None where they do not disagree."""
    gains, settles = late.evidence, early.evidence
    if not isinstance(gains, StillImprovingEvidence) or not isinstance(settles, SaturatedEvidence):
        return None
    both = late.verdict == early.verdict == "warn"
    if early.verdict == "warn" and (settles.margin_declared or not both):
        return replace(late, verdict="note", evidence=replace(gains, immaterial=True))
    less = replace(settles, still_improving=True, proposed_max_train_steps=None)
    actions = (Advise("declare_margin"),) if not settles.margin_declared else ()
    return replace(early, verdict="note", evidence=less, actions=actions)
