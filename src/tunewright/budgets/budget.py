"""A budget: the most that may be spent, in trials, hours of training or money."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tunewright.errors import DesignError
from tunewright.facts import Facts

LIMITS = ("trials", "hours", "money")


@dataclass(frozen=True, kw_only=True)
class Amounts(Facts):
    """Trials, hours of training (of all trials added), and money where a price is known.

    >>> Amounts(trials=3, hours=0.5).times(2)
    Amounts(trials=6, hours=1.0, money=None)
    """

    trials: int = 0
    hours: float = 0.0
    money: float | None = None

    def plus(self, other: Amounts) -> Amounts:
        """Both together."""
        both = self.money is not None or other.money is not None
        return Amounts(
            trials=self.trials + other.trials,
            hours=self.hours + other.hours,
            money=(self.money or 0.0) + (other.money or 0.0) if both else None,
        )

    def times(self, factor: int) -> Amounts:
        """So many times as much."""
        money = None if self.money is None else self.money * factor
        return Amounts(trials=self.trials * factor, hours=self.hours * factor, money=money)


@dataclass(frozen=True, kw_only=True)
class Budget(Facts):
    """What a project may spend; a limit that is None does not limit.

    Hours are hours of training, of all trials added up. Money is these hours times their price.

    >>> Budget(hours=10, trials=200).limited
    ('trials', 'hours')
    """

    trials: int | None = None  # that may begin, repeats and short runs of probes included
    hours: float | None = None  # of training
    money: float | None = None  # in the currency; needs the price
    price_per_hour: float | None = None  # of training
    currency: str = ""  # only for readers: "EUR"
    since: float = 0.0  # seconds since 1970: what began earlier does not count

    def __post_init__(self) -> None:
        for name in ("hours", "money", "price_per_hour"):
            value = getattr(self, name)
            if value is not None and not _is_amount(value):
                raise DesignError("budget.bad_amount", name=name, value=value)
        if self.trials is not None and (
            isinstance(self.trials, bool) or not isinstance(self.trials, int) or self.trials < 0
        ):
            raise DesignError("budget.bad_trials", value=self.trials)
        if self.money is not None and self.price_per_hour is None:
            raise DesignError("budget.no_price")
        if not isinstance(self.currency, str) or len(self.currency) > 20:
            raise DesignError("budget.bad_currency", value=self.currency)
        if not _is_amount(self.since):
            raise DesignError("budget.bad_amount", name="since", value=self.since)

    @property
    def limited(self) -> tuple[str, ...]:
        """What it limits: of trials, hours and money."""
        return tuple(name for name in LIMITS if getattr(self, name) is not None)

    def raises(self, before: Budget | None) -> bool:
        """Whether it allows more than the budget before it, which a user confirms.

        >>> Budget(trials=20).raises(Budget(trials=10)), Budget(trials=5).raises(Budget(trials=10))
        (True, False)
        """
        if before is None:
            return False
        if self.since > before.since:
            return True
        if (self.price_per_hour or 0.0) < (before.price_per_hour or 0.0) and before.money:
            return True
        return any(
            getattr(before, name) is not None
            and (getattr(self, name) is None or getattr(self, name) > getattr(before, name))
            for name in LIMITS
        )


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value >= 0
