"""A finding: one question of the checklist, answered by typed evidence and by actions.

The words are made from these facts by `messages`, when somebody reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

from tunewright import messages
from tunewright.actions import Action
from tunewright.facts import Facts
from tunewright.messages import Message, Text, Words, markup, words

Verdict = Literal["ok", "note", "warn", "cannot_judge"]
VERDICTS: tuple[Verdict, ...] = ("warn", "note", "ok", "cannot_judge")  # the gravest first
Scope = Literal["study", "round"]
_MOST_LINES = 40  # of findings printed as text


@dataclass(frozen=True)
class Evidence(Facts):
    """What a check measured. Each check has one frozen subclass, in its own file."""


@dataclass(frozen=True)
class NotJudged(Evidence):
    """Why a check cannot judge."""

    why: Message


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one check found about one study or the whole round, and what to do about it.

    >>> import tunewright as tw
    >>> from tunewright.testing.surfaces import Bowl
    >>> from tunewright.testing.worlds import World, results
    >>> rates = tw.Round("rates", goal="?", nuisance={"lr": tw.log(1e-3, 1)}, trials_per_study=20)
    >>> edge = World(Bowl({"lr": 1.0}))  # the best rate is at the edge of the range
    >>> [one.verdict for one in tw.check(results(rates, edge)) if one.check == "boundary"]
    ['warn']
    """

    check: str  # the question: the name of the file that asks it
    scope: Scope  # one study, or the whole round
    about: str  # the study's label, or the round's name
    verdict: Verdict  # ok, note, warn, or cannot_judge
    evidence: Evidence  # what was measured, one class per check
    actions: tuple[Action, ...] = ()  # what to do next, in order
    chance_among: int | None = None  # a warning made a note: chance explains it in so many studies

    @classmethod
    def of_study(
        cls,
        check: str,
        about: str,
        verdict: Verdict,
        evidence: Evidence,
        actions: tuple[Action, ...] = (),
    ) -> Finding:
        """A finding about the study with this label."""
        return cls(
            check=check,
            scope="study",
            about=about,
            verdict=verdict,
            evidence=evidence,
            actions=actions,
        )

    @classmethod
    def of_round(
        cls,
        check: str,
        about: str,
        verdict: Verdict,
        evidence: Evidence,
        actions: tuple[Action, ...] = (),
    ) -> Finding:
        """A finding about the round with this name."""
        return replace(cls.of_study(check, about, verdict, evidence, actions), scope="round")

    @cached_property
    def words(self) -> Words:
        """The finding in words: a headline, then its evidence."""
        plain_words = messages.finding(self.check, self.verdict, self.evidence.to_data())
        if self.chance_among is None:
            return plain_words
        chance = messages.text("finding.by_chance", {"studies": self.chance_among})
        return replace(plain_words, evidence=(*plain_words.evidence, chance))

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
        about = words.phrase("of", name=self.about)
        return f"{self.verdict:12}  {self.check}  {about}{self.words}"

    def _repr_html_(self) -> str:
        """Headline, evidence and actions as a notebook shows them; actions are calls."""
        return markup.alone(_entry([self]))

    def __repr__(self) -> str:
        """The verdict and the headline, without the evidence."""
        line = f"<{self.verdict} {self.check} ({self.about}): {self.headline}>"
        return words.one_line(line)


def not_judged(
    check: str, about: str, why: Message, *actions: Action, scope: Scope = "study"
) -> Finding:
    """A check that cannot judge, why, and what would let it."""
    return Finding(
        check=check,
        scope=scope,
        about=about,
        verdict="cannot_judge",
        evidence=NotJudged(why),
        actions=actions,
    )


class Findings(list[Finding]):
    """The answers of the checklist: a list that a notebook shows as one page, warnings first."""

    @property
    def tally(self) -> Message:
        """How many warn, note, are fine, and could not be judged."""
        verdicts = [finding.verdict for finding in self]
        return Message("card.findings", {v: verdicts.count(v) for v in get_args(Verdict)})

    def of(self, *verdicts: Verdict) -> Findings:
        """Those with one of these verdicts, in the order of the checklist."""
        return Findings(finding for finding in self if finding.verdict in verdicts)

    def __repr__(self) -> str:
        """The counts, then one line for each that warns or notes."""
        pressing = [f"  {finding!r}" for finding in (*self.of("warn"), *self.of("note"))]
        return "\n".join([f"<Findings: {self.tally}>", *pressing[:_MOST_LINES]])

    def _repr_html_(self) -> str:
        """Warnings and notes; what is fine or could not be judged stands below, folded."""
        folds = []
        for code, verdict in (("card.fine", "ok"), ("card.not_judged", "cannot_judge")):
            of_verdict = [finding for finding in self if finding.verdict == verdict]
            folds.append((Message(code, {"count": len(of_verdict)}).text, _entries(of_verdict)))
        pressing = _entries([*self.of("warn"), *self.of("note")])
        return markup.with_folds(pressing, folds, self.tally.text)


def _entries(findings: Sequence[Finding]) -> list[str]:
    """Items of a list: settings with the same headline and remedy share one."""
    groups: list[tuple[Any, list[Finding]]] = []
    for finding in findings:
        key = (finding.verdict, finding.check, finding.headline, finding.actions)
        same = next((group for known, group in groups if known == key), None)
        if same is None:
            groups.append((key, [finding]))
        else:
            same.append(finding)
    return [_entry(group) for _, group in groups]


def _entry(group: Sequence[Finding]) -> str:
    """Findings that share a headline as one item; actions are calls."""
    first = group[0]
    actions_shown = () if first.verdict == "ok" else first.actions
    actions = [(action.code_for("python"), action.text) for action in actions_shown]
    if len(group) == 1:
        about = () if first.scope == "round" else (first.about,)
        return markup.finding(first.verdict, first.check, [(about, first.words)], actions)
    lines = tuple(
        Message("checklist.of_setting", {"about": action.about, "text": line}).text
        for action in group
        for line in action.words.evidence
    )
    text = Words(first.headline, lines)
    return markup.finding(first.verdict, first.check, [((), text)], actions)


def merge_not_judged(findings: Iterable[Finding], round_name: str) -> list[Finding]:
    """The findings, where a reason that keeps every study from being judged is given only once."""
    kept = list(findings)
    first = kept[0] if kept else None
    if first is None or len(kept) == 1 or first.verdict != "cannot_judge":
        return kept
    if any((f.verdict, f.evidence) != (first.verdict, first.evidence) for f in kept):
        return kept
    return [replace(first, scope="round", about=round_name)]
