"""A study: one setting of the scientific hyperparameters, and the space searched under it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tunewright.design.conditions import Fixed, Hyperparameter, holds
from tunewright.design.ranges import Value, same_value
from tunewright.design.role_table import table_of
from tunewright.errors import DesignError
from tunewright.messages import Message, markup, words

_MOST_BRANCHES = 1000  # beyond it no budget reaches every combination


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
                for one in settings
                for grown in (
                    [{**one, h.column: value} for value in h.range.choices]
                    if h.active({**self.scientific, **one})
                    else [one]
                )
            ]
            if len(settings) > _MOST_BRANCHES:
                raise DesignError("study.too_many_branches", study=self.label, most=_MOST_BRANCHES)
        return tuple(self._branch(one, parents) for one in settings)

    def _branch(self, settings: dict[str, Value], parents: set[str]) -> Branch:
        known = {**self.scientific, **settings}
        free = (h for h in self.space if h.column not in parents and h.active(known))
        return Branch(settings, tuple(free))

    @cached_property
    def configurations(self) -> int | None:
        """How many different configurations it can have; None where a range has no such limit."""
        found = 0
        for branch in self.branches:
            counts = [h.range.count for h in branch.dimensions]
            if any(count is None for count in counts):
                return None
            found += math.prod(count for count in counts if count is not None)
        return found

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
