"""Longer or shorter? The one place that decides when curves of a study point both ways.

`still_improving` and `saturated` measure with different margins: curves may gain to the end, and
gain less in all of the second half than what matters. If what matters was declared, or is known
from repeats, that decides; otherwise the gain does. Never do both warn about one study, and never
does one propose a shorter training beside a warning that training is too short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tunewright.actions import Advise
from tunewright.checks.saturated import SaturatedEvidence
from tunewright.checks.still_improving import StillImprovingEvidence
from tunewright.finding import Finding

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
