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
    """The findings by question, verdict and remedy; remedies do not tell terse verdicts apart."""
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
    shown = group[:1] if agree or first.verdict in TERSE else group
    unnamed = agree and len(group) > 1
    return Entry(
        first.verdict,
        first.check,
        tuple(("" if unnamed or whole(one) else one.about, one.words) for one in shown),
        first.actions,
        0 if agree else len(group) - len(shown),
    )


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
    items = "".join(_item(group, reader) for group in groups(findings))
    return f'<ul class="findings">{items}</ul>'


def _item(findings: Sequence[Finding], reader: Reader) -> str:
    first = findings[0]
    said = [(() if whole(f) else (f.about,), f.words) for f in findings]
    if len(findings) > 1 and all(f.words == first.words for f in findings):
        together = Message("checklist.settings", {"settings": len(findings)})
        said = [((together.text,), first.words)]
    shown = () if first.verdict == "ok" else first.actions
    actions = [(action.code_for(reader), action.text_for(reader)) for action in shown]
    return markup.finding(first.verdict, first.check, said, actions, first.section)
