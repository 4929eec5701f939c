"""A round of tuning: one goal, and a role for every hyperparameter.

A role belongs to the round, not to the hyperparameter: what is scientific today is fixed tomorrow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

from tunewright.design.condition import (
    Fixed,
    Given,
    Hyperparameter,
    holds,
    unfold_fixed,
    unfold_searched,
)
from tunewright.design.space import Choice, Value, as_range
from tunewright.design.study import Study
from tunewright.errors import DesignError

LONGEST_NAME = 200  # characters, of a round or of a hyperparameter
LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Round:
    """A goal, the hyperparameters in their roles, and how many trials each study gets."""

    name: str
    _: KW_ONLY
    goal: str  # the question this round answers
    scientific: Mapping[str, Any] = field(default_factory=dict)  # whose effect is measured
    nuisance: Mapping[str, Any] = field(default_factory=dict)  # tuned anew for a fair comparison
    fixed: Mapping[str, Any] = field(default_factory=dict)  # a caveat on every conclusion
    trials_per_study: int
    seed: int = 0
    detect: float | None = None  # the smallest difference worth finding, in metric units

    def __post_init__(self) -> None:
        """Refuse what cannot be run, every problem at once."""
        problems = list(_problems(self))
        if problems:
            raise DesignError("\n".join(problems))

    @cached_property
    def studies(self) -> tuple[Study, ...]:
        """One study per setting of the scientific lists; scientific ranges are searched in each."""
        settled = _settled(self.scientific)
        ranges = {name: d for name, d in self.scientific.items() if name not in settled}
        searched = (*unfold_searched(ranges, {}), *unfold_searched(self.nuisance, settled))
        choices = {h.column: h.range.values for h in searched if isinstance(h.range, Choice)}
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
    def names(self) -> tuple[str, ...]:
        """Every name a configuration of this round may carry, each once, as declared."""
        names = [*self.scientific]
        for study in self.studies:
            names += [h.name for h in study.space] + [f.name for f in study.fixed]
        return tuple(dict.fromkeys(names))

    @property
    def caveats(self) -> tuple[str, ...]:
        """What limits every conclusion of this round: one sentence per fixed hyperparameter."""
        seen = dict.fromkeys(f for study in self.studies for f in study.fixed)
        return tuple(
            f"holds for {f.name} = {f.value}"
            + "".join(f" under {column} = {value}" for column, value in f.when)
            for f in seen
        )


def _settled(scientific: Mapping[str, Any]) -> dict[str, tuple[Value, ...]]:
    """The scientific hyperparameters given as lists, which make the studies."""
    ranges = {name: as_range(declared) for name, declared in scientific.items()}
    return {name: r.values for name, r in ranges.items() if isinstance(r, Choice)}


def _possible(dimension: Hyperparameter | Fixed, setting: Mapping[str, Value]) -> bool:
    """Whether it can be active in the study of this setting."""
    return holds(tuple((c, v) for c, v in dimension.when if c in setting), setting)


def _problems(own: Round) -> Iterator[str]:
    """Everything wrong with a round that can be said without knowing its workload."""
    yield from _name_problems("the round", own.name)
    if not isinstance(own.goal, str) or not own.goal.strip():
        yield (
            "goal: empty. A round asks one question; write it down, such as "
            '"Does weight decay lower the validation error?"'
        )
    if not _is_count(own.trials_per_study):
        yield f"trials_per_study: {own.trials_per_study!r} is not a whole number of at least 1."
    if (
        isinstance(own.seed, bool)
        or not isinstance(own.seed, int)
        or not (0 <= own.seed <= LARGEST_SEED)
    ):
        yield f"seed: {own.seed!r} is not a whole number from 0 to 2**63 - 1."
    if own.detect is not None and not (
        isinstance(own.detect, int | float)
        and not isinstance(own.detect, bool)
        and math.isfinite(own.detect)
        and own.detect > 0
    ):
        yield (
            f"detect: {own.detect!r} is not a positive number. It is the smallest difference of "
            "the objective worth finding; leave it out if you do not know."
        )
    structure = list(_structure_problems(own))
    yield from structure
    if not structure:
        yield from _identity_problems(own)


def _structure_problems(own: Round) -> Iterator[str]:
    """Problems of the three mappings: names, ranges, roles."""
    for role in ("scientific", "nuisance", "fixed"):
        declared = getattr(own, role)
        if not isinstance(declared, Mapping):
            yield f"{role}: {declared!r} is not a mapping of names to ranges or values."
            return
        for name in declared:
            yield from _name_problems(f"{role} hyperparameter", name)
    for name, declared in own.scientific.items():
        if isinstance(declared, Given):
            yield (
                f"scientific {name}: given() belongs under the same name in nuisance= or fixed=; "
                f"list the values here: {list(declared.values)}."
            )
        else:
            yield from _refused(f"scientific {name}", lambda d=declared: _searched(d))
    for name in own.nuisance:
        only = {name: own.nuisance[name]}
        settled = {} if isinstance(own.scientific.get(name), Given) else _lists(own.scientific)
        yield from _refused(
            f"nuisance {name}", lambda o=only, s=settled: list(unfold_searched(o, s))
        )
    for name, declared in own.fixed.items():
        if not isinstance(declared, Given):
            yield from _refused("", lambda n=name, d=declared: list(unfold_fixed({n: d}, {})))
    for name in dict.fromkeys([*own.scientific, *own.nuisance, *own.fixed]):
        roles = [
            role
            for role in ("scientific", "nuisance", "fixed")
            if name in getattr(own, role) and not isinstance(getattr(own, role)[name], Given)
        ]
        if len(roles) > 1:
            yield f"{name}: stands in {' and '.join(roles)}; in a round it has one role."


def _identity_problems(own: Round) -> Iterator[str]:
    """Problems seen only when everything is unfolded: names active twice, bad fixed givens."""
    try:
        studies = own.studies
    except DesignError as error:
        yield str(error)
        return
    for study in studies:
        for branch in study.branches:
            known = {**study.scientific, **branch.settings}
            active = [h.name for h in study.space if h.active(known)]
            active += [f.name for f in study.fixed if holds(f.when, known)] + [*study.scientific]
            doubled = {name for name in active if active.count(name) > 1}
            for name in sorted(doubled):
                yield (
                    f"{name}: declared twice for {study.label}; a name may stand under several "
                    "values of a given(), but not beside itself."
                )
            if doubled:
                return


def _lists(scientific: Mapping[str, Any]) -> dict[str, tuple[Value, ...]]:
    try:
        return _settled(scientific)
    except DesignError:
        return {}  # said already, under the scientific name


def _searched(declared: Any) -> None:
    if as_range(declared) is None:
        raise DesignError(
            f"{declared!r} is a plain value. A scientific hyperparameter has a list of values "
            "(one study each) or a range; a single value belongs into fixed=."
        )


def _refused(where: str, attempt: Any) -> Iterator[str]:
    try:
        attempt()
    except DesignError as error:
        yield f"{where}: {error}" if where else str(error)


def _name_problems(what: str, name: Any) -> Iterator[str]:
    if not isinstance(name, str) or not name.strip():
        yield f"{what}: the name {name!r} is empty or not text."
    elif len(name) > LONGEST_NAME:
        yield f"{what}: the name {name[:40]!r}... is longer than {LONGEST_NAME} characters."
    elif any(not c.isprintable() for c in name):
        yield f"{what}: the name {name!r} has a line break or another unprintable character."


def _is_count(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and 1 <= x <= 10_000_000
