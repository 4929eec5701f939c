"""A diagnosis on a screen: warnings first, each with its evidence, error rate and what to do."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from tunewright.diagnosis.answer import Answer, Diagnosis
from tunewright.messages import Message, filled, words

_STYLES = {"warn": "bold red", "note": "yellow", "ok": "green", "cannot_judge": "dim"}
ORDER = ("warn", "note", "ok", "cannot_judge")
_MOST_RUNS = 50  # shown one by one
_VERDICT = 12  # columns of the verdict


def print_diagnosis(found: Diagnosis, console: Console, everything: bool = False) -> None:
    """Print what was found, run by run; with `everything` the clean bills and silences too."""
    for run in found.runs[:_MOST_RUNS]:
        own = [one for one in found.answers if one.run == run.name]
        read = ", ".join(f"{n} ({kind})" for n, kind in run.metrics.items() if kind != "other")
        console.print(Text(f"{words.printable(run.name)}: {words.printable(read)}"), soft_wrap=True)
        own.sort(key=lambda one: ORDER.index(one.verdict))
        for one in own:
            if everything or one.verdict in ("warn", "note"):
                _print_answer(one, console)
    facts = {verdict: len(found.of(verdict)) for verdict in ("warn", "note", "cannot_judge")}
    tally = Message("diagnosis.tally", {"runs": len(found.runs), **facts})
    console.print(Text(tally.text), soft_wrap=True)


def _print_answer(one: Answer, console: Console) -> None:
    said = one.words
    verdict = filled(words.phrase(f"verdict_{one.verdict}"), _VERDICT)
    line = Text(f"  {verdict}  ", style=_STYLES[one.verdict])
    line.append(f"{one.question}: {words.printable(said.headline)}")
    console.print(line, soft_wrap=True)
    for text in said.evidence:
        console.print(Text(f"                {words.printable(text)}", style="dim"), soft_wrap=True)
    for action in one.actions if one.verdict in ("warn", "note") else ():
        console.print(Text(f"                -> {words.printable(action.text)}"), soft_wrap=True)
