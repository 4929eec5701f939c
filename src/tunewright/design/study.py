"""A study: one scientific setting, its space as a table, and how many trials it needs.

The playbook's ladder for Adam (FAQ, "How should Adam's hyperparameters be tuned?") gives how many
hyperparameters a number of trials pays for: one below 10, two below 25, three from 25, four with
many more. Beyond four this package continues it by 25 trials each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tunewright.design.conditions import Fixed, Hyperparameter, holds, in_words
from tunewright.design.ranges import Range, Value, choices_of, same_value
from tunewright.errors import DesignError
from tunewright.messages import Message, markup, words
from tunewright.messages.markup import Table

_MOST_BRANCHES = 1000  # beyond it no budget reaches every combination

# trials from which one hyperparameter more can be tuned: the second, the third, the fourth
_LADDER = (10, 25, 50)
_FEWEST = 5  # below it even one hyperparameter is hardly covered
_STEP = 25  # trials for each hyperparameter beyond the ladder


def table_of(
    space: Sequence[Hyperparameter], fixed: Sequence[Fixed], scientific: Mapping[str, Any]
) -> Table:
    """Every hyperparameter with its role and its value or range, as a card shows it."""

    def word(code: str, **facts: Any) -> str:
        return Message(f"card.label.{code}", facts).text

    rows = [(name, word("scientific"), _text_of(declared)) for name, declared in scientific.items()]
    known = {name for name, _, _ in rows}
    for h in space:
        if h.name not in known:
            condition = in_words(h.when)
            when = f" ({word('conditional', condition=condition.strip())})" if condition else ""
            rows.append((h.name, word("nuisance"), f"{_text_of(h.range)}{when}"))
    for held in fixed:
        rows.append((held.name, word("fixed"), f"{words.value(held.value)}{in_words(held.when)}"))
    return Table((word("hyperparameter"), word("role"), word("searched")), tuple(rows))


def _text_of(declared: Any) -> str:
    values = choices_of(declared)
    if values is not None and declared.belief is None:
        return f"[{', '.join(words.value(value) for value in values)}]"
    return str(declared) if isinstance(declared, Range) else words.value(declared)


@dataclass(frozen=True)
class Branch:
    """One way the conditional parents of a study can be set, and what is searched under it."""

    settings: Mapping[str, Value]  # parent column -> value
    dimensions: tuple[Hyperparameter, ...]


@dataclass(frozen=True)
class Study:
    """One setting of the scientific hyperparameters; the search fills in the rest."""

    round: str  # name of the round
    number: int  # s of S, from 0
    of: int  # S, how many studies the round has
    scientific: Mapping[str, Value]  # the setting, without scientific ranges
    space: tuple[Hyperparameter, ...]  # searched: unconditional first, scientific before nuisance
    fixed: tuple[Fixed, ...]
    seed: int  # the round's: all its studies use the same points
    trials: int  # trials_per_study

    @property
    def label(self) -> str:
        """The setting in words; a round without one has a single study called `all`."""
        return ", ".join(f"{name}={value}" for name, value in self.scientific.items()) or "all"

    def __repr__(self) -> str:
        """The setting and the number of trials, on one line."""
        return words.one_line(f"<Study {self._headline} of {self.round!r}>")

    def _repr_html_(self) -> str:
        """A card for a notebook: the setting, and what is searched under it."""
        table = table_of(self.space, self.fixed, self.scientific)
        return markup.card(self._headline, table=table)

    @property
    def _headline(self) -> str:
        return Message("card.study", {"label": self.label, "trials": self.trials}).text

    def trial_number(self, index: int) -> int:
        """The round-wide number of this study's trial `index`: every prefix is balanced."""
        return index * self.of + self.number

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """Every combination of the conditional parents' values; one branch without conditionals."""
        conditions = [*(h.when for h in self.space), *(f.when for f in self.fixed)]
        parents = {column for when in conditions for column, _ in when} - set(self.scientific)
        settings: list[dict[str, Value]] = [{}]
        for h in self.space:  # parents stand before their children
            if h.column not in parents:
                continue
            assert h.range.choices is not None  # only a given() makes a parent
            settings = [
                grown
                for known in settings
                for grown in (
                    [{**known, h.column: value} for value in h.range.choices]
                    if h.active({**self.scientific, **known})
                    else [known]
                )
            ]
            if len(settings) > _MOST_BRANCHES:
                raise DesignError("study.too_many_branches", study=self.label, most=_MOST_BRANCHES)
        return tuple(self._branch(known, parents) for known in settings)

    def _branch(self, settings: dict[str, Value], parents: set[str]) -> Branch:
        known = {**self.scientific, **settings}
        free = (h for h in self.space if h.column not in parents and h.active(known))
        return Branch(settings, tuple(free))

    @cached_property
    def configurations(self) -> int | None:
        """How many different configurations it can have; None where a range has no such limit."""
        total = 0
        for branch in self.branches:
            counts = [h.range.count for h in branch.dimensions]
            if any(count is None for count in counts):
                return None
            total += math.prod(count for count in counts if count is not None)
        return total

    def configuration(self, unit: Mapping[str, float]) -> dict[str, Value]:
        """The values at a position of the unit cube (column -> position), under function names.

        Positions of inactive dimensions are passed over, so a vector may carry them all.
        """
        settings: dict[str, Value] = dict(self.scientific)
        chosen: dict[str, Value] = dict(self.scientific)
        for h in self.space:
            if h.active(settings):
                if h.column not in unit:
                    raise DesignError("study.no_position", column=h.column, columns=sorted(unit))
                settings[h.column] = chosen[h.name] = h.range.value(unit[h.column])
        for f in self.fixed:
            if holds(f.when, settings):
                chosen[f.name] = f.value
        return chosen

    def unit(self, configuration: Mapping[str, Value]) -> dict[str, float]:
        """The position of a configuration (column -> position); refuses one outside this study."""
        for name, value in self.scientific.items():
            if name not in configuration or not same_value(configuration[name], value):
                raise DesignError(
                    "study.other_setting", name=name, given=configuration.get(name), setting=value
                )
        settings: dict[str, Value] = dict(self.scientific)
        position: dict[str, float] = {}
        for h in self.space:
            if not h.active(settings):
                continue
            if h.name not in configuration:
                raise DesignError("study.configuration_lacks", name=h.name, range=h.range)
            value = configuration[h.name]
            try:
                position[h.column] = h.range.unit(value)
            except DesignError as error:
                inside = error.inside("study.bad_value", column=h.column)
                raise DesignError.several(inside) from None
            settings[h.column] = value
        return position


