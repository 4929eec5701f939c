"""The exceptions behind an exception, each once, however they refer to each other."""

from __future__ import annotations

from collections.abc import Iterator


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The exception itself, then what caused it, and so on to the first cause.

    `raise first from second` inside the handling of `first` makes a cycle: a chain that is followed
    without remembering what was seen has no end.

    >>> first, second = ValueError("first"), KeyError("second")
    >>> first.__cause__, second.__context__ = second, first
    >>> [str(error) for error in causes(first)]
    ['first', "'second'"]
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
