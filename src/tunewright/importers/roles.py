"""Which hyperparameters of foreign trials have which role and range, and which depend on another?

A guess that the user can overrule: what varies is a nuisance hyperparameter, what does not is
fixed, a seed is neither. One that only some trials have is taken to depend on the choice that
selects these trials. Where no choice does and few trials lack a value, these trials are set aside
by name: a parent run or an empty cell costs one trial, not the hyperparameter.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from tunewright.design.conditions import Given
from tunewright.design.guards import is_seed
from tunewright.design.names import Meaning
from tunewright.design.ranges import (
    Choice,
    Integers,
    Linear,
    Log,
    LogFromOne,
    Range,
    Value,
    as_range,
    choices_of,
    is_number,
)
from tunewright.design.registry import kinds
from tunewright.errors import DesignError
from tunewright.importers.files import did_you_mean
from tunewright.importers.foreign import ForeignTrial
from tunewright.messages import Message

_MOST_LISTED = (
    12  # different numbers, each tried about twice or more: a list was tried, not a range
)
_TOLD_APART = 10.0  # a spread of this factor is needed before a log scale is considered
_Scale = Callable[[float], float]
Role = Literal["scientific", "nuisance", "fixed", "left_out"]
_ROLES: tuple[Role, ...] = get_args(Role)
_FEW = 5  # at most one trial in so many is set aside for lacking a value, or a single one
_MOST_PASSES = 20  # over the trials, each without those that lack something
_MOST_PARENTS = 64  # choices that others may depend on; a table may have thousands of columns
_FEWEST = 3  # trials, in which a choice may differ each time and still decide what depends on it
_MANY = 8  # text that differs in each of more trials than this is a label: a name, a path, a date


def _distinct(values: Sequence[Value]) -> list[Value]:
    """Each value once, in order of appearance; True is not 1."""
    seen: dict[tuple[bool, Value], Value] = {}
    for value in values:
        seen.setdefault((isinstance(value, bool), value), value)
    return list(seen.values())


def choice_of(values: Sequence[Value]) -> Choice:
    """A choice of these values, numbers in order of size."""
    once = _distinct(values)
    return Choice(tuple(sorted(once) if all(map(is_number, once)) else once))  # type: ignore[type-var]


def guess_range(values: Sequence[Value]) -> Range:
    """The range that values of several trials seem to be drawn from; two different ones at least.

    Numbers that come back again and again are a list. Others are a range on the scale on which they
    lie most evenly, a little wider than what was seen: by the average gap between neighbours, which
    is how far the ends of a range lie beyond the extremes of so many draws, on average.

    >>> print(guess_range([1e-4, 1e-3, 1e-2, 1e-1]), guess_range([32, 64, 32, 64]))
    log(1e-05, 1) choice(32, 64)
    """
    once = _distinct(values)
    if not all(map(is_number, once)):
        return choice_of(values)
    if len(once) <= _MOST_LISTED and 2 * len(once) <= len(values):
        return choice_of(values)
    for kind in kinds().values():
        if (known := kind.guess(once)) is not None:
            return known
    numbers = sorted(float(value) for value in once)  # type: ignore[arg-type]
    whole = all(isinstance(value, int) for value in once)
    try:
        guess = _integers(numbers) if whole else _fractions(numbers)
    except (DesignError, ArithmeticError, ValueError):  # at the limits of what a float can hold
        return choice_of(values)
    return guess if guess.low <= numbers[0] and numbers[-1] <= guess.high else choice_of(values)


def _integers(numbers: Sequence[float]) -> Integers:
    on_log = _evenest(numbers) is _log
    low, high = _widen(numbers, _log if on_log else _same, math.exp if on_log else _same)
    least = 1 if numbers[0] >= 1 else 0 if numbers[0] >= 0 else -math.inf
    bounds = max(math.floor(low), least), math.ceil(high)
    return Integers(int(bounds[0]), int(bounds[1]), log=on_log)


def _fractions(numbers: Sequence[float]) -> Linear | Log | LogFromOne:
    scale = _evenest(numbers)
    if scale is _log:
        low, high = _widen(numbers, _log, math.exp)
        return Log(_two_digits(low, math.floor), _two_digits(high, math.ceil))
    if scale is _log_from_one:
        # one minus the value, so that the digits of 0.999 are kept
        far, near = (1 - x for x in _widen(numbers, _log_from_one, lambda y: 1 - math.exp(-y)))
        low, high = 1 - _two_digits(far, math.ceil), 1 - _two_digits(near, math.floor)
        return LogFromOne(min(low, numbers[0]), max(high, numbers[-1]))
    low, high = _widen(numbers, _same, _same)
    low, high = _two_digits(low, math.floor), _two_digits(high, math.ceil)
    if numbers[0] >= 0:
        low = max(low, 0.0)  # what was never negative, such as dropout, is not searched below zero
    if numbers[-1] <= 1:
        high = min(high, 1.0)
    return Linear(low, high)


def _same(x: float) -> float:
    return x


def _log(x: float) -> float:
    return math.log(x)


def _log_from_one(x: float) -> float:
    return -math.log1p(-x)


def _evenest(numbers: Sequence[float]) -> _Scale:
    """The scale on which sorted numbers lie most evenly; linear unless another is clearly due."""
    low, high = numbers[0], numbers[-1]
    scales: list[_Scale] = [_same]
    if low > 0 and high / low >= _TOLD_APART:
        scales.append(_log)
    if low >= 0.5 and high < 1 and (1 - low) / (1 - high) >= _TOLD_APART:
        scales.append(_log_from_one)
    return min(scales, key=lambda scale: _unevenness([scale(x) for x in numbers]))


def _unevenness(placed: Sequence[float]) -> float:
    """The largest distance between the numbers' distribution and the uniform one."""
    low, span = placed[0], placed[-1] - placed[0]
    if span <= 0:
        return math.inf
    last = len(placed) - 1
    return max(abs((x - low) / span - place / last) for place, x in enumerate(placed))


