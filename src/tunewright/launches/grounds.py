"""What is being claimed, and what forbids claiming it?

A *feature* is whatever a round asked about: its scientific hyperparameters, or new code. Launching
one adds something that has to be kept, so one must be surer. Everything else is a change of
*hyperparameters* only, which costs nothing to launch: the playbook asks for no certainty there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tunewright.design.ranges import same_value
from tunewright.finding import Finding, is_about_round
from tunewright.launches.arm import Arm
from tunewright.launches.plan import Claim

# nothing of the round means anything
FATAL: Mapping[str, str] = {
    "baseline": "nothing has been learned",
    "training_bug": "the training itself looks wrong",
}
# the settings were not compared at their best; a point can still be shipped
UNFAIR: Mapping[str, str] = {
    "overfitting": "the best trials overfit: regularise before comparing settings",
    "fairness": "the settings were not tuned equally well",
    "boundary": "the best trials crowd at the end of a range",
    "edge_of_divergence": "the best learning rate is held down by instability",
}

# the repeats decide, not the trials of the round: what differs between those only limits
LIMITS: Mapping[str, str] = {"same_code": "the round's trials do not come from the same code"}


def changed(candidate: Arm, baseline: Arm) -> tuple[str, ...]:
    """The hyperparameters in which the two configurations differ."""
    one, other = candidate.configuration, baseline.configuration
    names = dict.fromkeys([*one, *other])
    return tuple(
        name
        for name in names
        if name not in one or name not in other or not same_value(one[name], other[name])
    )


def claim_of(candidate: Arm, baseline: Arm) -> tuple[Claim, str]:
    """What launching this candidate claims, and why it is taken to be that."""
    if candidate.code and baseline.code and candidate.code != baseline.code:
        return "feature", "the candidate ran other code than the baseline"
    names = changed(candidate, baseline)
    if not names:
        return "feature", "the record does not say what was changed"
    asked = [
        name
        for name in names
        if any(
            arm.round is not None and name in arm.round.scientific for arm in (candidate, baseline)
        )
    ]
    if asked:
        return "feature", f"{', '.join(asked)}: what the round asked about"
    return "hyperparameters", f"only {', '.join(names)} changed, which the round did not ask about"


def objections(
    findings: Iterable[Finding], claim: Claim, candidate: Arm, baseline: Arm
) -> tuple[list[str], list[str]]:
    """What forbids the claim, and what only limits it, from the warnings of the checklist."""
    forbidding: list[str] = []
    limiting: list[str] = []
    about = {candidate.study, baseline.study, "all"}
    for finding in findings:
        if finding.verdict != "warn":
            continue
        whole = is_about_round(finding)
        if finding.about not in about and not whole:
            continue
        of = "" if whole else f" ({finding.about})"
        if finding.check in FATAL:
            forbidding.append(f"{FATAL[finding.check]}{of}: {finding.says}")
        elif finding.check in UNFAIR:
            text = f"{UNFAIR[finding.check]}{of}: {finding.says}"
            (forbidding if claim == "feature" else limiting).append(text)
        elif finding.check in LIMITS:
            limiting.append(f"{LIMITS[finding.check]}: {finding.says}")
    return forbidding, limiting
