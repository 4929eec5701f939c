"""Everything that is wrong with a table, reported once per kind however many rows have it."""

from __future__ import annotations

from tunewright.errors import DesignError
from tunewright.messages import Message

MOST = 20  # lines of a refusal


class Problems:
    """Collects problems; one kind of them is reported by its first row and a count."""

    def __init__(self) -> None:
        """Begin without any."""
        self._first: dict[str, Message] = {}
        self._more: dict[str, int] = {}

    def add(self, problem: Message, kind: str = "") -> None:
        """Add a problem; `kind` is the same for all that are reported together."""
        kind = kind or repr(problem)
        if kind in self._first:
            self._more[kind] = self._more.get(kind, 0) + 1
        else:
            self._first[kind] = problem

    def refuse(self) -> None:
        """Raise DesignError with all of them, if there are any."""
        if not self._first:
            return
        found = [self._counted(kind, problem) for kind, problem in self._first.items()]
        left = len(found) - MOST
        more = [Message("problems.more", {"count": left})] if left > 0 else []
        raise DesignError.several([*found[:MOST], *more])

    def _counted(self, kind: str, problem: Message) -> Message:
        """The problem, with the number of other rows that have it."""
        if kind not in self._more:
            return problem
        facts = {"problem": problem.to_data(), "rows": self._more[kind]}
        return Message("problems.more_rows", facts)