def _widen(numbers: Sequence[float], to: _Scale, back: _Scale) -> tuple[float, float]:
    low, high = to(numbers[0]), to(numbers[-1])
    gap = (high - low) / (len(numbers) - 1)
    return back(low - gap), back(high + gap)


def _two_digits(x: float, rounding: Callable[[float], int]) -> float:
    """Rounded to two digits, away from what was seen."""
    if x == 0 or not math.isfinite(x):
        return x
    power = math.floor(math.log10(abs(x))) - 1
    # nine digits first, so that 0.1 written as 0.09999999999999999 does not become 0.099
    scaled = float(f"{x:.9g}") / 10.0**power
    return float(f"{rounding(round(scaled, 6))}e{power}")


@dataclass(frozen=True)
class Roles:
    """A role for every hyperparameter of a foreign record, as a round declares them."""

    scientific: Mapping[str, Any]
    nuisance: Mapping[str, Any]
    fixed: Mapping[str, Any]
    left_out: tuple[str, ...]  # seeds, labels, and what the user left out
    notes: tuple[Message, ...]  # what was guessed and may be wrong
    incomplete: tuple[ForeignTrial, ...] = ()  # without a value that all comparable ones have


def guess_roles(
    trials: Sequence[ForeignTrial],
    roles: Mapping[str, Role],
    ranges: Mapping[str, Any],
    declared: Mapping[str, Range],
    meaning: Meaning,
) -> Roles:
    """Roles for the hyperparameters of these trials; `roles` and `ranges` are the user's word."""
    names = list(dict.fromkeys(name for trial in trials for name in trial.configuration))
    _refuse(names, roles, ranges)
    chosen = {n: _range(n, r) for n, r in ranges.items()}
    remaining, incomplete = list(trials), _Incomplete()
    for last in (*[False] * _MOST_PASSES, True):
        guessing = _Guessing(roles, chosen, declared)
        known = _whole(remaining)
        left_out = [name for name in names if guessing.leaves_out(name, known)]
        kept = [name for name in names if name not in left_out]
        scientific = guessing.all_scientific(kept, known)
        searched, fixed = guessing.declare(known, kept, frozenset(scientific))
        aside = guessing.few_lacking(len(remaining), len(trials))
        if aside is None or last:
            break
        incomplete.add(*aside)
        remaining = [t for t in remaining if id(t) not in incomplete.ids]
    guessing.refuse_ignored()
    notes = (*incomplete.notes(), *guessing.notes(meaning, left_out))
    return Roles(
        scientific, searched, fixed, tuple(left_out), notes, incomplete=tuple(incomplete.trials)
    )


