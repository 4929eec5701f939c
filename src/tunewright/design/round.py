"""A round of tuning: one goal, and a role for every hyperparameter.

A role belongs to the round, not to the hyperparameter: what is scientific today is fixed tomorrow.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

from tunewright.design._problems import (
    ROLES,
    as_stored,
    given_problems,
    kind_problems,
    plain_problems,
    settle_role,
    study_problems,
)
from tunewright.design.conditions import (
    Fixed,
    Hyperparameter,
    holds,
    unfold_fixed,
    unfold_searched,
)
from tunewright.design.ranges import Value, choices_of
from tunewright.design.role_table import table_of
from tunewright.design.study import Study
from tunewright.errors import DesignError
from tunewright.messages import Message, Text, markup, words


@dataclass(frozen=True)
class Round:
    """A goal, the hyperparameters in their roles, and how many trials each study gets."""

    name: str  # of the round, in its store
    _: KW_ONLY
    goal: str | Message  # the question this round answers; a message in a generated round
    scientific: Mapping[str, Any] = field(default_factory=dict)  # whose effect is measured
    nuisance: Mapping[str, Any] = field(default_factory=dict)  # tuned anew for a fair comparison
    fixed: Mapping[str, Any] = field(default_factory=dict)  # a caveat on every conclusion
    trials_per_study: int  # of the search; more may be added later under the same name
    seed: int = 0  # of the search, and of every trial's seeds
    detect: float | None = None  # the smallest difference worth finding, in metric units
    continues: str = ""  # the earlier round whose trials count too, where they fit
    change: Message | None = None  # what this round changes about the one it follows

    def __post_init__(self) -> None:
        """Take copies, with lists as choices, and refuse what cannot be run, all at once."""
        problems = list(
            plain_problems(
                self.name,
                self.goal,
                self.trials_per_study,
                self.seed,
                self.detect,
                self.continues,
                self.change,
            )
        )
        roles = {role: settle_role(role, getattr(self, role), problems) for role in ROLES}
        problems += kind_problems(roles)
        if not problems:
            problems += given_problems(roles, self.trials_per_study)
        for role, settled in roles.items():
            object.__setattr__(self, role, settled)
        for name in ("goal", "change"):  # equal to the one that is read back
            own = getattr(self, name)
            if isinstance(own, Message) and not problems:
                object.__setattr__(self, name, as_stored(own))
        if not problems:
            problems += self._study_problems()
        if problems:
            raise DesignError.several(problems)

    def _study_problems(self) -> list[Message]:
        try:
            return list(study_problems(self.studies))
        except DesignError as error:  # of unfolding itself
            return list(error.problems)

    @cached_property
    def studies(self) -> tuple[Study, ...]:
        """One study per setting of the scientific lists; scientific ranges are searched in each."""
        listed = {n: choices_of(d) for n, d in self.scientific.items()}
        settled = {n: values for n, values in listed.items() if values is not None}
        ranges = {name: d for name, d in self.scientific.items() if name not in settled}
        unfolded = (*unfold_searched(ranges, {}), *unfold_searched(self.nuisance, settled))
        # what every study has comes first, so that they share those columns of the sequence
        searched = sorted(unfolded, key=lambda h: len(h.when))
        choices = {h.column: h.range.choices for h in searched if h.range.choices is not None}
        constants = tuple(unfold_fixed(self.fixed, {**choices, **settled}))
        products = itertools.product(*settled.values())
        settings = [dict(zip(settled, values, strict=True)) for values in products]
        return tuple(
            Study(
                round=self.name,
                number=number,
                of=len(settings),
                scientific=setting,
                space=tuple(h for h in searched if _possible(h, setting)),
                fixed=tuple(f for f in constants if _possible(f, setting)),
                seed=self.seed,
                trials=self.trials_per_study,
            )
            for number, setting in enumerate(settings)
        )

    @property
    def trials(self) -> int:
        """How many trials the round asks for in all."""
        return len(self.studies) * self.trials_per_study

    @property
    def asks(self) -> Text:
        """The goal as readers see it: with what the round changes, where it follows another.

        >>> wider = Message("change.wider", {"names": ["learning_rate"]})
        >>> Round("r_2", goal="Which rate?", trials_per_study=4, change=wider).asks
        'Which rate? [wider learning_rate]'
        """
        return asked(self.goal, self.change)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name a configuration of this round may carry, each once, as declared."""
        names = [*self.scientific]
        for study in self.studies:
            names += [h.name for h in study.space] + [f.name for f in study.fixed]
        return tuple(dict.fromkeys(names))

    def __repr__(self) -> str:
        """The name, the goal and the size, on one line; `round_file` writes all of it."""
        facts = {"name": self.name, "studies": len(self.studies), "trials": self.trials_per_study}
        return words.one_line(f"<Round {Message('card.round', facts)}: {self.goal}>")

    def _repr_html_(self) -> str:
        """A card for a notebook: the goal, and every hyperparameter in its role."""
        facts = {"name": self.name, "studies": len(self.studies), "trials": self.trials_per_study}
        space = dict.fromkeys(h for study in self.studies for h in study.space)
        fixed = dict.fromkeys(f for study in self.studies for f in study.fixed)
        table = table_of(list(space), list(fixed), self.scientific)
        return markup.card(Message("card.round", facts).text, [str(self.goal)], table=table)

    @property
    def caveats(self) -> tuple[Message, ...]:
        """What limits every conclusion: what is fixed, in one sentence for each condition."""
        groups: dict[tuple[tuple[str, Value], ...], dict[str, Value]] = {}
        for f in dict.fromkeys(f for study in self.studies for f in study.fixed):
            groups.setdefault(f.when, {})[f.name] = f.value
        return tuple(
            Message("round.holds_for", {"fixed": some, "when": dict(when)})
            for when, some in groups.items()
        )


def asked(goal: str | Message, change: Message | None) -> Text:
    """A goal with the change that a round makes, as readers see it."""
    if change is None:
        return Text(str(goal))
    return Message("round.asks", {"goal": goal, "change": change}).text


def _possible(dimension: Hyperparameter | Fixed, setting: Mapping[str, Value]) -> bool:
    """Whether it can be active in the study of this setting."""
    return holds(tuple((c, v) for c, v in dimension.when if c in setting), setting)
