"""A finding: one question of the checklist, answered by typed evidence and by actions.

The words are made from these facts by `messages`, when somebody reads them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from tunewright import messages
from tunewright.actions import Action
from tunewright.facts import Facts
from tunewright.messages import Message, Text, Words, markup

Verdict = Literal["ok", "note", "warn", "cannot_judge"]
Scope = Literal["study", "round"]


@dataclass(frozen=True)
class Evidence(Facts):
    """What a check measured. Each check has one frozen subclass, in its own file."""


@dataclass(frozen=True)
class NotJudged(Evidence):
    """Why a check cannot judge."""

    why: Message


@dataclass(frozen=True)
class Finding:
    """What one check found about one study or the whole round, and what to do about it."""

    check: str  # the question: the name of the file that asks it
    scope: Scope
    about: str  # the study's label, or the round's name
    verdict: Verdict
    evidence: Evidence
    actions: tuple[Action, ...] = ()
    chance_among: int | None = None  # a warning made a note: chance explains it in so many studies

    @cached_property
    def words(self) -> Words:
        """The finding in words: a headline, then its evidence."""
        made = messages.finding(self.check, self.verdict, self.evidence.to_data())
        if self.chance_among is None:
            return made
        chance = messages.text("finding.by_chance", {"studies": self.chance_among})
        return replace(made, evidence=(*made.evidence, chance))

    @property
    def headline(self) -> Text:
        """The answer in at most twelve words."""
        return self.words.headline

    @property
    def section(self) -> Text:
        """The section of the playbook that asks the question."""
        return messages.section(self.check)

    def to_data(self) -> dict[str, Any]:
        """The facts as plain data, without words."""
        return {
            "check": self.check,
            "scope": self.scope,
            "about": self.about,
            "verdict": self.verdict,
            "evidence": self.evidence.to_data(),
            "actions": [action.to_data() for action in self.actions],
            "chance_among": self.chance_among,
        }

    def __str__(self) -> str:
        """The verdict, the question and the words on one line."""
        return f"{self.verdict:12}  {self.check}  {self.about}: {self.words}"

    def _repr_html_(self) -> str:
        """Headline, evidence and actions as a notebook shows them; actions are calls."""
        about = () if self.scope == "round" else (self.about,)
        actions = [(one.code_for("python"), one.text) for one in self.actions]
        entry = markup.finding(self.verdict, self.check, [(about, self.words)], actions)
        return markup.alone(entry)


def said_once(findings: Iterable[Finding], round_name: str) -> list[Finding]:
    """The findings, where a reason that keeps every study from being judged is given only once."""
    kept = list(findings)
    first = kept[0] if kept else None
    if first is None or len(kept) == 1 or first.verdict != "cannot_judge":
        return kept
    if any((f.verdict, f.evidence) != (first.verdict, first.evidence) for f in kept):
        return kept
    return [replace(first, scope="round", about=round_name)]
