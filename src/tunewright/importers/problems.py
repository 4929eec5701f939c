"""Everything that is wrong with a table, said once for each kind however many rows have it."""

from __future__ import annotations

from tunewright.errors import DesignError

MOST = 20  # lines of a refusal


class Problems:
    """Collects problems; one kind of them is told by its first row and a count."""

    def __init__(self) -> None:
        """Begin without any."""
        self._first: dict[str, str] = {}
        self._more: dict[str, int] = {}

    def add(self, text: str, kind: str = "") -> None:
        """Add a problem; `kind` is alike for all that are told together."""
        kind = kind or text
        if kind in self._first:
            self._more[kind] = self._more.get(kind, 0) + 1
        else:
            self._first[kind] = text

    def refuse(self) -> None:
        """Raise DesignError with all of them, if there are any."""
        if not self._first:
            return
        lines = [
            f"{text} (and {self._more[kind]} more rows)" if kind in self._more else text
            for kind, text in self._first.items()
        ]
        left = len(lines) - MOST
        raise DesignError("\n".join([*lines[:MOST], *([f"and {left} more"] if left > 0 else [])]))
