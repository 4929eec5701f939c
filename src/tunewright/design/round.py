"""A round of tuning: one goal, and a role for every hyperparameter.

A role belongs to the round, not to the hyperparameter: what is scientific today is fixed tomorrow.

What depends on the training program, the objective or what names mean is in `guards`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
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
from tunewright.design.ranges import Range, Value, choices_of, is_number, is_storable, short
from tunewright.design.study import Study, table_of
from tunewright.errors import DesignError
from tunewright.facts import as_fact, plain
from tunewright.messages import Message, Text, markup, words

ROLES = ("scientific", "nuisance", "fixed")
_LARGEST_SEED = 2**63 - 1
_MOST_TRIALS = 10_000_000  # every one is a row of the database from the start
_MOST_STUDIES = 10_000
Where = tuple[str, str]  # role and column


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
    if not _whole(trials_per_study) or not 1 <= trials_per_study <= _MOST_TRIALS:
        yield Message(
            "round.bad_trials_per_study",
            {"trials_per_study": trials_per_study, "most": _MOST_TRIALS},
        )
    if not _whole(seed) or not 0 <= seed <= _LARGEST_SEED:
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


def _as_stored(message: Message) -> Message:
    """A message as a store and a round file give it back: its facts as finite plain data.

    >>> _as_stored(Message("change.wider", {"names": ("learning_rate",)})).facts
    {'names': ['learning_rate']}
    """
    return Message(message.code, _finite(plain(message.facts)))


def _finite(fact: Any) -> Any:
    """Plain data with NaN and infinities as text: JSON has no word for them."""
    if isinstance(fact, dict):
        return {name: _finite(part) for name, part in fact.items()}
    if isinstance(fact, list):
        return [_finite(part) for part in fact]
    return str(fact) if isinstance(fact, float) and not math.isfinite(fact) else fact


def _readable(message: Message) -> bool:
    """Whether the sentence can be made: a file may hold any code and any facts."""
    try:
        return is_storable(message.text)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return False


def _settle_role(role: str, declared: Any, problems: list[Message]) -> dict[str, Any]:
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
        yield from _unfold_problems("nuisance", unfold_searched({name: declared}, {}, when))
    for name, declared, when in _leaves(roles["fixed"]):
        yield from _unfold_problems("fixed", unfold_fixed({name: declared}, {}, when))
    for name in dict.fromkeys(name for role in ROLES for name in roles[role]):
        stands = [
            role
            for role in ROLES
            if name in roles[role] and not isinstance(roles[role][name], Given)
        ]
        if len(stands) > 1:
            yield Message("round.two_roles", {"name": name, "roles": stands})


def _parent_problems(
    roles: Mapping[str, Mapping[str, Any]], trials_per_study: int
) -> Iterator[Message]:
    """Problems of parents and their children, and of too many studies; kinds are right by now."""
    scientific = roles["scientific"]
    listed = {name: choices_of(d) for name, d in scientific.items()}
    lists = {name: values for name, values in listed.items() if values is not None}
    for role in ("nuisance", "fixed"):
        for name, declared in roles[role].items():
            if not isinstance(declared, Given):
                continue
            if name in scientific and name not in lists:
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
                yield from _unfold_problems(role, unfold_searched({name: declared}, lists))
    studies = math.prod(len(values) for values in lists.values())
    if studies > _MOST_STUDIES:
        yield Message("round.too_many_studies", {"studies": studies, "most": _MOST_STUDIES})
    elif studies * trials_per_study > _MOST_TRIALS:
        yield Message(
            "round.too_many_trials",
            {"studies": studies, "trials_per_study": trials_per_study, "most": _MOST_TRIALS},
        )


def _study_problems(studies: Sequence[Study]) -> Iterator[Message]:
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


def _unfold_problems(role: str, unfolding: Iterator[Hyperparameter | Fixed]) -> Iterator[Message]:
    try:
        for _ in unfolding:
            pass
    except DesignError as error:
        yield from error.inside("declaration.inside", place=role)


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
                trials_per_study=self.trials_per_study,
                seed=self.seed,
                detect=self.detect,
                continues=self.continues,
                change=self.change,
            )
        )
        roles = {role: _settle_role(role, getattr(self, role), problems) for role in ROLES}
        problems += kind_problems(roles)
        if not problems:
            problems += _parent_problems(roles, self.trials_per_study)
        for role, declared in roles.items():
            object.__setattr__(self, role, declared)
        for name in ("goal", "change"):  # equal to the one that is read back
            message = getattr(self, name)
            if isinstance(message, Message) and not problems:
                object.__setattr__(self, name, _as_stored(message))
        if not problems:
            problems += self._study_problems()
        if problems:
            raise DesignError.several(problems)

    def _study_problems(self) -> list[Message]:
        try:
            return list(_study_problems(self.studies))
        except DesignError as error:  # of unfolding itself
            return list(error.problems)

    @cached_property
    def studies(self) -> tuple[Study, ...]:
        """One study per setting of the scientific lists; scientific ranges are searched in each."""
        listed = {n: choices_of(d) for n, d in self.scientific.items()}
        lists = {n: values for n, values in listed.items() if values is not None}
        ranges = {name: d for name, d in self.scientific.items() if name not in lists}
        unfolded = (*unfold_searched(ranges, {}), *unfold_searched(self.nuisance, lists))
        # what every study has comes first, so that they share those columns of the sequence
        searched = sorted(unfolded, key=lambda h: len(h.when))
        choices = {h.column: h.range.choices for h in searched if h.range.choices is not None}
        constants = tuple(unfold_fixed(self.fixed, {**choices, **lists}))
        products = itertools.product(*lists.values())
        settings = [dict(zip(lists, values, strict=True)) for values in products]
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
        return full_question(self.goal, self.change)

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


def full_question(goal: str | Message, change: Message | None) -> Text:
    """A goal with the change that a round makes, as readers see it."""
    if change is None:
        return Text(str(goal))
    return Message("round.asks", {"goal": goal, "change": change}).text


def _possible(dimension: Hyperparameter | Fixed, setting: Mapping[str, Value]) -> bool:
    """Whether it can be active in the study of this setting."""
    return holds(tuple((c, v) for c, v in dimension.when if c in setting), setting)


@dataclass(frozen=True)
class Change:
    """One difference between two rounds: what changed, its new value, and the message."""

    what: str  # `seed`, `detect`, a role whose order changed, or the column of a hyperparameter
    now: str  # empty when it is gone
    message: Message


def differences(old: Round, new: Round) -> list[Message]:
    """What changed, one message each; the goal, number of trials and what it continues may.

    >>> from tunewright.design.ranges import log
    >>> roles = {"nuisance": {"lr": log(0.01, 1)}, "trials_per_study": 4}
    >>> old, new = Round("r", goal="?", **roles), Round("r", goal="!", **roles, seed=7)
    >>> [message.text for message in differences(old, new)]
    ['seed: was 0, is 7']
    """
    return [change.message for change in changes(old, new)]


def changes(old: Round, new: Round) -> list[Change]:
    """What changed, as in `differences`, with what each sentence is about."""
    changed = []
    for key in ("seed", "detect"):
        before, after = getattr(old, key), getattr(new, key)
        if before != after:
            changed.append(
                Change(key, str(after), _message_of("value", key, str(before), str(after)))
            )
    was, now = dict(_flat(old)), dict(_flat(new))
    removed = [key for key in was if key not in now]
    came = [key for key in now if key not in was]
    for role, column in [key for key in was if key in now and was[key] != now[key]]:
        after = now[role, column]
        message = _message_of("value", f"{role} {column}", was[role, column], after)
        changed.append(Change(column, after, message))
    for role, column in removed:
        before = was[role, column]
        other = next((r for r, c in came if c == column), None)
        if other is None:
            changed.append(Change(column, "", _message_of("gone", f"{role} {column}", before)))
        else:
            came.remove((other, column))
            after = now[other, column]
            message = _message_of("value", column, f"{role} {before}", f"{other} {after}")
            changed.append(Change(column, after, message))
    for role, column in came:
        after = now[role, column]
        changed.append(Change(column, after, _message_of("new", f"{role} {column}", after=after)))
    return changed or list(_order_changes(was, now))


def _order_changes(was: Mapping[Where, str], now: Mapping[Where, str]) -> Iterator[Change]:
    for role in ("scientific", "nuisance"):
        before = [column for r, column in was if r == role]
        after = [column for r, column in now if r == role]
        if before != after:
            order = ", ".join(after)
            yield Change(role, order, _message_of("order", role, ", ".join(before), order))


def _message_of(kind: str, what: str, before: str = "", after: str = "") -> Message:
    return Message(f"changed.{kind}", {"what": what, "before": before, "after": after})


def _flat(round: Round) -> Iterator[tuple[Where, str]]:
    """Every declaration of a round as ((role, column), text), givens unfolded."""
    for role in ROLES:
        yield from _flat_role(role, getattr(round, role), ())


def _flat_role(role: str, declared: Mapping[str, Any], when: When) -> Iterator[tuple[Where, str]]:
    for name, declaration in declared.items():
        column = column_of(name, when)
        if isinstance(declaration, Given):
            yield (role, column), f"given {', '.join(map(repr, declaration.values))}"
            for value, children in declaration.branches:
                yield from _flat_role(role, children, (*when, (column, value)))
        else:
            text = str(declaration) if isinstance(declaration, Range) else short(declaration)
            yield (role, column), text
