"""The checklist on a screen: what warns first, each with its numbers and the next command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from tunewright.finding import Finding, Verdict, is_about_round
from tunewright.messages import words
from tunewright.present.earlier_trials import earlier_line
from tunewright.store.results import Results

# in the order they are shown
SIGNS: dict[Verdict, tuple[str, str]] = {
    "warn": ("warn", "bold yellow"),
    "note": ("note", "cyan"),
    "ok": ("ok", "green"),
    "cannot_judge": ("?", "dim"),
}
INDENT = 6  # the width of a verdict and the space after it


@dataclass(frozen=True)
class Line:
    """One verdict of one question, for one setting or for several that say the same."""

    verdict: Verdict
    check: str
    says: str
    advice: tuple[str, ...]


def lines(findings: Sequence[Finding]) -> list[Line]:
    """The findings as lines: warnings first, each verdict in the order of the checklist.

    Settings that are fine, or cannot be judged, share the line of the first of them.
    """
    made: list[Line] = []
    for check in dict.fromkeys(f.check for f in findings):
        own = [f for f in findings if f.check == check]
        for verdict in SIGNS:
            same = [f for f in own if f.verdict == verdict]
            if verdict in ("ok", "cannot_judge") and len(same) > 1:
                first = same[0]
                said = {f.says for f in same}
                others = f"{_about(first)}{first.says} (and {len(same) - 1} more)"
                says = others if len(said) > 1 else first.says
                made.append(Line(verdict, check, says, first.advice))
            else:
                made += [Line(verdict, check, _about(f) + f.says, f.advice) for f in same]
    order = list(SIGNS)
    return sorted(made, key=lambda line: order.index(line.verdict))


def print_checklist(results: Results, findings: Sequence[Finding], console: Console) -> None:
    """Print every line with what to do about it, and how many there are of each kind."""
    if failed := _all_failed(results):
        console.print(Text(failed, style="bold red"), soft_wrap=True)
    shown = lines(findings)
    width = max((len(line.check) for line in shown), default=0)
    for line in shown:
        sign, style = SIGNS[line.verdict]
        text = Text(sign.ljust(INDENT), style=style)
        text.append(f"{line.check.ljust(width)}  ", style="bold" if line.verdict == "warn" else "")
        text.append(words.printable(line.says), style="")
        console.print(text, soft_wrap=True)
        if line.verdict != "ok":
            # a warning comes with all that can be done, the rest with what to do first
            for advice in line.advice if line.verdict == "warn" else line.advice[:1]:
                arrow = f"{' ' * (INDENT + width)}  -> {words.printable(advice)}"
                console.print(Text(arrow, style="dim"), soft_wrap=True)
    if earlier := earlier_line(results):
        console.print(Text(earlier), soft_wrap=True)
    console.print(Text(_tally(results, findings)), soft_wrap=True)


def _all_failed(results: Results) -> str:
    """What to look at first where no trial got anywhere; empty otherwise."""
    ended = [trial for trial in results.trials if trial.ended]
    if not ended or any(trial.status != "failed" for trial in ended):
        return ""
    first = ended[0]
    return (
        f"{words.count(len(ended), 'trial')}, all failed: {words.printable(first.reason)}: "
        f"tunewright trial {words.printable(results.round.name)} {first.number}"
    )


def _about(finding: Finding) -> str:
    whole = finding.about == "all" or is_about_round(finding)
    return "" if whole else f"{finding.about}: "


def _tally(results: Results, findings: Sequence[Finding]) -> str:
    count = {verdict: sum(f.verdict == verdict for f in findings) for verdict in SIGNS}
    return (
        f"{words.printable(results.round.name)}: {words.count(count['warn'], 'warning')}, "
        f"{words.count(count['note'], 'note')}, {count['ok']} fine, "
        f"{count['cannot_judge']} cannot be judged"
    )
