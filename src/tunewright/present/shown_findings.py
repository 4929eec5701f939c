"""Findings as pages show them: headline, evidence, actions; studies that agree share an entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tunewright.actions import Action
from tunewright.finding import Finding, Verdict
from tunewright.messages import Message, Reader, Words, markup, words

# in the order they are shown
VERDICTS: tuple[Verdict, ...] = ("warn", "note", "ok", "cannot_judge")
TERSE: tuple[Verdict, ...] = ("ok", "cannot_judge")  # one line each in a terminal


@dataclass(frozen=True)
class Entry:
    """One verdict of one question, for one setting or for several that agree."""

    verdict: Verdict
    check: str
    about: str  # the setting; empty for the whole round
    words: Words
    others: int  # settings with the same verdict that are not shown
    actions: tuple[Action, ...]


def entries(findings: Sequence[Finding]) -> list[Entry]:
    """Warnings first, each verdict in the order of the checklist.

    Settings that are fine, or cannot be judged, share the entry of the first of them.
    """
    return [
        entry
        for verdict in VERDICTS
        for check in dict.fromkeys(finding.check for finding in findings)
        for entry in _entries([f for f in findings if (f.check, f.verdict) == (check, verdict)])
    ]


def _entries(same: Sequence[Finding]) -> Iterator[Entry]:
    """The entries of one question with one verdict."""
    for finding in same:
        about = "" if whole(finding) else finding.about
        others = 0
        if finding.verdict in TERSE and len(same) > 1:
            others = len(same) - 1
            if all(one.words == finding.words for one in same):
                about, others = "", 0
        yield Entry(finding.verdict, finding.check, about, finding.words, others, finding.actions)
        if finding.verdict in TERSE:
            return


def whole(finding: Finding) -> bool:
    """Whether it is about the whole round: no setting need be named."""
    return finding.scope == "round" or finding.about == "all"


def lines_of(actions: Sequence[Action], reader: Reader) -> list[str]:
    """What to type and what it does, in two columns."""
    codes = [words.printable(action.code_for(reader)) for action in actions]
    width = max((len(code) for code in codes), default=0)
    lines = []
    for code, action in zip(codes, actions, strict=True):
        said = words.printable(action.text_for(reader))
        lines.append(f"{code.ljust(width)}    {said}".rstrip() if code else said)
    return lines


def as_markup(findings: Sequence[Finding], reader: Reader) -> str:
    """A list with one item per question and remedy: settings that share them share the item."""
    groups: list[list[Finding]] = []
    for finding in findings:
        key = (finding.check, finding.verdict, finding.actions)
        same = [g for g in groups if (g[0].check, g[0].verdict, g[0].actions) == key]
        if same:
            same[0].append(finding)
        else:
            groups.append([finding])
    return f'<ul class="findings">{"".join(_item(group, reader) for group in groups)}</ul>'


def _item(findings: Sequence[Finding], reader: Reader) -> str:
    first = findings[0]
    said = [(() if whole(f) else (f.about,), f.words) for f in findings]
    if len(findings) > 1 and all(f.words == first.words for f in findings):
        together = Message("checklist.settings", {"settings": len(findings)})
        said = [((together.text,), first.words)]
    shown = () if first.verdict == "ok" else first.actions
    actions = [(action.code_for(reader), action.text_for(reader)) for action in shown]
    return markup.finding(first.verdict, first.check, said, actions, first.section)
