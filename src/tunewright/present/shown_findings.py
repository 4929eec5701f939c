"""Findings as pages show them: headline, evidence, actions; studies that agree share an entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tunewright.actions import Action
from tunewright.finding import Finding, Verdict
from tunewright.messages import Message, Reader, Words, markup, words

# in the order they are shown
VERDICTS: tuple[Verdict, ...] = ("warn", "note", "ok", "cannot_judge")
TERSE: tuple[Verdict, ...] = ("ok", "cannot_judge")  # one line each in a terminal


@dataclass(frozen=True)
class Entry:
    """One verdict of one question and what to do about it, for all settings that share it."""

    verdict: Verdict
    check: str
    found: tuple[tuple[str, Words], ...]  # for each setting; unnamed for the whole round
    actions: tuple[Action, ...] = ()
    others: int = 0  # settings with the same verdict that are not shown


def entries(findings: Sequence[Finding]) -> list[Entry]:
    """Warnings first, each verdict in the order of the checklist.

    Settings that are fine, or cannot be judged, share the entry of the first of them.
    """
    made = [_entry(group) for group in groups(findings)]
    return [entry for verdict in VERDICTS for entry in made if entry.verdict == verdict]


def groups(findings: Sequence[Finding]) -> list[list[Finding]]:
    """The findings by question, verdict and remedy; remedies do not separate terse verdicts."""
    found: list[list[Finding]] = []
    for finding in findings:
        same = [group for group in found if _alike(group[0], finding)]
        if same:
            same[0].append(finding)
        else:
            found.append([finding])
    return found


def _alike(one: Finding, other: Finding) -> bool:
    if (one.check, one.verdict) != (other.check, other.verdict):
        return False
    return one.verdict in TERSE or one.actions == other.actions


def _entry(group: Sequence[Finding]) -> Entry:
    first = group[0]
    agree = all(one.words == first.words for one in group)
    shown = group[:1] if first.verdict in TERSE and not agree else group
    others = len(group) - len(shown)
    return Entry(first.verdict, first.check, _found(shown), first.actions, others)


def _found(group: Sequence[Finding]) -> tuple[tuple[str, Words], ...]:
    """What was found for each setting; equal headlines, or findings that are equal, are one."""
    first = group[0]
    if len(group) == 1 or any(one.headline != first.headline for one in group):
        return tuple(("" if whole(one) else one.about, one.words) for one in group)
    if all(one.words == first.words for one in group):
        names = [one.about for one in group]
        about = Message("checklist.settings", {"names": names}).text
        return (("" if first.verdict in TERSE else about, first.words),)
    evidence = tuple(
        Message("checklist.of_setting", {"about": one.about, "text": line}).text
        for one in group
        for line in one.words.evidence
    )
    return (("", Words(first.headline, evidence)),)


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
    entries = [_item(group, reader) for group in groups(findings)]
    return markup.render("findings_list.html", entries=entries)


def _item(group: Sequence[Finding], reader: Reader) -> str:
    first = group[0]
    found = [((about,) if about else (), said) for about, said in _found(group)]
    shown = () if first.verdict == "ok" else first.actions
    actions = [(action.code_for(reader), action.text_for(reader)) for action in shown]
    return markup.finding(first.verdict, first.check, found, actions, first.section)
