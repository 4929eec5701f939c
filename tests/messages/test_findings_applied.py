"""The check applied in every verdict: short headlines, filled in."""

from __future__ import annotations

import pytest

from tunewright.actions import Advise
from tunewright.checks._doubt import Doubt
from tunewright.checks.applied import AppliedEvidence
from tunewright.finding import Finding, Verdict
from tunewright.messages.en import findings_applied

KINDS = tuple(findings_applied.HEADLINES)


def finding_of(verdict: Verdict, evidence: AppliedEvidence) -> Finding:
    return Finding(check="applied", scope="round", about="r", verdict=verdict, evidence=evidence)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["learning_rate", "a name " * 9])
def test_headlines_are_short_and_filled_in(kind: str, name: str) -> None:
    doubt = Doubt(kind, name, 3, 8, (0, 1), (0.1, 0.2), (0.3,), "--lr")  # type: ignore[arg-type]
    evidence = AppliedEvidence(8, 8, 0, 0, 0, doubts=(doubt,))
    finding = finding_of("warn", evidence)
    assert 1 <= len(finding.headline.split()) <= 12
    for text in (finding.headline, *finding.words.evidence):
        assert not set("{}") & set(text) and "None" not in text


def test_what_is_fine_shows_what_was_looked_at() -> None:
    for confirmed in ((), ("learning_rate",)):
        evidence = AppliedEvidence(8, 8, 8, 8, 8, confirmed)
        finding = finding_of("ok", evidence)
        assert len(finding.headline.split()) <= 12 and finding.words.evidence


def test_every_advice_can_be_filled() -> None:
    for code in findings_applied.ACTIONS:
        assert Advise(code, {"name": "lr", "option": "--lr"}).text
