"""What cannot be run whatever the workload: every problem of a round, said at once.

What depends on the training program, the objective or what names mean is in `guards`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tunewright.design.conditions import (
    Fixed,
    Given,
    Hyperparameter,
    When,
    column_of,
    holds,
    name_problem,
    settle,
    unfold_fixed,
    unfold_searched,
)
from tunewright.design.ranges import Choice, Value, is_number, is_storable
from tunewright.design.study import Study
from tunewright.errors import DesignError

ROLES = ("scientific", "nuisance", "fixed")
LARGEST_SEED = 2**63 - 1
MOST_TRIALS = 10_000_000  # every one is a row of the record from the start
MOST_STUDIES = 10_000


def plain_problems(
    name: Any, goal: Any, trials_per_study: Any, seed: Any, detect: Any, continues: Any = ""
) -> Iterator[str]:
    """Problems of everything but the hyperparameters."""
    if problem := name_problem(name):
        yield f"the round: {problem}"
    if isinstance(goal, str) and not is_storable(goal):
        yield f"goal: {goal!r} holds a NUL or half a character."
    elif not isinstance(goal, str) or not goal.strip():
        yield (
            "goal: empty. A round asks one question; write it down, such as "
            '"Does weight decay lower the validation error?"'
        )
    if not _whole(trials_per_study) or not 1 <= trials_per_study <= MOST_TRIALS:
        yield (
            f"trials_per_study: {trials_per_study!r} is not a whole number from 1 to "
            f"{MOST_TRIALS:,}."
        )
    if not _whole(seed) or not 0 <= seed <= LARGEST_SEED:
        yield f"seed: {seed!r} is not a whole number from 0 to 2**63 - 1."
    if detect is not None and not (is_number(detect) and detect > 0):
        yield (
            f"detect: {detect!r} is not a positive number. It is the smallest difference of the "
            "objective worth finding; leave it out if you do not know."
        )
    if continues != "" and (problem := name_problem(continues)):
        yield f"continues: {problem} It names the earlier round whose trials count too."
    elif continues and continues == name:
        yield f"continues: {name!r} is this round itself. Name an earlier one, or leave it out."


def settle_role(role: str, declared: Any, problems: list[str]) -> dict[str, Any]:
    """One role's mapping with lists as choices; adds what is wrong with it to `problems`."""
    if not isinstance(declared, Mapping):
        problems.append(f"{role}: {declared!r} is not a mapping of names to ranges or values.")
        return {}
    return settle(declared, role, problems)


def kind_problems(roles: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Problems of single declarations (settled): a value to search, a range to fix, two roles."""
    for name, declared in roles["scientific"].items():
        if isinstance(declared, Given):
            yield (
                f"scientific {name}: given() belongs under the same name in nuisance= or fixed=; "
                f"list the values here: {list(declared.values)}."
            )
        elif isinstance(declared, Value):
            yield (
                f"scientific {name}: {declared!r} is a plain value. A scientific hyperparameter "
                "has a list of values (one study each) or a range; a single value belongs into "
                "fixed=."
            )
    for name, declared, when in _leaves(roles["nuisance"]):
        yield from _said("nuisance", unfold_searched({name: declared}, {}, when))
    for name, declared, when in _leaves(roles["fixed"]):
        yield from _said("fixed", unfold_fixed({name: declared}, {}, when))
    for name in dict.fromkeys(name for role in ROLES for name in roles[role]):
        stands = [
            role
            for role in ROLES
            if name in roles[role] and not isinstance(roles[role][name], Given)
        ]
        if len(stands) > 1:
            yield f"{name}: stands in {' and '.join(stands)}; in a round it has one role."


def given_problems(roles: Mapping[str, Mapping[str, Any]], trials_per_study: int) -> Iterator[str]:
    """Problems of parents and their children, and of too many studies; kinds are right by now."""
    scientific = roles["scientific"]
    settled = {name: d.values for name, d in scientific.items() if isinstance(d, Choice)}
    for role in ("nuisance", "fixed"):
        for name, declared in roles[role].items():
            if not isinstance(declared, Given):
                continue
            if name in scientific and name not in settled:
                yield (
                    f"{role} {name}: given() needs a list of values, but scientific {name} is "
                    f"{scientific[name]}. List the values {list(declared.values)} there."
                )
            elif role == "nuisance":
                yield from _said(role, unfold_searched({name: declared}, settled))
    studies = math.prod(len(values) for values in settled.values())
    if studies > MOST_STUDIES:
        yield (
            f"scientific: the lists make {studies} studies, more than {MOST_STUDIES}. Ask about "
            "fewer hyperparameters at once, or give some of them as ranges."
        )
    elif studies * trials_per_study > MOST_TRIALS:
        yield (
            f"trials_per_study: {studies} studies of {trials_per_study} are more than "
            f"{MOST_TRIALS} trials."
        )


def study_problems(studies: Sequence[Study]) -> Iterator[str]:
    """Problems seen only when everything is unfolded: names active twice, equal columns."""
    for study in studies:
        for branch in study.branches:
            known = {**study.scientific, **branch.settings}
            active = [*study.scientific, *(h.name for h in study.space if h.active(known))]
            active += [f.name for f in study.fixed if holds(f.when, known)]
            doubled = sorted(name for name, times in Counter(active).items() if times > 1)
            for name in doubled:
                yield (
                    f"{name}: declared twice for {study.label}; a name may stand under several "
                    "values of a given(), but not beside itself."
                )
            if doubled:
                return
        columns = Counter([*(h.column for h in study.space), *(f.column for f in study.fixed)])
        for column in sorted(column for column, times in columns.items() if times > 1):
            yield (
                f"{column}: two hyperparameters would both be recorded under this column; rename "
                "one of them."
            )
            return


def _whole(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool)


def _leaves(declared: Mapping[str, Any], when: When = ()) -> Iterator[tuple[str, Any, When]]:
    """Every declaration that is no given(), with the conditions it stands under."""
    for name, declaration in declared.items():
        if isinstance(declaration, Given):
            column = column_of(name, when)
            for value, children in declaration.branches:
                yield from _leaves(children, (*when, (column, value)))
        else:
            yield name, declaration, when


def _said(role: str, unfolding: Iterator[Hyperparameter | Fixed]) -> Iterator[str]:
    try:
        for _ in unfolding:
            pass
    except DesignError as error:
        yield f"{role} {error}"
