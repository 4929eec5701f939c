"""Is a command written for a shell? None reads it: a pipe would become an argument."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from tunewright.design.ranges import Value
from tunewright.messages import Message

_SHELLS = {"bash", "sh", "zsh", "dash", "ksh", "fish"}
_OPERATOR = re.compile(r"^(?:\|\|?|&&?|;+|\d*>>?|<<?<?)|;$")  # of a word: at its beginning, or a ;
VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w*|\{\w+\}|\()|`")


@dataclass(frozen=True)
class Written:
    """A word as the template writes it: what stands outside quotes, and what a shell expands."""

    bare: str  # the rest is blank
    open: str  # also inside double quotes


def for_a_shell(template: str) -> tuple[str, ...]:
    """What only a shell understands, as it is written; empty for a plain command.

    >>> for_a_shell("python train.py --lr={lr} | tee log.txt > out")
    ('|', '>')
    >>> for_a_shell("bash -c 'python train.py | tee log.txt'")
    ()
    """
    words = list(_words(template))
    program = template.split()[:1]
    by_shell = bool(program) and PurePosixPath(program[0]).name in _SHELLS
    operators: list[str] = []
    for word in words:
        match = _OPERATOR.search(word.bare) or (None if by_shell else VARIABLE.search(word.open))
        if match is not None:
            operators.append(match.group())
        elif _is_glob(word.bare) or word.bare.startswith("~/"):
            operators.append(word.bare)
    return tuple(dict.fromkeys(operators))


def in_a_shell(template: str) -> str:
    r"""The same command for a shell, quoted.

    >>> in_a_shell("echo it's ${HOME} | wc")
    'bash -c \'echo it\'"\'"\'s $HOME | wc\''
    """
    return shlex.join(["bash", "-c", re.sub(r"\$\{(\w+)\}", r"$\1", template)])


def _is_glob(bare: str) -> bool:
    return bool(re.search(r"[*?]", bare)) and "=" not in bare and "://" not in bare


def _words(template: str) -> Iterator[Written]:
    """The words of a template, quoted parts blanked out."""
    bare, open_, quote, at = "", "", "", 0
    while at < len(template):
        char = template[at]
        if char == "\\" and quote != "'":
            bare, open_, at = bare + " ", open_ + " ", at + 2
            continue
        if quote:
            bare, open_ = bare + " ", open_ + (char if quote == '"' else " ")
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote, bare, open_ = char, bare + " ", open_ + " "
        elif char.isspace():
            if bare:
                yield Written(bare, open_)
            bare = open_ = ""
        else:
            bare, open_ = bare + char, open_ + char
        at += 1
    if bare:
        yield Written(bare, open_)


# ---- How a program spells true and false on its command line: a pair of words, or a flag.
#
#     command("python train.py --nesterov={nesterov}", booleans="True/False")
#     command("python train.py --nesterov={nesterov} --amp={amp}", booleans={"amp": "flag"})
#
# A pair is `TRUE/FALSE`, such as `true/false` (the default), `True/False`, `1/0`, `yes/no`. With
# `flag`, true passes the flag alone and false leaves it out, as argparse's `store_true` wants it.


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
