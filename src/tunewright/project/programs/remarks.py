"""What the comments of a source file say about a line: the heading above it, the remark beside it.

# adamw optimizer                 <- the heading of the lines below
beta1 = 0.9  # of the gradient    <- a remark
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass

MOST_WORDS = 7  # of a heading; a longer comment is prose
REACH = 60  # lines below a heading that it may be about
_LETTERS = re.compile(r"[A-Za-z]")


@dataclass(frozen=True)
class Remarks:
    """The comments of a file, by line."""

    headings: Mapping[int, str]  # comments that stand alone and are short
    beside: Mapping[int, str]  # comments behind code
    starts: tuple[int, ...] = ()  # lines where a function, class or block at the margin begins

    def heading(self, line: int) -> str:
        """The nearest heading above a line, in the same function; empty if there is none."""
        bound = max((one for one in self.starts if one <= line), default=0)
        for above in range(line - 1, max(line - REACH, bound - 1, 0), -1):
            if above in self.headings:
                return self.headings[above]
        return ""

    def remark(self, line: int) -> str:
        """The comment behind the code of a line."""
        return self.beside.get(line, "")


def remarks_of(text: str) -> Remarks:
    """Read the comments; none where the text cannot be split into tokens.

    >>> found = remarks_of("# model\\nn_layer = 2\\nbias = False  # inside layers?\\n")
    >>> found.heading(3), found.remark(3)
    ('model', 'inside layers?')
    """
    headings: dict[int, str] = {}
    beside: dict[int, str] = {}
    starts: list[int] = []
    code = 0  # the last line with code
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                own = token.string.strip("#-=* \t")
                if token.start[0] == code:
                    beside[code] = own
                elif _LETTERS.search(own) and len(own.split()) <= MOST_WORDS:
                    headings[token.start[0]] = own
            elif token.type == tokenize.NAME and token.string in ("def", "class"):
                starts.append(token.start[0])
                code = token.start[0]
            elif token.string.strip():
                code = token.end[0]
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return Remarks({}, {})
    return Remarks(headings, beside, tuple(starts))
