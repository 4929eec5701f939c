"""The family of commands `tunewright probe ...`, and how an answer is shown."""

from __future__ import annotations

from typing import Any

import typer

from tunewright.cli import words
from tunewright.cli.screen import say, show_json
from tunewright.probes.probe import Answer, as_document

PROBES: tuple[Any, ...] = ()

probe = typer.Typer(
    name="probe",
    help="Short experiments that settle one setting: batch size, steps, warm-up, clipping, input.",
    no_args_is_help=True,
)
for verb in PROBES:
    probe.command()(verb)


def show_answer(answer: Answer, json: bool) -> None:
    """The end of every probe: the sentence, the lines for the configuration, what is missing."""
    if json:
        show_json(as_document(answer))
        return
    say()
    say(words.printable(answer.says), style="bold")
    for text in answer.missing:
        say(f"  missing: {words.printable(text)}")
    if answer.settings:
        say()
        say("For the configuration:")
        for name, value in answer.settings.items():
            say(f"  {name} = {value!r}")
