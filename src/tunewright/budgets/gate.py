"""The gate of a budget: the one place that every trial passes before it begins.

A supervisor and a session ask it how many trials they may claim; training without a trial (a probe
of throughput, a trial trained again) passes it with `through`. Where nothing is left it raises.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from tunewright.budgets.file import place
from tunewright.budgets.state import BudgetState, on_the_ledger, state, state_of
from tunewright.errors import BudgetSpent
from tunewright.messages import Message
from tunewright.remedies import SetBudget
from tunewright.store.store import Store

LOOK_S = 1.0  # how often the store is asked what others have spent


class Gate:
    """The budget of one process that trains; without a budget everything passes."""

    def __init__(self, store: Store | None, path: Path | None) -> None:
        """Take an open store and the file of the budget; None: there is none."""
        self._store, self._path = store, path
        self._known: BudgetState | None = None
        self._looked = float("-inf")
        self._claimed = 0  # trials claimed since the last look

    @classmethod
    def of(cls, store: Store, budget: str | os.PathLike[str] | None = None) -> Gate:
        """The gate of an open store, by the budget of its project or next to it."""
        return cls(store, place(store.path) if budget is None else Path(budget))

    def state(self) -> BudgetState | None:
        """What is spent and left, at most a second old; None without a budget."""
        if self._path is None or not self._path.is_file():
            return None
        now = time.monotonic()
        if self._known is None or now - self._looked >= LOOK_S:
            self._known, self._looked, self._claimed = state_of(self._store, self._path), now, 0
        return self._known

    def allows(self, wanted: int) -> int:
        """How many of so many trials may begin now."""
        known = self.state()
        if known is None or wanted <= 0:
            return wanted
        if known.over:
            return 0
        trials = known.left.get("trials")
        return wanted if trials is None else max(0, min(wanted, int(trials) - self._claimed))

    def count(self, trials: int) -> None:
        """So many trials have been claimed."""
        self._claimed += trials

    def refuse(self) -> None:
        """Raise BudgetSpent where no trial may begin."""
        if self.allows(1) == 0:
            raise self.error()

    def error(self) -> BudgetSpent:
        """The refusal, with what was spent."""
        self._looked = float("-inf")
        known = self.state()
        assert known is not None
        return spent_error(known)

    def cost(self, code: str) -> Message | None:
        """What is spent and left, as a message; None without a budget."""
        self._looked = float("-inf")
        known = self.state()
        return None if known is None else _cost_message(known, code)


def spent_error(known: BudgetState) -> BudgetSpent:
    """The refusal of a budget that is spent."""
    over = list(known.over) or ["trials"]  # one is left, where more are needed at once
    facts = {"over": over, "budget": known.budget.to_data()}
    return BudgetSpent("budget.spent", spent=known.spent.to_data(), **facts, remedy=SetBudget())


def _cost_message(known: BudgetState, code: str = "budget.before") -> Message:
    """What is spent of a budget, and what is left of it."""
    budget, spent = known.budget.to_data(), known.spent.to_data()
    return Message(code, {"budget": budget, "spent": spent, "left": known.left})


def _state_at(store: str | os.PathLike[str] | None, path: Path) -> BudgetState | None:
    if store is None:
        return state_of(None, path) if path.is_file() else None
    return state(store, path)


@contextlib.contextmanager
def through(
    store: str | os.PathLike[str] | None,
    what: str,
    trials: int = 1,
    budget: str | os.PathLike[str] | None = None,
) -> Iterator[None]:
    """Pass the gate with training that no store has a trial of; its time goes to the ledger."""
    path = place(store) if budget is None else Path(budget)
    known = None if path is None else _state_at(store, path)
    if known is not None and (known.over or known.left.get("trials", trials) < trials):
        raise spent_error(known)
    with on_the_ledger(path if known is not None else None, what, trials):
        yield
