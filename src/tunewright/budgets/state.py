"""What has been spent of a budget: counted in the store, and in the ledger of what is not there."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from tunewright.budgets.budget import LIMITS, Amounts, Budget
from tunewright.budgets.cost import Price
from tunewright.budgets.file import place, read
from tunewright.errors import NotFound
from tunewright.facts import Facts
from tunewright.store.schema import attempt, trial
from tunewright.store.store import Store

LEDGER = "budget-ledger.jsonl"  # next to the budget: training that no store has a trial of
_HOUR_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class BudgetState(Facts):
    """A budget, what has been spent of it, and what is left."""

    budget: Budget
    spent: Amounts
    path: Path  # of the budget's file

    @property
    def left(self) -> dict[str, float]:
        """What is left of each limit, never below 0."""
        return {
            name: max(0, getattr(self.budget, name) - (getattr(self.spent, name) or 0))
            for name in self.budget.limited
        }

    @property
    def price(self) -> Price | None:
        """What an hour of training costs; None where the budget does not declare it."""
        return Price.of(self.budget)

    @property
    def over(self) -> tuple[str, ...]:
        """The limits that are spent."""
        return tuple(name for name, left in self.left.items() if not left > 0)

    def to_data(self) -> dict[str, object]:
        """The facts as plain data."""
        return {**super().to_data(), "left": self.left, "over": list(self.over)}


def state(
    store: str | os.PathLike[str], budget: str | os.PathLike[str] | None = None
) -> BudgetState | None:
    """The budget of a store and what has been spent of it; None where there is no budget.

    Args:
        store: the store: a path, or an address such as `postgresql://...`.
        budget: the budget's file; None: the one of the project, or next to the store.

    >>> import tempfile
    >>> state(f"{tempfile.gettempdir()}/no_such_folder/tuning.db") is None
    True
    """
    path = place(store) if budget is None else Path(budget)
    if path is None or not path.is_file():
        return None
    try:
        with Store.open(store, create=False) as opened:
            return state_of(opened, path)
    except NotFound:
        return state_of(None, path)


def state_of(store: Store | None, path: Path) -> BudgetState:
    """The state of a budget by an open store; None: there is no store yet."""
    budget = read(path)
    spent = in_ledger(path, budget.since)
    if store is not None:
        spent = spent.plus(in_store(store, budget.since))
    if budget.price_per_hour is not None:
        spent = Amounts(
            trials=spent.trials, hours=spent.hours, money=spent.hours * budget.price_per_hour
        )
    return BudgetState(budget=budget, spent=spent, path=path)


def in_store(store: Store, since: float = 0.0) -> Amounts:
    """Trials that began since then, and the hours of their attempts; running ones up to now."""
    now = time.time()
    running = attempt.c.ended.is_(None) & (trial.c.status == "running")
    counted = running | (func.coalesce(attempt.c.began, attempt.c.ended, 0.0) >= since)
    chosen = attempt.join(trial, trial.c.id == attempt.c.trial)
    with store.reading() as connection:
        row = connection.execute(
            select(
                func.count(attempt.c.trial.distinct()),
                func.coalesce(func.sum(attempt.c.seconds), 0),
            )
            .select_from(chosen)
            .where(counted)
        ).one()
        open_ = connection.execute(
            select(func.count(), func.coalesce(func.sum(attempt.c.began), 0.0))
            .select_from(chosen)
            .where(running, attempt.c.began.is_not(None))
        ).one()
    meanwhile = max(0.0, int(open_[0]) * now - float(open_[1]))
    return Amounts(trials=int(row[0]), hours=(float(row[1]) + meanwhile) / _HOUR_S)


def in_ledger(path: Path, since: float = 0.0) -> Amounts:
    """What the ledger next to a budget has; a torn last line does not count."""
    total = Amounts()
    with contextlib.suppress(FileNotFoundError):
        for line in (path.parent / LEDGER).read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError, TypeError, KeyError):
                entry = json.loads(line)
                if float(entry["at"]) >= since:
                    amounts = Amounts(trials=int(entry["trials"]), hours=float(entry["hours"]))
                    total = total.plus(amounts)
    return total


@contextlib.contextmanager
def on_the_ledger(path: Path | None, what: str, trials: int = 1) -> Iterator[None]:
    """Record the time of a block next to the budget: training that no store has a trial of."""
    began = time.time()
    try:
        yield
    finally:
        if path is not None:
            hours = (time.time() - began) / _HOUR_S
            entry = {"at": began, "what": what, "trials": trials, "hours": hours}
            with (path.parent / LEDGER).open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")


__all__ = ["LIMITS", "BudgetState", "in_ledger", "in_store", "on_the_ledger", "state", "state_of"]
