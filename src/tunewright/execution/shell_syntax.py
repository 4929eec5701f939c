"""Is a command written for a shell? None reads it: a pipe would become an argument."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

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
    found: list[str] = []
    for word in words:
        match = _OPERATOR.search(word.bare) or (None if by_shell else VARIABLE.search(word.open))
        if match is not None:
            found.append(match.group())
        elif _is_glob(word.bare) or word.bare.startswith("~/"):
            found.append(word.bare)
    return tuple(dict.fromkeys(found))


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
        one = template[at]
        if one == "\\" and quote != "'":
            bare, open_, at = bare + " ", open_ + " ", at + 2
            continue
        if quote:
            bare, open_ = bare + " ", open_ + (one if quote == '"' else " ")
            quote = "" if one == quote else quote
        elif one in "'\"":
            quote, bare, open_ = one, bare + " ", open_ + " "
        elif one.isspace():
            if bare:
                yield Written(bare, open_)
            bare = open_ = ""
        else:
            bare, open_ = bare + one, open_ + one
        at += 1
    if bare:
        yield Written(bare, open_)