class _Incomplete:
    """The trials set aside, and the hyperparameters they have no value of."""

    def __init__(self) -> None:
        self.trials: list[ForeignTrial] = []
        self.ids: set[int] = set()
        self._lacking: dict[int, list[str]] = {}

    def add(self, names: Sequence[str], trials: Iterable[ForeignTrial]) -> None:
        for trial in trials:
            if id(trial) not in self.ids:
                self.ids.add(id(trial))
                self.trials.append(trial)
            lacks = (name for name in names if name not in trial.configuration)
            self._lacking.setdefault(id(trial), []).extend(lacks)

    def notes(self) -> Iterable[Message]:
        """A note for each set of hyperparameters, with the trials that lack it."""
        alike: dict[tuple[str, ...], list[str]] = {}
        for trial in self.trials:
            lacks = tuple(dict.fromkeys(self._lacking[id(trial)]))
            alike.setdefault(lacks, []).append(trial.name)
        for lacks, called in alike.items():
            yield Message("imported.incomplete", {"trials": called, "names": list(lacks)})


@dataclass
class _Guessing:
    roles: Mapping[str, Role]
    chosen: Mapping[str, Range]  # the user's ranges
    declared: Mapping[str, Range]  # the source's
    seen: list[str] = field(default_factory=list)  # whose range was guessed from the values
    # of some trials, and nothing explains which: those without it, and how many are looked at
    unexplained: dict[str, tuple[list[ForeignTrial], int]] = field(default_factory=dict)
    varied: list[str] = field(default_factory=list)

    def leaves_out(self, name: str, trials: Sequence[ForeignTrial]) -> bool:
        """Whether a name is none of the round's."""
        if name in self.roles:
            return self.roles[name] == "left_out"
        if name in self.chosen or name in self.declared:
            return False
        if is_seed(name):
            return True
        values = _values(name, trials)
        texts = all(isinstance(value, str) for value in values)
        return texts and len(values) > _MANY and len(_distinct(values)) == len(values)

    def all_scientific(
        self, names: Sequence[str], trials: Sequence[ForeignTrial]
    ) -> dict[str, Range]:
        """The scientific hyperparameters with their values; every trial must have one."""
        ranges = {}
        for name in names:
            if self.roles.get(name) == "scientific":
                self._note_lacking(name, trials)
                ranges[name] = self.scientific(name, trials)
        return ranges

    def few_lacking(
        self, remaining: int, count: int
    ) -> tuple[list[str], list[ForeignTrial]] | None:
        """The unexplained names that fewest trials lack, and these trials, if they are few."""
        fewest: tuple[list[str], list[ForeignTrial]] | None = None
        for name, (lacking, of) in self.unexplained.items():
            declared = name in self.roles or name in self.chosen
            most = of // 2 if declared else max(1, of // _FEW)
            left = remaining - len(lacking)
            if len(lacking) > most or 2 * len(lacking) >= of or 2 * left < count:
                continue
            if fewest is None or len(lacking) < len(fewest[1]):
                fewest = [name], lacking
            elif {id(t) for t in lacking} == {id(t) for t in fewest[1]}:
                fewest[0].append(name)
        return fewest

    def refuse_ignored(self) -> None:
        """Refuse every role and range that the user declared and the round would not have."""
        problems: list[Message | None] = [
            *(self._without_effect(name, "roles", str(role)) for name, role in self.roles.items()),
            *(self._without_effect(name, "ranges", str(r)) for name, r in self.chosen.items()),
        ]
        for name in self.chosen:
            if self.roles.get(name) in ("fixed", "left_out"):
                problems.append(
                    Message(
                        "importers.range_without_role",
                        {"name": name, "chosen": str(self.chosen[name]), "roles": self.roles[name]},
                    )
                )
        messages = list(
            {str(problem): problem for problem in problems if problem is not None}.values()
        )
        if messages:
            raise DesignError.several(messages)

    def _without_effect(self, name: str, what: str, option: str) -> Message | None:
        """Why the round would not have what the user declared; None if it has."""
        if self.roles.get(name) == "left_out":
            return None
        facts: dict[str, Any] = {"what": what, "name": name, "declared": option}
        if name in self.unexplained:
            lacking, of = self.unexplained[name]
            called = [trial.name for trial in lacking]
            lacks = {"lacking": len(lacking), "trials": of, "called": called}
            return Message("importers.role_of_some_trials", {**facts, **lacks})
        if self.roles.get(name) == "nuisance" and name not in self.varied:
            return Message("importers.role_without_range", facts)
        return None

    def _note_lacking(self, name: str, trials: Sequence[ForeignTrial]) -> None:
        lacking = [t for t in trials if name not in t.configuration]
        if lacking and name not in self.unexplained:
            self.unexplained[name] = lacking, len(trials)

    def scientific(self, name: str, trials: Sequence[ForeignTrial]) -> Range:
        """A list of the values tried, unless a range was asked for."""
        if name in self.chosen:
            return self.chosen[name]
        values = _values(name, trials)
        declared = self.declared.get(name)
        if declared is not None and declared.choices is None and len(_distinct(values)) > _MANY:
            return declared
        return choice_of(values)

    def declare(
        self, trials: Sequence[ForeignTrial], names: Sequence[str], known: frozenset[str]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What these trials searched and what was fixed for them all, conditionals nested."""
        searched: dict[str, Any] = {}
        fixed: dict[str, Any] = {}
        everywhere = [n for n in names if all(n in t.configuration for t in trials)]
        for name in everywhere:
            if name in known:
                continue
            values = _values(name, trials)
            if self._searches(name, values):
                searched[name] = self._range_of(name, values)
            else:
                fixed[name] = values[0]
        choices = {n: _distinct(_values(n, trials)) for n in everywhere if n in known}
        lists = {n: choices_of(d) for n, d in searched.items()}
        choices |= {n: list(values) for n, values in lists.items() if values is not None}
        choices = dict(itertools.islice(choices.items(), _MOST_PARENTS))
        families: dict[str, list[str]] = {}
        for name in names:
            if name in everywhere or name in known:
                continue
            parent = _parent(name, choices, trials)
            if parent is None:
                self._note_lacking(name, trials)
            else:
                families.setdefault(parent, []).append(name)
        for parent, children in families.items():
            self._nest(parent, choices[parent], children, trials, searched, fixed)
        return searched, fixed

    def _nest(
        self,
        parent: str,
        values: Sequence[Value],
        children: Sequence[str],
        trials: Sequence[ForeignTrial],
        searched: dict[str, Any],
        fixed: dict[str, Any],
    ) -> None:
        """Put the children under the values of their parent at which trials have them."""
        under: list[tuple[Value, dict[str, Any], dict[str, Any]]] = []
        for value in values:
            members = [t for t in trials if _key(t.configuration[parent]) == _key(value)]
            have = [c for c in children if any(c in t.configuration for t in members)]
            nested = self.declare(members, have, frozenset()) if members else ({}, {})
            under.append((value, *nested))
        if any(below for _, below, _ in under):
            searched[parent] = Given(tuple((value, below) for value, below, _ in under))
        if any(below for _, _, below in under):
            fixed[parent] = Given(tuple((value, below) for value, _, below in under))

    def _searches(self, name: str, values: Sequence[Value]) -> bool:
        several = len(_distinct(values)) > 1
        if self.roles.get(name) == "fixed":
            if several:
                raise DesignError(
                    "importers.fixed_but_varies", name=name, count=len(_distinct(values))
                )
            return False
        range = self.chosen.get(name) or self.declared.get(name)
        if range is not None and range.choices is not None:
            return len(range.choices) > 1 or several
        return range is not None or several

    def _range_of(self, name: str, values: Sequence[Value]) -> Range:
        self.varied.append(name)
        range = self.chosen.get(name)
        if range is None and name in self.declared:
            range = self.declared[name]
        if range is None:
            range = guess_range(values)
            if range.choices is None:
                self.seen.append(name)
        return range

    def notes(self, meaning: Meaning, left_out: Sequence[str]) -> tuple[Message, ...]:
        """What was guessed."""
        notes = []
        if self.seen:
            notes.append(Message("imported.range_guessed", {"names": list(self.seen)}))
        if self.unexplained:
            notes.append(Message("imported.unexplained", {"names": list(self.unexplained)}))
        labels = [name for name in left_out if name not in self.roles]
        if labels:
            notes.append(Message("imported.labels", {"names": labels}))
        steps = meaning.name("max_train_steps")
        if steps in self.varied:
            notes.append(Message("imported.length_varies", {"name": steps}))
        return tuple(notes)


def _refuse(names: Sequence[str], roles: Mapping[str, Any], ranges: Mapping[str, Any]) -> None:
    problems: list[Message] = []
    for what, named in (("roles", roles), ("ranges", ranges)):
        for name in named:
            if name not in names:
                problems.append(
                    Message(
                        "roles.unknown_hyperparameter",
                        {"argument": what, "name": name, "hint": did_you_mean(name, names)},
                    )
                )
    for name, role in roles.items():
        if role not in _ROLES:
            problems.append(
                Message(
                    "roles.unknown_role",
                    {
                        "name": name,
                        "role": role,
                        "known": list(_ROLES),
                        "hint": did_you_mean(str(role), _ROLES),
                    },
                )
            )
    if problems:
        raise DesignError.several(problems)


def _range(name: str, given_range: Any) -> Range:
    range = as_range(given_range)
    if range is None:
        raise DesignError("importers.not_a_range", name=name, given=given_range)
    return range


def _whole(trials: Sequence[ForeignTrial]) -> list[ForeignTrial]:
    """The trials that show which hyperparameters there are.

    One that failed or was pruned early may lack some that all others have, which makes nothing
    conditional.
    """
    whole = [t for t in trials if t.status not in ("failed", "pruned")]
    shapes = {frozenset(t.configuration) for t in whole}
    return [
        t
        for t in trials
        if (names := frozenset(t.configuration)) in shapes
        or not any(names < other for other in shapes)
    ]


def _values(name: str, trials: Iterable[ForeignTrial]) -> list[Value]:
    return [t.configuration[name] for t in trials if name in t.configuration]


def _parent(child: str, choices: Iterable[str], trials: Sequence[ForeignTrial]) -> str | None:
    """The choice whose value decides which trials have the child, or at least which have it not.

    In the second case the rest depends on a choice that is itself a child.
    """
    partial = None
    for parent in choices:
        if len(trials) > _FEWEST and len(_distinct(_values(parent, trials))) == len(trials):
            continue  # a separate name for each trial explains anything
        having: set[Any] = set()
        lacking: set[Any] = set()
        for trial in trials:
            has = child in trial.configuration
            (having if has else lacking).add(_key(trial.configuration[parent]))
        if not having & lacking:
            return parent
        if partial is None and lacking - having:
            partial = parent
    return partial


def _key(value: Value) -> tuple[bool, Value]:
    return isinstance(value, bool), value
