"""A finding: one question of the checklist, answered with its numbers and the next command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Verdict = Literal["ok", "note", "warn", "cannot_judge"]


@dataclass(frozen=True)
class Finding:
    """What one check says about one study (or the whole round), and what to do about it.

    >>> print(Finding("overfitting", "dropout=0", "warn", "validation error rose by 12 %"))
    warn          overfitting  dropout=0: validation error rose by 12 %
    """

    check: str  # the question, which is the name of the file that asks it
    about: str  # the study's setting, or the round
    verdict: Verdict
    says: str  # one sentence with the numbers
    evidence: Mapping[str, Any] = field(default_factory=dict)  # plain data: numbers, text, lists
    advice: tuple[str, ...] = ()  # what to do, in order, with the next command
    section: str = ""  # of the playbook

    def __str__(self) -> str:
        """The verdict, the question and the sentence on one line."""
        return f"{self.verdict:12}  {self.check}  {self.about}: {self.says}"


def said_once(findings: Iterable[Finding], round_name: str) -> list[Finding]:
    """The findings, where a reason that keeps every study from being judged is given only once."""
    kept = list(findings)
    first = kept[0] if kept else None
    if (
        first is None
        or len(kept) == 1
        or first.verdict != "cannot_judge"
        or any((f.verdict, f.says) != (first.verdict, first.says) for f in kept)
    ):
        return kept
    return [replace(first, about=f"round {round_name}")]
