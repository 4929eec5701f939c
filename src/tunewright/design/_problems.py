"""What cannot be run whatever the workload: every problem of a round, reported at once.

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
from tunewright.design.ranges import Value, choices_of, is_number, is_storable
from tunewright.design.study import Study
from tunewright.errors import DesignError
from tunewright.facts import as_fact, plain
from tunewright.messages import Message

ROLES = ("scientific", "nuisance", "fixed")
LARGEST_SEED = 2**63 - 1
MOST_TRIALS = 10_000_000  # every one is a row of the database from the start
MOST_STUDIES = 10_000


def plain_problems(
    name: Any,
    goal: Any,
    trials_per_study: Any,
    seed: Any,
    detect: Any,
    continues: Any = "",
    change: Any = None,
) -> Iterator[Message]:
    """Problems of everything but the hyperparameters."""
    if problem := name_problem(name):
        yield Message("round.bad_name", {"problem": problem.to_data()})
    if isinstance(goal, Message):
        if not _readable(goal):
            yield Message("round.bad_goal", {"goal": goal.to_data()})
    elif isinstance(goal, str) and not is_storable(goal):
        yield Message("round.goal_unstorable", {"goal": goal})
    elif not isinstance(goal, str) or not goal.strip():
        yield Message("round.goal_empty")
    if not _whole(trials_per_study) or not 1 <= trials_per_study <= MOST_TRIALS:
        yield Message(
            "round.bad_trials_per_study",
            {"trials_per_study": trials_per_study, "most": MOST_TRIALS},
        )
    if not _whole(seed) or not 0 <= seed <= LARGEST_SEED:
        yield Message("round.bad_seed", {"seed": seed})
    if detect is not None and not (is_number(detect) and detect > 0):
        yield Message("round.bad_detect", {"detect": detect})
    if continues != "" and (problem := name_problem(continues)):
        yield Message("round.continues_bad_name", {"problem": problem.to_data()})
    elif continues and continues == name:
        yield Message("round.continues_itself", {"name": name})
    if change is not None and not (isinstance(change, Message) and _readable(change)):
        given = change.to_data() if isinstance(change, Message) else as_fact(change)
        yield Message("round.bad_change", {"change": given})


def as_stored(message: Message) -> Message:
    """A message as a store and a round file give it back: its facts as finite plain data.

    >>> as_stored(Message("change.wider", {"names": ("learning_rate",)})).facts
    {'names': ['learning_rate']}
    """
    return Message(message.code, _finite(plain(message.facts)))


def _finite(fact: Any) -> Any:
    """Plain data with NaN and infinities as text: JSON has no word for them."""
    if isinstance(fact, dict):
        return {name: _finite(one) for name, one in fact.items()}
    if isinstance(fact, list):
        return [_finite(one) for one in fact]
    return str(fact) if isinstance(fact, float) and not math.isfinite(fact) else fact


def _readable(message: Message) -> bool:
    """Whether the sentence can be made: a file may hold any code and any facts."""
    try:
        return is_storable(message.text)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return False


def settle_role(role: str, declared: Any, problems: list[Message]) -> dict[str, Any]:
    """One role's mapping with lists as choices; adds what is wrong with it to `problems`."""
    if not isinstance(declared, Mapping):
        problems.append(Message("round.role_not_mapping", {"role": role, "declared": declared}))
        return {}
    return settle(declared, role, problems)


def kind_problems(roles: Mapping[str, Mapping[str, Any]]) -> Iterator[Message]:
    """Problems of single declarations (parsed): a value to search, a range to fix, two roles."""
    for name, declared in roles["scientific"].items():
        if isinstance(declared, Given):
            yield Message("round.scientific_given", {"name": name, "values": list(declared.values)})
        elif isinstance(declared, Value):
            yield Message("round.scientific_value", {"name": name, "declared": declared})
        elif declared.belief is not None:
            yield Message("round.scientific_belief", {"name": name, "belief": str(declared.belief)})
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
            yield Message("round.two_roles", {"name": name, "roles": stands})


def given_problems(
    roles: Mapping[str, Mapping[str, Any]], trials_per_study: int
) -> Iterator[Message]:
    """Problems of parents and their children, and of too many studies; kinds are right by now."""
    scientific = roles["scientific"]
    listed = {name: choices_of(d) for name, d in scientific.items()}
    settled = {name: values for name, values in listed.items() if values is not None}
    for role in ("nuisance", "fixed"):
        for name, declared in roles[role].items():
            if not isinstance(declared, Given):
                continue
            if name in scientific and name not in settled:
                yield Message(
                    "given.parent_is_range",
                    {
                        "role": role,
                        "name": name,
                        "declared": scientific[name],
                        "values": list(declared.values),
                    },
                )
            elif role == "nuisance":
                yield from _said(role, unfold_searched({name: declared}, settled))
    studies = math.prod(len(values) for values in settled.values())
    if studies > MOST_STUDIES:
        yield Message("round.too_many_studies", {"studies": studies, "most": MOST_STUDIES})
    elif studies * trials_per_study > MOST_TRIALS:
        yield Message(
            "round.too_many_trials",
            {"studies": studies, "trials_per_study": trials_per_study, "most": MOST_TRIALS},
        )


def study_problems(studies: Sequence[Study]) -> Iterator[Message]:
    """Problems seen only when everything is unfolded: names active twice, equal columns."""
    for study in studies:
        for branch in study.branches:
            known = {**study.scientific, **branch.settings}
            active = [*study.scientific, *(h.name for h in study.space if h.active(known))]
            active += [f.name for f in study.fixed if holds(f.when, known)]
            doubled = sorted(name for name, times in Counter(active).items() if times > 1)
            for name in doubled:
                yield Message("round.declared_twice", {"name": name, "study": study.label})
            if doubled:
                return
        columns = Counter([*(h.column for h in study.space), *(f.column for f in study.fixed)])
        for column in sorted(column for column, times in columns.items() if times > 1):
            yield Message("round.same_column", {"column": column})
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


def _said(role: str, unfolding: Iterator[Hyperparameter | Fixed]) -> Iterator[Message]:
    try:
        for _ in unfolding:
            pass
    except DesignError as error:
        yield from error.inside("declaration.inside", place=role)