@dataclass(frozen=True)
class Budget:
    """What a study's trials pay for."""

    dimensions: int  # searched at once, in the branch that has most
    branches: int  # combinations of conditional parents, which share the trials
    trials: int  # trials_per_study
    suggested: int  # trials_per_study that the ladder asks for

    @property
    def enough(self) -> bool:
        """Whether the ladder is met."""
        return self.trials >= self.suggested


def budget(study: Study) -> Budget:
    """What the study's trials pay for, and how many would be enough.

    Trials are shared by the branches, so each of them must be paid for.
    """
    dimensions = max(len(branch.dimensions) for branch in study.branches)
    needed = sum(trials_for(len(branch.dimensions)) for branch in study.branches)
    return Budget(dimensions, len(study.branches), study.trials, needed)


def trials_for(dimensions: int) -> int:
    """The fewest trials that pay for searching this many hyperparameters at once.

    >>> [trials_for(d) for d in (0, 1, 2, 3, 4, 5, 6)]
    [1, 5, 10, 25, 50, 75, 100]
    """
    if dimensions <= 1:
        return _FEWEST if dimensions else 1
    if dimensions - 2 < len(_LADDER):
        return _LADDER[dimensions - 2]
    return _LADDER[-1] + _STEP * (dimensions - 1 - len(_LADDER))


def dimensions_for(trials: int) -> int:
    """How many hyperparameters this many trials pay for, never fewer than one.

    >>> [dimensions_for(n) for n in (3, 9, 10, 24, 25, 50, 80)]
    [1, 1, 2, 2, 3, 4, 5]
    """
    dimensions = 1
    while trials_for(dimensions + 1) <= trials:
        dimensions += 1
    return dimensions
