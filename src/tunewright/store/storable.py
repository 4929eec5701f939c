"""Free text on its way into the store: the text of any exception must fit."""

from __future__ import annotations

LONGEST_LINE = 2_000  # characters of a reason, a cause or a place
LONGEST_TEXT = 200_000  # characters of a traceback, a log tail or a note


def storable(text: str, longest: int = LONGEST_LINE) -> str:
    r"""The text without what a database refuses, head and tail kept when it is too long.

    NUL is refused by PostgreSQL and lone surrogates by every UTF-8 encoder; exceptions can carry
    both.

    >>> storable("bad \x00 byte, bad \ud800 half")
    'bad \\x00 byte, bad \\ud800 half'
    >>> storable("a" * 100, longest=60)
    'aaaaaaaaaaaaaaaaaaaa ... 60 characters left out ... aaaaaaaaaaaaaaaaaaaa'
    """
    text = text.replace("\x00", "\\x00")
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= longest:
        return text
    half = max(longest // 2 - 10, 1)
    return f"{text[:half]} ... {len(text) - 2 * half:,} characters left out ... {text[-half:]}"
