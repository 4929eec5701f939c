"""Configurations written by hand, or a grid of them, in the order given."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tunewright.design.conditions import holds
from tunewright.design.objective import Objective
from tunewright.design.ranges import Choice, Value, as_plain, same_value, short
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.errors import DesignError
from tunewright.messages import Message
from tunewright.nearest import nearest
from tunewright.search.search import Suggestion, next_index
from tunewright.store.trial import Trial

_SOURCE = "Listed()"  # where the configurations are from; whoever reads a file names it instead


@dataclass(frozen=True)
class Listed:
    """These configurations in this order; one that names no scientific value is for every study.

    Fixed hyperparameters may be left out: the study fills them in.
    """

    configurations: Sequence[Mapping[str, Value]]

    def __post_init__(self) -> None:
        """Take copies, so that a later change of the caller's list changes nothing here."""
        if not self.configurations:
            raise DesignError("listed.empty", source=_SOURCE)
        copies = []
        for number, listed in enumerate(self.configurations):
            if not isinstance(listed, Mapping):
                raise DesignError(
                    "listed.not_a_mapping", source=_SOURCE, number=number, listed=listed
                )
            copies.append({name: as_plain(value) for name, value in listed.items()})
        object.__setattr__(self, "configurations", tuple(copies))

    @classmethod
    def grid(cls, **values: Iterable[Value]) -> Listed:
        """Every combination of these values, the last name varying fastest.

        >>> Listed.grid(learning_rate=[0.1, 0.01], beta1=[0.9]).configurations
        ({'learning_rate': 0.1, 'beta1': 0.9}, {'learning_rate': 0.01, 'beta1': 0.9})
        """
        axes = {name: Choice(tuple(axis)) for name, axis in values.items()}
        lists = [axis.values for axis in axes.values()]
        return cls(
            [dict(zip(axes, combination, strict=True)) for combination in itertools.product(*lists)]
        )

    @property
    def name(self) -> str:
        """Its name in the database."""
        return "listed"

    @property
    def adaptive(self) -> bool:
        """No: all suggestions are made when the round begins."""
        return False

    def vet(self, round: Round, objective: Objective) -> None:
        """Refuse a round that the list does not fit."""
        del objective  # listed configurations are as good for any
        self.check(round.studies)

    def check(self, studies: Sequence[Study]) -> None:
        """Refuse, all at once, what fits no study of a round, or leaves one short of trials."""
        problems = [
            Message(
                "listed.of_no_study",
                {
                    "source": _SOURCE,
                    "number": number,
                    "listed": dict(listed),
                    "studies": [study.label for study in studies],
                },
            )
            for number, listed in enumerate(self.configurations)
            if not any(_belongs(study, listed) for study in studies)
        ]
        for study in studies:
            numbers = self.own(study)
            if len(numbers) < study.trials:
                problems.append(
                    Message(
                        "listed.too_few",
                        {
                            "source": _SOURCE,
                            "study": study.label,
                            "configurations": len(numbers),
                            "trials": study.trials,
                        },
                    )
                )
            for number in numbers:
                try:
                    _suggestion(study, number, self.configurations[number])
                except DesignError as error:
                    problems.extend(error.problems)
        if problems:
            raise DesignError.several(
                [problem for n, problem in enumerate(problems) if problem not in problems[:n]]
            )

    def own(self, study: Study) -> list[int]:
        """Which of the configurations belong to a study: their places in the list."""
        return [n for n, listed in enumerate(self.configurations) if _belongs(study, listed)]

    def suggest(self, study: Study, trials: Sequence[Trial], count: int) -> list[Suggestion]:
        """The next `count` configurations that belong to this study, fewer at the end."""
        numbers, start = self.own(study), next_index(trials)
        return [
            _suggestion(study, number, self.configurations[number])
            for number in numbers[start : start + count]
        ]


def _belongs(study: Study, listed: Mapping[str, Value]) -> bool:
    return all(
        same_value(listed[name], value)
        for name, value in study.scientific.items()
        if name in listed
    )


def _suggestion(study: Study, number: int, listed: Mapping[str, Value]) -> Suggestion:
    """The listed configuration, completed and checked against the study."""
    where: dict[str, Any] = {"source": _SOURCE, "number": number}
    configuration: dict[str, Value] = {**listed, **study.scientific}
    try:
        unit = study.unit(configuration)
    except DesignError as error:
        raise DesignError.several(error.inside("listed.problem", **where)) from None
    settings = {**study.scientific}
    active = set(study.scientific)
    for h in study.space:
        if h.column in unit:
            active.add(h.name)
            settings[h.column] = configuration[h.name]
    for f in study.fixed:
        if not holds(f.when, settings):
            continue
        active.add(f.name)
        if not same_value(configuration.setdefault(f.name, f.value), f.value):
            value, fixed = short(configuration[f.name]), short(f.value)
            raise DesignError("listed.not_fixed", name=f.name, value=value, fixed=fixed, **where)
    for name in configuration:
        if name not in active:
            raise DesignError(
                "listed.unknown_hyperparameter",
                study=study.label,
                name=name,
                near=nearest(name, active),
                known=sorted(active),
                **where,
            )
    return Suggestion(configuration, unit)
