"""What is being claimed, and what forbids claiming it?

A *feature* is whatever a round asked about: its scientific hyperparameters, or new code. Launching
one adds something that has to be kept, so one must be surer. Everything else is a change of
*hyperparameters* only, which costs nothing to launch: the playbook asks for no certainty there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tunewright.checks.fairness import FairnessEvidence
from tunewright.design.ranges import same_value
from tunewright.finding import Finding
from tunewright.launches.arm import Arm, other_code
from tunewright.launches.plan import Claim
from tunewright.launches.terms import LaunchTerms
from tunewright.messages import Message

# nothing of the round means anything
_FATAL = frozenset({"baseline", "training_bug"})
# the settings were not compared at their best; a point can still be shipped
_UNFAIR = frozenset({"overfitting", "fairness", "boundary", "edge_of_divergence", "applied"})
# the repeats decide, not the trials of the round: what differs between those only limits
LIMITS = frozenset({"same_code"})


def changed(candidate: Arm, baseline: Arm) -> tuple[str, ...]:
    """The hyperparameters in which the two configurations differ."""
    one, other = candidate.configuration, baseline.configuration
    names = dict.fromkeys([*one, *other])
    return tuple(
        name
        for name in names
        if name not in one or name not in other or not same_value(one[name], other[name])
    )


def claim_of(candidate: Arm, baseline: Arm, declared: Claim | None = None) -> tuple[Claim, Message]:
    """What launching this candidate claims, and why it is taken to be that."""
    if declared is not None:
        return declared, Message("launch.claim_declared", {"claim": declared})
    if other_code(candidate, baseline):
        return "feature", Message("launch.claim_other_code", {"claim": "feature"})
    names = changed(candidate, baseline)
    if not names:
        return "feature", Message("launch.claim_unknown_change", {"claim": "feature"})
    asked = [
        name
        for name in names
        if any(
            arm.round is not None and name in arm.round.scientific for arm in (candidate, baseline)
        )
    ]
    if asked:
        return "feature", Message("launch.claim_scientific", {"claim": "feature", "names": asked})
    facts = {"claim": "hyperparameters", "names": list(names)}
    return "hyperparameters", Message("launch.claim_not_asked", facts)


def unlike(candidate: Arm, baseline: Arm, terms: LaunchTerms) -> list[Message]:
    """Why two arms cannot be compared as they are: no seed was used, or not trained as long."""
    found: list[Message] = []
    arms = (candidate, baseline)
    if not terms.deterministic and not (candidate.deterministic and baseline.deterministic):
        same = [arm for arm in arms if arm.identical and arm.alike is not False]
        if len(same) == len(arms) or any(arm.alike for arm in same):
            runs = {arm.label: len(arm.values) for arm in same}
            found.append(Message("launch.identical_repeats", {"runs": runs}))
    lengths = [arm.steps for arm in arms]
    if None not in lengths and lengths[0] != lengths[1] and not terms.any_length:
        facts = {"candidate": lengths[0], "baseline": lengths[1]}
        found.append(Message("launch.different_lengths", facts))
    return found


def objections(
    findings: Iterable[Finding], claim: Claim, candidate: Arm, baseline: Arm
) -> tuple[list[Message], list[Message]]:
    """What forbids the claim, and what only limits it, from the warnings of the checklist."""
    forbidding: list[Message] = []
    limiting: list[Message] = []
    studies = {candidate.study, baseline.study, "all"}
    for finding in findings:
        limiting += _of_batch_size(finding)
        if finding.verdict != "warn":
            continue
        facts = _facts(finding)
        if facts["scope"] == "study" and facts["about"] not in studies:
            continue
        objection = Message("launch.finding", facts)
        if finding.check in _FATAL or (finding.check in _UNFAIR and claim == "feature"):
            forbidding.append(objection)
        elif finding.check in _UNFAIR | LIMITS:
            limiting.append(objection)
    return forbidding, limiting


def _of_batch_size(finding: Finding) -> list[Message]:
    """That the candidate's round keeps values which were tuned for another batch size."""
    seen = finding.evidence
    kept = seen.kept if isinstance(seen, FairnessEvidence) else None
    return [] if kept is None else [kept.message]


def _facts(finding: Finding) -> dict[str, Any]:
    """The facts of a finding that a reason or caveat carries."""
    data = finding.to_data()
    return {name: data[name] for name in ("check", "verdict", "scope", "about", "evidence")}
