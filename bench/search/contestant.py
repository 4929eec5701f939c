"""What takes part: something that is asked for configurations and told what became of them.

A contestant is a name and a way to begin a run of one problem. The runner asks for as many
configurations as there are free workers, and tells all of them before it asks again: while several
are asked for at once, the earlier ones are pending to a contestant that looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from tunewright.design.study import Study
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.bayesian.model import Recipe
from tunewright.search.search import Search, Suggestion
from tunewright.store.trial import Trial

from .problem import Configuration, Problem


class Session(Protocol):
    """One run of one problem."""

    def ask(self, count: int) -> Sequence[Configuration]:
        """The next configurations, in order."""
        ...

    def tell(self, number: int, value: float | None) -> None:
        """What the configuration asked for as number so and so came to; None: it diverged."""
        ...

    def add(self, configuration: Configuration, value: float | None) -> None:
        """A trial that was not asked for, with what it came to; it takes the next number."""
        ...

    def recommended(self) -> Configuration | None:
        """The configuration it would name now; None: that of the lowest value seen."""
        ...


# of the problem, the seed and the number of trials there will be
Opening = Callable[[Problem, int, int], Session]


class Suggesting:
    """A search of ours: its trials are the state, pending ones among them."""

    def __init__(self, search: Search, problem: Problem, seed: int, trials: int) -> None:
        self.search = search
        self.study = problem.study(seed, trials)
        self.trials: list[Trial] = []

    def ask(self, count: int) -> Sequence[Configuration]:
        """Suggestions, kept as running trials until they are told."""
        made = self.search.suggest(self.study, self.trials, count)
        for suggestion in made:
            number = len(self.trials)
            self.trials.append(
                Trial(
                    number=number,
                    study=0,
                    index=number,
                    configuration=suggestion.configuration,
                    unit=suggestion.unit,
                    status="running",
                )
            )
        return [suggestion.configuration for suggestion in made]

    def tell(self, number: int, value: float | None) -> None:
        """Completed, or infeasible."""
        self.trials[number] = replace(
            self.trials[number],
            status="infeasible" if value is None else "completed",
            reason="diverged" if value is None else "",
            value=value,
        )

    def recommended(self) -> Configuration | None:
        """Of the best predicted mean, where the search has a model."""
        if not isinstance(self.search, Bayesian):
            return None
        named = self.search.recommend(self.study, self.trials)
        return None if named is None else named.configuration

    def add(self, configuration: Configuration, value: float | None) -> None:
        """As if it had been suggested."""
        number = len(self.trials)
        unit = self.study.unit(configuration)
        self.trials.append(
            Trial(
                number=number,
                study=0,
                index=number,
                configuration=configuration,
                unit=unit,
                status="running",
            )
        )
        self.tell(number, value)


@dataclass(frozen=True)
class Random:
    """Independent uniform draws on the declared scales: what quasi-random points improve on."""

    name: str = "random"
    adaptive: bool = False

    def suggest(self, study: Study, trials: Sequence[Trial], count: int) -> list[Suggestion]:
        """By the seed and the trial's index."""
        return [_drawn(study, len(trials) + i) for i in range(count)]


def _drawn(study: Study, index: int) -> Suggestion:
    random = np.random.default_rng([study.seed, 0xD4, index])
    unit = {
        h.column: float(u)
        for h, u in zip(study.space, random.random(len(study.space)), strict=True)
    }
    configuration = study.configuration(unit)
    return Suggestion(configuration, study.unit(configuration))


def of(search: Search) -> Opening:
    """A contestant that is a search of ours."""
    return lambda problem, seed, trials: Suggesting(search, problem, seed, trials)


def ours(name: str) -> Opening:
    """`bayesian`, or `bayesian:field=value,...` for another recipe."""
    _, _, settings = name.partition(":")
    given = dict(one.split("=", 1) for one in settings.split(",") if one)
    recipe: dict[str, Any] = {k: _value(v) for k, v in given.items()}
    return of(Bayesian(recipe=Recipe(**recipe)))


def _value(text: str) -> bool | int | float | str | None:
    plain: Mapping[str, bool | None] = {"True": True, "False": False, "None": None}
    if text in plain:
        return plain[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
