"""Train longer where the best were still improving, shorter where they had levelled off."""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.actions import Extend
from tunewright.advice.compute_bound import increasing
from tunewright.advice.extend import extension, trained_steps
from tunewright.advice.proposal import Proposal, proposal, reason, successor
from tunewright.checks.saturated import SaturatedEvidence
from tunewright.checks.still_improving import StillImprovingEvidence
from tunewright.errors import TunewrightError
from tunewright.finding import Finding
from tunewright.messages import Message
from tunewright.store.results import Results

TIMES = 2  # as long, when nothing shows how much longer


def longer(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """A longer round in the neighbourhood of the best, where training was cut off."""
    own = [f for f in findings if f.check == "still_improving" and f.verdict == "warn"]
    return _longer(results, own, "proposal.longer") if own else []


def in_doubt(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Longer, where every one of the best trials was best in the last quarter of training.

    A falling learning rate hides whether training ends too early: when in doubt, longer. Where
    the second half of training changed nothing there is no doubt.
    """
    if any(f.check == "saturated" and f.verdict == "warn" for f in findings):
        return []
    own = [f for f in findings if f.check == "still_improving" and _late(f)]
    made = _longer(results, own, "proposal.longer_in_doubt") if own else []
    return [one for one in made if one.round is not None]


def _late(finding: Finding) -> bool:
    seen = finding.evidence
    return isinstance(seen, StillImprovingEvidence) and seen.consistently_late


def _longer(results: Results, own: Sequence[Finding], code: str) -> list[Proposal]:
    try:
        steps = TIMES * trained_steps(results)
        made = extension(results, steps)
    except TunewrightError as error:
        why = reason("proposal.longer_impossible", own, problems=error.problems)
        return [proposal("longer", why, own)]
    why = reason(code, own, steps=steps, rule=made.rule, lengths=increasing(steps))
    extend = (Extend(results.round.name, steps),)
    return [proposal("longer", why, own, made.round, extend)]


def shorter(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """The same round with fewer steps, where the second half of training changed nothing."""
    if any(f.check == "still_improving" and f.verdict == "warn" for f in findings):
        return []  # what is too short for one study is not shortened for another
    own = [f for f in findings if f.check == "saturated" and f.verdict == "warn"]
    seen = [f.evidence for f in own if isinstance(f.evidence, SaturatedEvidence)]
    steps = [one.proposed_max_train_steps for one in seen if one.proposed_max_train_steps]
    name = results.meaning.name("max_train_steps")
    if not steps or name not in results.round.fixed:
        return []
    # enough for every study, and for every step at which one of the best was reached
    long = max([*steps, *(step for one in seen for step in one.best_steps)])
    now = results.round.fixed[name]
    try:
        if long >= trained_steps(results):
            return []
    except TunewrightError:
        return []
    made = successor(
        results.round,
        Message("change.steps", {"steps": long, "before": now}),
        fixed={**results.round.fixed, name: long},
    )
    why = reason("proposal.shorter", own, steps=long, before=now)
    return [proposal("shorter", why, own, made)]
