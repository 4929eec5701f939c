"""A report on a screen: the verdict, the checklist, the studies, and the figures in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from tunewright.messages import words
from tunewright.present.answer import Answer
from tunewright.present.chapters import Chapter
from tunewright.present.terminal.checklist_page import print_checklist
from tunewright.present.terminal.round_page import studies_table
from tunewright.store.results import Results

LABEL = 12  # width of the left column


def print_report(
    results: Results, told: Answer, chapters: Iterable[Chapter], console: Console
) -> None:
    """Print the report: verdict first, then what every figure shows, in words."""

    def line(label: str, text: str, style: str = "") -> None:
        shown = words.printable(" ".join(text.split()))
        made = Text.assemble((label.ljust(LABEL), "dim"), (shown, style))
        console.print(made, soft_wrap=True)

    console.print(Text(words.printable(results.round.name), style="bold"))
    line("asked", told.asked)
    line("trust", told.trust, "bold yellow" if told.warnings else "")
    for label, text in _pairs(told):
        line(label, text)
    for note in results.notes:
        line("note", note)
    console.print()
    print_checklist(results, [*told.doubts, *told.fine, *told.unknown], console)
    console.print()
    console.print(studies_table(results))
    for chapter in chapters:
        console.print()
        console.print(Text(chapter.heading, style="bold"))
        for said in [chapter.missing, *(figure.says for figure in chapter.figures)]:
            if said:
                console.print(Text(words.printable(said)), soft_wrap=True)


def _pairs(told: Answer) -> Iterator[tuple[str, str]]:
    for place, sentence in enumerate(told.found):
        yield "" if place else "found", sentence
    if told.caveats:
        yield "caveats", "; ".join(told.caveats)
    for place, step in enumerate(told.next):
        yield "" if place else "next", f"{step.command}  ({step.why})"
