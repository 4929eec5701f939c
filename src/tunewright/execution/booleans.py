"""How a program spells true and false on its command line: a pair of words, or a flag.

    command("python train.py --nesterov={nesterov}", booleans="True/False")
    command("python train.py --nesterov={nesterov} --amp={amp}", booleans={"amp": "flag"})

A pair is `TRUE/FALSE`, such as `true/false` (the default), `True/False`, `1/0`, `yes/no`. With
`flag`, true passes the flag alone and false leaves it out, as argparse's `store_true` wants it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tunewright.design.ranges import Value
from tunewright.messages import Message

FLAG = "flag"
JSON = "true/false"
Spelling = str | Mapping[str, str]  # of all hyperparameters, or of each by its name


@dataclass(frozen=True)
class Booleans:
    """The spelling of true and false for each hyperparameter of a command."""

    spelling: Spelling = JSON

    def of(self, name: str) -> str:
        """How one hyperparameter is spelled: `TRUE/FALSE`, or `flag`."""
        if isinstance(self.spelling, str):
            return self.spelling
        return self.spelling.get(name, JSON)

    def is_flag(self, name: str, value: Value) -> bool:
        """Whether this value is passed as a flag that is there or not."""
        return isinstance(value, bool) and self.of(name) == FLAG

    def text(self, name: str, value: Value) -> str:
        """A value as the program reads it; a number to its last digit.

        >>> Booleans("True/False").text("nesterov", True), Booleans("1/0").text("nesterov", False)
        ('True', '0')
        """
        if isinstance(value, bool):
            spelled = self.of(name)
            yes, _, no = (JSON if spelled == FLAG else spelled).partition("/")
            return yes if value else no
        return value if isinstance(value, str) else json.dumps(value)

    def problems(self, known: Collection[str] | None) -> Iterator[Message]:
        """What is wrong with the declaration; `known` names the hyperparameters, if all are."""
        if isinstance(self.spelling, str):
            if not _is_spelling(self.spelling):
                yield Message("command.bad_booleans", {"name": None, "spelling": self.spelling})
            return
        if not isinstance(self.spelling, Mapping):
            yield Message("command.bad_booleans", {"name": None, "spelling": self.spelling})
            return
        for name, spelled in self.spelling.items():
            if not _is_spelling(spelled):
                yield Message("command.bad_booleans", {"name": name, "spelling": spelled})
            if known is not None and name not in known:
                facts = {"name": name, "known": sorted(known), "of": "booleans"}
                yield Message("command.not_a_field", facts)


def _is_spelling(spelled: object) -> bool:
    if not isinstance(spelled, str):
        return False
    yes, divider, no = spelled.partition("/")
    return spelled == FLAG or (bool(divider) and yes != no and "/" not in no)
