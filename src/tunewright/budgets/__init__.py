"""Budgets: how much a project may spend, in one file, and what has been spent.

    tw.budgets.write(tw.budgets.Budget(hours=10, trials=200))
    tw.budgets.state("tuning.db").left
    tw.budgets.spending(tw.load("tuning.db", "depth")).left.hours

Every call that trains claims its trials through the budget and raises `budget.spent` where nothing
is left. It is a guard against accidents, not a security boundary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.budgets.budget import Amounts as Amounts, Budget as Budget
    from tunewright.budgets.cost import (
        CostEstimate as CostEstimate,
        Price as Price,
        Timing as Timing,
        Trainings as Trainings,
        cost_of as cost_of,
    )
    from tunewright.budgets.file import read as read, write as write
    from tunewright.budgets.spending import Spending as Spending, spending as spending
    from tunewright.budgets.state import BudgetState as BudgetState, state as state

__all__ = [
    "Amounts",
    "Budget",
    "BudgetState",
    "CostEstimate",
    "Price",
    "Spending",
    "Timing",
    "Trainings",
    "cost_of",
    "read",
    "spending",
    "state",
    "write",
]

offer(
    __name__,
    {
        "budgets.budget": ("Amounts", "Budget"),
        "budgets.cost": ("CostEstimate", "Price", "Timing", "Trainings", "cost_of"),
        "budgets.file": ("read", "write"),
        "budgets.spending": ("Spending", "spending"),
        "budgets.state": ("BudgetState", "state"),
    },
)
