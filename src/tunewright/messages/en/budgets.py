"""Sentences about budgets: what is spent, what is left, what is refused."""

from __future__ import annotations

from tunewright.messages import Facts, Template, fill, reader, words


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
        limit_shown = amount(name, limit, budget.get("currency") or "")
        used_shown = f"{used:.2f}" if name == "money" else words.number(round(used, 4))
        parts.append(f"{used_shown} of {limit_shown}")
    return ", ".join(parts)


def _limits(facts: Facts) -> tuple[str, ...]:
    return tuple(n for n in ("trials", "hours", "money") if facts["budget"].get(n) is not None)


def _spent(facts: Facts) -> str:
    return _of(facts, _limits(facts)) or "no limit"


def _refusal(facts: Facts) -> str:
    return f"the budget is spent: {_of(facts, tuple(facts['over']))}"


def _raise_limit(facts: Facts) -> str:
    def limits(budget: Facts | None) -> str:
        if budget is None:
            return "no budget"
        names = _limits({"budget": budget})
        currency = budget.get("currency") or ""
        return ", ".join(amount(name, budget[name], currency) for name in names) or "no limit"

    return f"raise the budget from {limits(facts['before'])} to {limits(facts['now'])}?"


def _numbers(low: int, high: int) -> str:
    return words.count(high, "training") if low == high else f"{low} to {high} trainings"


def money(low: float, high: float, currency: str = "") -> str:
    """An amount of money as a range, in its currency.

    >>> money(1.234, 5.0, "EUR"), money(0.0004, 0.001)
    ('1.23 to 5.00 EUR', '0.0004 to 0.001')
    """
    ends = [f"{end:.2f}" if end >= 0.1 or not end else f"{end:.1g}" for end in (low, high)]
    both = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    return f"{both} {currency}".strip()


_BASES = {
    "round": "judged by {seen:count training} of this round",
    "program": "judged by {seen:count training} of this program in other rounds",
    "scaled": "judged by {seen:count training} of another length: a wide range",
    "measured": "foretold from a short training",
}


def _expectation(facts: Facts) -> str:
    """Trainings, hours, money, what they rest on, and what the budget lacks."""
    low, high = facts["trainings"]
    if not high:
        return "nothing left to train"
    parts = [_numbers(low, high)]
    if facts["hours"] is None:
        how = "--dry-run --measure" if reader() == "shell" else "measure=True"
        return f"{parts[0]}; hours not known before one has ended: {how} trains briefly to know"
    parts += _hours_and_money(facts)
    basis = fill(_BASES[facts["basis"]], facts)
    over = f"; more than the budget has left: {', '.join(_lacks(facts))}" if _lacks(facts) else ""
    return f"{', '.join(parts)} ({basis}){over}"


def _hours_and_money(facts: Facts) -> list[str]:
    hours, clock = ([h * 3600 for h in facts[name]] for name in ("hours", "clock_hours"))
    parts = [f"{words.duration_range(*hours)} of training"]
    if facts["workers"] > 1:
        parts.append(f"{words.duration_range(*clock)} with {facts['workers']} workers")
    if facts["money"] is not None:
        parts.append(_money(facts))
    return parts


def _money(facts: Facts) -> str:
    low, high = facts["money"]
    return money(low, high, facts["price"]["currency"])


def _lacks(facts: Facts) -> list[str]:
    currency = (facts["price"] or {}).get("currency", "")
    return [amount(name, facts["left"][name], currency) for name in facts["exceeds"]]


def _round_spent(facts: Facts) -> str:
    """What a round has cost, the rest of it, and what is left of the budget."""
    spent, left, budget = facts["spent"], facts["left"], facts["budget"]
    parts = [words.count(spent["trials"], "training")]
    parts.append(f"{words.duration(spent['hours'] * 3600)} of training")
    if spent["money"] is not None:
        parts.append(money(spent["money"], spent["money"], facts["currency"]))
    text = f"spent: {', '.join(parts)}"
    if left["trainings"][1]:
        rest = [_numbers(*left["trainings"])]
        rest += _hours_and_money(left) if left["hours"] is not None else []
        text += f"; left of the round: {', '.join(rest)}"
    if budget is not None and budget["left"]:
        currency = budget["budget"].get("currency") or ""
        limits = ", ".join(amount(name, limit, currency) for name, limit in budget["left"].items())
        text += f"; left of the budget: {limits}"
    return text


SENTENCES: dict[str, Template] = {
    "budget.spent": _refusal,
    "budget.before": lambda facts: f"budget: {_spent(facts)} spent before this",
    "budget.after": lambda facts: f"budget: {_spent(facts)} spent now",
    "budget.state": lambda facts: f"spent: {_spent(facts)}",
    "cost.expected": _expectation,
    "cost.spent": _round_spent,
    "cost.measures": (
        "measuring: trains one configuration for {steps:list} of {total} {name}, and longer while "
        "that takes less than {quick:.0f} s, in a store that is thrown away"
    ),
    "cost.unlogged": (
        "note: the training of {steps} of {total} steps was timed, but {reason:message}. Nothing "
        "is wrong if a whole training logs it."
    ),
    "budget.bad_price": "price {text!r} is not a number of at least 0, with a currency if you like",
    "cost.no_length": (
        "nothing to measure: no hyperparameter of the configuration means max_train_steps "
        "({name}), so training cannot be shortened"
    ),
    "cost.short_training": "the short training is {status}: {reason}",
    "cost.unknown_probe": "no probe that trains is called {probe!r}. There are: {known:list}",
    "cost.only_dry_run": "{option} is for --dry-run: it measures before anything is spent",
    "budget.none": "no budget: training is not limited",
    "budget.ends": "the budget is spent: no new trials",
    "budget.raises": _raise_limit,
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
