"""The answer of a probe on a screen: headline, sentence, what is missing, the settings, caveats."""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.messages import Message, words
from tunewright.present.terminal.screen import say
from tunewright.probes.probe import Answer


def print_answer(answer: Answer, caveats: Sequence[Message] = ()) -> None:
    """The end of every probe's page."""
    say()
    say(words.printable(answer.headline), style="bold")
    say(words.printable(answer.message.text))
    for lack in answer.missing:
        say(f"  missing: {words.printable(lack.text)}")
    if answer.settings:
        say()
        say("For the configuration:")
        for name, value in answer.settings.items():
            say(f"  {name} = {value!r}")
    for caveat in caveats:
        say(f"  caveat: {words.printable(caveat.text)}")
