"""A report on a screen: the verdict, the checklist, the studies, and the figures in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from tunewright.actions import ShowTrial
from tunewright.finding import Finding, Verdict
from tunewright.messages import Message, Reader, filled, words
from tunewright.present.answer import Answer
from tunewright.present.report_parts import TERSE, Chapter, Entry, entries, lines_of, tally
from tunewright.present.terminal.round_page import studies_table
from tunewright.present.terminal.screen import earlier_line, print_pair
from tunewright.store.results import Results

# ---- the checklist on a screen: what warns first, as headline, evidence and actions


_STYLES: dict[Verdict, str] = {
    "warn": "bold yellow",
    "note": "cyan",
    "ok": "green",
    "cannot_judge": "dim",
}
_INDENT = 6  # the width of a verdict and the space after it


def print_checklist(
    results: Results, findings: Sequence[Finding], console: Console, reader: Reader = "shell"
) -> None:
    """Print every entry with what to do about it, and how many there are of each verdict."""
    _print_all_failed(results, console, reader)
    listed = entries(findings)
    width = max((len(entry.check) for entry in listed), default=0)
    before: list[str] = []  # what to do about the entry before need not be repeated
    for entry in listed:
        _print_entry(entry, width, console)
        # a warning comes with all that can be done, the rest with what to do first
        most = {"warn": len(entry.actions), "ok": 0}.get(entry.verdict, 1)
        lines = lines_of(entry.actions[:most], reader)
        for line in lines if lines != before else ():
            console.print(
                Text(f"{' ' * (_INDENT + width + 2)}-> {line}", style="dim"), soft_wrap=True
            )
        before = lines
    if earlier := earlier_line(results):
        console.print(Text(earlier), soft_wrap=True)
    count = Message("checklist.tally", {"round": results.round.name, **tally(findings)})
    console.print(Text(count.text), soft_wrap=True)


def _print_entry(entry: Entry, width: int, console: Console) -> None:
    """The headline of each setting with its evidence below.

    What is fine or cannot be judged is one line, with its evidence in brackets.
    """
    sign = words.phrase(f"verdict_{entry.verdict}")
    terse = entry.verdict in TERSE
    below = " " * (_INDENT + width + 2)
    for place, (about, finding_words) in enumerate(entry.words_by_setting):
        line = Text(below)
        if place == 0:
            line = Text(filled(sign, _INDENT), style=_STYLES[entry.verdict])
            line.append(f"{entry.check.ljust(width)}  ", style="" if terse else "bold")
        line.append(words.phrase("of", name=words.printable(about)) if about else "", style="")
        line.append(words.printable(finding_words.headline), style="" if terse else "bold")
        evidence = [words.one_line(sentence) for sentence in finding_words.evidence]
        if entry.others:
            evidence.append(Message("checklist.others", {"others": entry.others}).text)
        if terse:
            text = words.phrase("semicolon").join(evidence)
            line.append(words.phrase("in_brackets", text=text) if evidence else "", style="dim")
            evidence = []
        console.print(line, soft_wrap=True)
        for sentence in evidence:
            console.print(Text(f"{below}{sentence}"), soft_wrap=True)


def _print_all_failed(results: Results, console: Console, reader: Reader) -> None:
    """What to look at first where no trial got anywhere."""
    ended = [trial for trial in results.rows if trial.ended]
    if not ended or any(trial.status != "failed" for trial in ended):
        return
    first = ended[0]
    facts = {"failed": len(ended), "reason": words.printable(str(first.reason or ""))}
    headline = Message("checklist.all_failed", facts).text
    console.print(Text(headline, style="bold red"), soft_wrap=True)
    for line in lines_of([ShowTrial(results.round.name, first.number or 0)], reader):
        console.print(Text(f"{' ' * _INDENT}-> {line}"), soft_wrap=True)


# ---- report page


def print_report(
    results: Results,
    answer: Answer,
    chapters: Iterable[Chapter],
    console: Console,
    reader: Reader = "shell",
) -> None:
    """Print the report: verdict first, then what every figure shows, in words."""

    def line(label: str, text: str, style: str = "") -> None:
        print_pair(console, label, words.one_line(text), style)

    console.print(Text(words.printable(results.round.name), style="bold"))
    line("asked", answer.goal)
    line("answer", answer.headline.text, "bold")
    line("trust", answer.trust.text, "bold yellow" if answer.warnings else "")
    for label, text in _pairs(answer, reader):
        line(label, text)
    for note in results.notes:
        line("note", str(note))
    console.print()
    findings = [*answer.doubts, *answer.fine, *answer.unknown]
    print_checklist(results, findings, console, reader)
    console.print()
    console.print(studies_table(results))
    for chapter in chapters:
        console.print()
        console.print(Text(chapter.heading, style="bold"))
        for sentence in [chapter.missing, *(figure.says for figure in chapter.figures)]:
            if sentence:
                console.print(Text(words.printable(sentence)), soft_wrap=True)


def _pairs(answer: Answer, reader: Reader) -> Iterator[tuple[str, str]]:
    sentences = [message.text_for(reader) for message in answer.summary]
    for finding in answer.compared:
        sentences += [finding.words.headline, *finding.words.evidence]
    for place, sentence in enumerate(sentences):
        yield "" if place else "found", sentence
    if answer.caveats:
        yield "caveats", "; ".join(caveat.text for caveat in answer.caveats)
    for place, step in enumerate(answer.next):
        typed = step.action.code_for(reader) or step.action.text_for(reader)
        yield "" if place else "next", f"{typed}  ({step.why.text_for(reader)})"
