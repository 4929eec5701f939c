"""What trainings will cost: hours of training and by the clock, money, as ranges with their basis.

    cost_of([Trainings(20, steps=1000)], [Timing(60.0, steps=1000)], workers=4).hours

A training is taken to need a time to begin, and a time for each step, example and evaluation, none
of them negative. One known training then bounds every other length of the same program, and
the range widens with the difference instead of guessing.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tunewright.budgets.budget import Budget
from tunewright.errors import DesignError
from tunewright.facts import Facts
from tunewright.messages import Message

# this round's trials, other rounds of the same program and length, of another length, a short
# training made to know it, a rule that fixes the time, or nothing
Basis = Literal["round", "program", "scaled", "measured", "rule", "unknown"]
Range = tuple[float, float]
_HOUR_S = 3600.0
_AMOUNTS = ("steps", "evaluations", "examples")  # what the time of a training grows with
_PRICE = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*([^\d\s.][^\d]{0,19})?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Price(Facts):
    """What an hour of training costs.

    >>> Price(2.5, "EUR").per_hour
    2.5
    """

    per_hour: float
    currency: str = ""  # only for readers

    def __post_init__(self) -> None:
        Budget(price_per_hour=self.per_hour, currency=self.currency)  # refuses what is no price

    @classmethod
    def read(cls, text: str) -> Price:
        """A price as it is written: a number, and a currency for readers.

        >>> Price.read("2.5"), Price.read("2.5 EUR")
        (Price(per_hour=2.5, currency=''), Price(per_hour=2.5, currency='EUR'))
        """
        match = _PRICE.fullmatch(text)
        try:
            per_hour = float(match[1]) if match is not None else math.nan
        except ValueError:  # such as 1.2.3
            per_hour = math.nan
        if match is None or not math.isfinite(per_hour):
            raise DesignError("budget.bad_price", text=text)
        return cls(per_hour, (match[2] or "").strip())

    @classmethod
    def of(cls, budget: Budget | None) -> Price | None:
        """The price that a budget declares; None where it has none."""
        if budget is None or budget.price_per_hour is None:
            return None
        return cls(budget.price_per_hour, budget.currency)


@dataclass(frozen=True)
class Timing(Facts):
    """How long one training took, or a range of it, and how much it trained."""

    seconds: float  # it took, or takes at least
    steps: float | None = None  # None: not known; it is compared with nothing but its like
    evaluations: float | None = None  # over the whole training
    examples: float | None = None  # steps times the batch size
    at_most: float | None = None  # seconds; None: it is known exactly

    @property
    def high(self) -> float:
        """The most seconds it takes."""
        return self.seconds if self.at_most is None else self.at_most

    def bounds(self, other: Trainings) -> Range:
        """What a training of another length takes at least and at most.

        The times to begin, for steps, for examples and for evaluations grow by different factors;
        their sum grows by no less than the smallest and no more than the largest of them.

        >>> Timing(10.0, steps=100).bounds(Trainings(1, steps=1000))
        (10.0, 100.0)
        """
        ratios = [1.0]
        for name in _AMOUNTS:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine and theirs is not None:
                ratios.append(theirs / mine)
        return self.seconds * min(ratios), self.high * max(ratios)


@dataclass(frozen=True)
class Trainings(Facts):
    """Trainings of one length that are to come; their number may be a range.

    >>> Trainings(8, most=16, steps=500).numbers
    (8, 16)
    """

    fewest: int  # that will be needed
    most: int | None = None  # None: exactly the fewest
    steps: float | None = None  # of each
    evaluations: float | None = None  # of each
    examples: float | None = None  # of each

    @property
    def numbers(self) -> tuple[int, int]:
        """The fewest and the most."""
        return self.fewest, self.fewest if self.most is None else self.most


@dataclass(frozen=True, kw_only=True)
class CostEstimate(Facts):
    """What trainings will cost, and what that rests on; None where it is not known."""

    trainings: tuple[int, int]  # the fewest and the most
    hours: Range | None = None  # of training, all added up
    clock_hours: Range | None = None  # with all workers busy
    workers: int = 1  # trainings at a time
    money: Range | None = None  # None: no price is known
    price: Price | None = None  # of an hour of training
    basis: Basis = "unknown"  # what it rests on
    seen: int = 0  # trainings that it rests on
    left: Mapping[str, float] | None = None  # of the budget; None: there is none

    @property
    def exceeds(self) -> tuple[str, ...]:
        """The limits of the budget that it may exceed, at the high end of its range."""
        high = {"trials": self.trainings[1]}
        for name, hours_or_money in (("hours", self.hours), ("money", self.money)):
            if hours_or_money is not None:
                high[name] = hours_or_money[1]  # type: ignore[assignment]
        return tuple(n for n, left in (self.left or {}).items() if high.get(n, 0) > left)

    @property
    def message(self) -> Message:
        """The cost as a code with its facts."""
        return Message("cost.expected", self.to_data())

    def priced(self, price: Price | None) -> CostEstimate:
        """The same at another price; None keeps the one that is known."""
        price = price or self.price
        if price is None or self.hours is None:
            return replace(self, price=price)
        low, high = self.hours
        return replace(self, price=price, money=(low * price.per_hour, high * price.per_hour))

    def plus(self, other: CostEstimate) -> CostEstimate:
        """Both, one after the other; unknown where one of them is."""
        return replace(
            self,
            trainings=_sum(self.trainings, other.trainings),
            hours=_both(self.hours, other.hours),
            clock_hours=_both(self.clock_hours, other.clock_hours),
            money=_both(self.money, other.money),
            seen=max(self.seen, other.seen),
            basis=max(self.basis, other.basis, key=_WEAKEST.index),
        )

    def to_data(self) -> dict[str, object]:
        """The facts as plain data."""
        return {**super().to_data(), "exceeds": list(self.exceeds)}


_WEAKEST: tuple[Basis, ...] = ("rule", "round", "program", "measured", "scaled", "unknown")


def _sum(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    return first[0] + second[0], first[1] + second[1]


def _both(first: Range | None, second: Range | None) -> Range | None:
    return None if first is None or second is None else (first[0] + second[0], first[1] + second[1])


def cost_of(
    trainings: Iterable[Trainings],
    known: Sequence[Timing],
    *,
    workers: int = 1,
    price: Price | None = None,
    basis: Basis = "round",
    left: Mapping[str, float] | None = None,
) -> CostEstimate:
    """What trainings will cost, judged by known ones of the same program.

    Of trainings of the same length the range is two standard deviations of the sum, counting that
    the mean comes from few, as a factor, so that it never promises nothing. Trainings of another
    length bound it: see `Timing.bounds`.

    Args:
        trainings: to come.
        known: trainings whose time is known.
        workers: trainings at a time.
        price: of an hour of training; None: no money.
        basis: where the known ones come from.
        left: of the budget's limits.

    >>> found = cost_of([Trainings(60)], [Timing(s) for s in (500, 600, 700)], workers=4)
    >>> [f"{hours:.1f} h" for hours in (*found.hours, *found.clock_hours)]
    ['8.4 h', '12.0 h', '2.1 h', '3.0 h']
    """
    if workers < 1:
        raise DesignError("budget.bad_workers", workers=workers)
    groups = [group for group in trainings if group.numbers[1] > 0]
    numbers = (sum(group.numbers[0] for group in groups), sum(group.numbers[1] for group in groups))
    hours: Range | None = (0.0, 0.0)
    clock: Range | None = (0.0, 0.0)
    seen, bases = 0, [basis]
    for group in groups:
        alike = [timing for timing in known if _alike(timing, group)]
        used = alike or [timing for timing in known if timing.steps and group.steps]
        if not used:
            return CostEstimate(trainings=numbers, workers=workers, price=price, left=left)
        seen = max(seen, len(used))
        if not alike and basis != "measured":
            bases.append("scaled")
        by_training, by_clock = _group(group, used, workers)
        hours, clock = _both(hours, by_training), _both(clock, by_clock)
    estimate = CostEstimate(
        trainings=numbers,
        hours=hours,
        clock_hours=clock,
        workers=workers,
        basis=max(bases, key=_WEAKEST.index),
        seen=seen,
        left=left,
    )
    return estimate.priced(price)


def _alike(timing: Timing, group: Trainings) -> bool:
    """Whether they train the same amount, as far as both know it."""
    if timing.steps != group.steps:
        return False
    pairs = [(getattr(timing, name), getattr(group, name)) for name in _AMOUNTS]
    return all(None in (mine, their) or mine == their for mine, their in pairs)


def _group(group: Trainings, used: Sequence[Timing], workers: int) -> tuple[Range, Range]:
    """Hours of training and by the clock of trainings of one length."""
    bounds = [timing.bounds(group) for timing in used]
    low = statistics.fmean(least for least, _ in bounds) / _HOUR_S
    high = statistics.fmean(most_each for _, most_each in bounds) / _HOUR_S
    fewest, most = group.numbers
    above = most * high * (1 + _doubt(used, most))
    waves = math.ceil(most / workers) * high * (1 + _doubt(used, most))
    below = fewest * low / (1 + _doubt(used, fewest)) if fewest else 0.0
    return (below, above), (below / workers, waves)  # the last wave leaves workers idle


def _doubt(used: Sequence[Timing], number: int) -> float:
    """Two standard deviations of the sum of so many, as a share of it."""
    mean = statistics.fmean(timing.seconds for timing in used)
    if not mean or not number:
        return 0.0
    if len(used) > 1:
        spread = statistics.stdev(timing.seconds for timing in used)
    else:  # one does not show the spread, unless it is a range already
        spread = mean / 2 if used[0].at_most is None else 0.0
    return 2 * spread * math.sqrt(1 / number + 1 / len(used)) / mean
