"""A report on a screen: the verdict, the checklist, the studies, and the figures in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from tunewright.messages import Reader, words
from tunewright.present.answer import Answer
from tunewright.present.chapters import Chapter
from tunewright.present.terminal.checklist_page import print_checklist
from tunewright.present.terminal.round_page import studies_table
from tunewright.store.results import Results

LABEL = 12  # width of the left column


def print_report(
    results: Results,
    answer: Answer,
    chapters: Iterable[Chapter],
    console: Console,
    reader: Reader = "shell",
) -> None:
    """Print the report: verdict first, then what every figure shows, in words."""

    def line(label: str, text: str, style: str = "") -> None:
        made = Text.assemble((label.ljust(LABEL), "dim"), (words.one_line(text), style))
        console.print(made, soft_wrap=True)

    console.print(Text(words.printable(results.round.name), style="bold"))
    line("asked", answer.asked)
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
        for said in [chapter.missing, *(figure.says for figure in chapter.figures)]:
            if said:
                console.print(Text(words.printable(said)), soft_wrap=True)


def _pairs(answer: Answer, reader: Reader) -> Iterator[tuple[str, str]]:
    sentences = [message.text_for(reader) for message in answer.found]
    for finding in answer.compared:
        sentences += [finding.words.headline, *finding.words.evidence]
    for place, sentence in enumerate(sentences):
        yield "" if place else "found", sentence
    if answer.caveats:
        yield "caveats", "; ".join(caveat.text for caveat in answer.caveats)
    for place, step in enumerate(answer.next):
        typed = step.action.code_for(reader) or step.action.text_for(reader)
        yield "" if place else "next", f"{typed}  ({step.why.text_for(reader)})"
