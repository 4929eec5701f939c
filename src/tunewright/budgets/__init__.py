"""Budgets: how much a project may spend, in one file, and what has been spent.

    tw.budgets.write(tw.budgets.Budget(hours=10, trials=200))
    tw.budgets.state("tuning.db").left

Every call that trains claims its trials through the budget and raises `budget.spent` where nothing
is left. It is a guard against accidents, not a security boundary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.budgets.budget import Amounts as Amounts, Budget as Budget
    from tunewright.budgets.file import read as read, write as write
    from tunewright.budgets.state import BudgetState as BudgetState, state as state

__all__ = ["Amounts", "Budget", "BudgetState", "read", "state", "write"]

offer(
    __name__,
    {
        "budgets.budget": ("Amounts", "Budget"),
        "budgets.file": ("read", "write"),
        "budgets.state": ("BudgetState", "state"),
    },
)
