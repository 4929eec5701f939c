"""Sentences about budgets: what is spent, what is left, what is refused."""

from __future__ import annotations

from tunewright.messages import Facts, Template, words


def amount(name: str, value: float, currency: str = "") -> str:
    """One amount with its unit.

    >>> amount("trials", 1), amount("hours", 2.5), amount("money", 12.345, "EUR")
    ('1 trial', '2.5 h', '12.35 EUR')
    """
    if name == "trials":
        return words.count(int(value), "trial")
    if name == "hours":
        return f"{words.number(round(value, 4))} h"
    return f"{value:.2f} {currency}".strip()


def _of(facts: Facts, names: tuple[str, ...]) -> str:
    """What is spent of each limit: 12 of 50 trials, 1.2 of 10 h."""
    budget, spent = facts["budget"], facts["spent"]
    parts = []
    for name in names:
        used, limit = spent.get(name) or 0, budget[name]
        shown = amount(name, limit, budget.get("currency") or "")
        used_shown = f"{used:.2f}" if name == "money" else words.number(round(used, 4))
        parts.append(f"{used_shown} of {shown}")
    return ", ".join(parts)


def _limited(facts: Facts) -> tuple[str, ...]:
    return tuple(n for n in ("trials", "hours", "money") if facts["budget"].get(n) is not None)


def _spent(facts: Facts) -> str:
    return _of(facts, _limited(facts)) or "no limit"


def _refused(facts: Facts) -> str:
    return f"the budget is spent: {_of(facts, tuple(facts['over']))}"


def _raised(facts: Facts) -> str:
    def shown(budget: Facts | None) -> str:
        if budget is None:
            return "no budget"
        names = _limited({"budget": budget})
        currency = budget.get("currency") or ""
        return ", ".join(amount(name, budget[name], currency) for name in names) or "no limit"

    return f"raise the budget from {shown(facts['before'])} to {shown(facts['now'])}?"


SENTENCES: dict[str, Template] = {
    "budget.spent": _refused,
    "budget.before": lambda facts: f"budget: {_spent(facts)} spent before this",
    "budget.after": lambda facts: f"budget: {_spent(facts)} spent now",
    "budget.state": lambda facts: f"spent: {_spent(facts)}",
    "budget.none": "no budget: training is not limited",
    "budget.ends": "the budget is spent: no new trials",
    "budget.raises": _raised,
    "budget.not_confirmed": (
        "this raises the budget, and nobody confirmed it. A user runs it at a terminal, or a "
        "script adds --yes"
    ),
    "budget.nothing_to_set": "budget set: give --trials, --hours, --money or --restart",
    "budget.bad_amount": "budget: {name} = {value!r} is not a finite number of at least 0",
    "budget.bad_trials": "budget: trials = {value!r} is not a whole number of at least 0",
    "budget.bad_currency": "budget: currency = {value!r} is not text of at most 20 characters",
    "budget.no_price": "budget: money needs a price of one hour of training (price_per_hour)",
}
