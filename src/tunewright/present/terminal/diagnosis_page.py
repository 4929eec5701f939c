"""A diagnosis on a screen: warnings first, each with its evidence, error rate and what to do."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from tunewright.diagnosis.answer import Answer, Diagnosis
from tunewright.finding import VERDICTS
from tunewright.messages import Message, filled, words

_STYLES = {"warn": "bold red", "note": "yellow", "ok": "green", "cannot_judge": "dim"}
_MOST_RUNS = 50  # shown one by one
_VERDICT = 12  # columns of the verdict


def print_diagnosis(diagnosis: Diagnosis, console: Console, everything: bool = False) -> None:
    """Print the answers of each run; with `everything` also what is fine or cannot be judged."""
    for run in diagnosis.runs[:_MOST_RUNS]:
        answers = [answer for answer in diagnosis.answers if answer.run == run.name]
        read = ", ".join(f"{n} ({kind})" for n, kind in run.metrics.items() if kind != "other")
        console.print(Text(f"{words.printable(run.name)}: {words.printable(read)}"), soft_wrap=True)
        answers.sort(key=lambda answer: VERDICTS.index(answer.verdict))
        for answer in answers:
            if everything or answer.verdict in ("warn", "note"):
                _print_answer(answer, console)
    facts = {verdict: len(diagnosis.of(verdict)) for verdict in ("warn", "note", "cannot_judge")}
    tally = Message("diagnosis.tally", {"runs": len(diagnosis.runs), **facts})
    console.print(Text(tally.text), soft_wrap=True)


def _print_answer(answer: Answer, console: Console) -> None:
    answer_words = answer.words
    verdict = filled(words.phrase(f"verdict_{answer.verdict}"), _VERDICT)
    line = Text(f"  {verdict}  ", style=_STYLES[answer.verdict])
    line.append(f"{answer.question}: {words.printable(answer_words.headline)}")
    console.print(line, soft_wrap=True)
    for text in answer_words.evidence:
        console.print(Text(f"                {words.printable(text)}", style="dim"), soft_wrap=True)
    for action in answer.actions if answer.verdict in ("warn", "note") else ():
        console.print(Text(f"                -> {words.printable(action.text)}"), soft_wrap=True)
