"""How the answer of a probe is shown: the sentence, the settings, and what a judgement lacks."""

from __future__ import annotations

from tunewright.messages import words
from tunewright.present.terminal.screen import say, show_json
from tunewright.probes.probe import Answer, as_document


def show_answer(answer: Answer, json: bool) -> None:
    """The end of every probe: the sentence, the lines for the configuration, what is missing."""
    if json:
        show_json(as_document(answer))
        return
    say()
    say(words.printable(answer.says[:1].upper() + answer.says[1:]), style="bold")
    for text in answer.missing:
        say(f"  missing: {words.printable(text)}")
    if answer.settings:
        say()
        say("For the configuration:")
        for name, value in answer.settings.items():
            say(f"  {name} = {value!r}")
