"""What is refused before any compute because of what names mean and what is trained.

A number of steps to be searched, a batch size tuned for a validation metric, a seed as a
hyperparameter, a name the training program does not take, a declared meaning of no such name. Each
refusal explains why and what to do; all of a round's are reported at once. What is only unwise is a
note of `advice`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping

from tunewright.design.conditions import holds
from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.design.role_advice import advise as advise
from tunewright.design.round import Round
from tunewright.design.spellings import lengths, usual_meaning
from tunewright.errors import DesignError
from tunewright.messages import Message

_MISSPELT = 0.85  # similarity of two names, from which one is taken for a misspelling of the other


def refuse(round: Round, objective: Objective, meaning: Meaning) -> None:
    """Raise DesignError with every reason why this round cannot be run, by any program."""
    found = refusals(round, objective, meaning)
    if found:
        raise DesignError.several(found)


def refusals(
    round: Round,
    objective: Objective,
    meaning: Meaning,
    accepts: frozenset[str] | None = None,
    required: frozenset[str] = frozenset(),
    takes_anything: bool = False,
) -> list[Message]:
    """Every reason why this round cannot be run for this workload.

    `accepts` are the names the training program takes (None: not known), `required` those of them
    without a default; with `takes_anything` other names are passed on too.
    """
    return [
        *_searched_steps(round, meaning),
        *_tuned_batch_size(round, objective, meaning),
        *_seeds(round),
        *_unknown_names(round, accepts, takes_anything),
        *_missing_names(round, required),
        *_meant_elsewhere(round, meaning, accepts, takes_anything),
    ]


def declared_problems(meaning: Meaning, takes: Collection[str]) -> Iterator[Message]:
    """Names under `means` and `off` that the program does not take: their guards would be off."""
    for meant, names in meaning.declared.items():
        for name in names:
            if name not in takes:
                said = {"meaning": meant, "spelled": name, "near": _meant(meant, name, takes)}
                yield Message("meaning.not_taken", {**said, "known": sorted(takes)})
    for name in meaning.off:  # a name, or a meaning
        if name not in takes and meaning.name(name) not in takes:
            near = difflib.get_close_matches(name, sorted(takes), n=1)
            facts = {"name": name, "near": near[0] if near else None, "known": sorted(takes)}
            yield Message("meaning.off_not_taken", facts)


def _meant(meant: str, name: str, takes: Collection[str]) -> str | None:
    """The name that was probably meant: one spelled like the meaning, else the nearest."""
    usual = [own for own in sorted(takes) if meant in (own, usual_meaning(own))]
    near = difflib.get_close_matches(name, usual or sorted(takes), n=1)
    return next(iter([*near, *usual]), None)


def _meant_elsewhere(
    round: Round, meaning: Meaning, accepts: frozenset[str] | None, takes_anything: bool
) -> Iterator[Message]:
    """Declared names that are not in the round, where the program's names cannot be known.

    Without any program (ask and tell) all of them must be there. A program that takes whatever it
    is given may have more than a round mentions: only a name beside one that the round has by a
    similar spelling is refused.
    """
    if accepts is None:
        yield from declared_problems(meaning, round.names)
        return
    if not takes_anything:
        return  # the workload has refused them
    takes = {*accepts, *round.names}
    known = {name for names in meaning.declared.values() for name in names}
    for meant, names in meaning.declared.items():
        for name in names:
            others = sorted(takes - known)
            near = [own for own in others if meant in (own, usual_meaning(own))]
            near += difflib.get_close_matches(name, others, n=1, cutoff=_MISSPELT)
            if name not in takes and near:
                facts = {"meaning": meant, "spelled": name, "near": near[0]}
                yield Message("meaning.not_taken", {**facts, "known": sorted(takes)})


def _searched_steps(round: Round, meaning: Meaning) -> Iterator[Message]:
    for name in lengths(meaning, round.names):
        searched = {h.name for study in round.studies for h in study.space}
        if name in round.scientific or name in searched:
            yield Message("guard.searched_steps", {"name": name})
            continue
        for study in round.studies:
            values = list(dict.fromkeys(f.value for f in study.fixed if f.name == name))
            if len(values) > 1:
                yield Message("guard.steps_differ", {"name": name, "values": values})
                break


def _tuned_batch_size(round: Round, objective: Objective, meaning: Meaning) -> Iterator[Message]:
    name = meaning.name("batch_size")
    nuisance = {
        h.name for study in round.studies for h in study.space if h.column not in round.scientific
    }
    if name in nuisance and meaning.judges_validation(objective.metric):
        yield Message("guard.tuned_batch_size", {"name": name, "metric": objective.metric})


def is_seed(name: str) -> bool:
    """Whether a name is that of a random seed.

    >>> [is_seed(n) for n in ("seed", "data.split_seed", "random_state", "seed_length")]
    [True, True, True, False]
    """
    words = re.split(r"[^a-z0-9]+", name.lower())
    return words[-1] in ("seed", "seeds") or words[-2:] == ["random", "state"]


def _seeds(round: Round) -> Iterator[Message]:
    for name in round.names:
        if is_seed(name):
            yield Message("guard.seed", {"name": name})


def _unknown_names(
    round: Round, accepts: frozenset[str] | None, takes_anything: bool
) -> Iterator[Message]:
    if accepts is None or takes_anything:
        return
    for name in round.names:
        if name in accepts or is_seed(name):
            continue
        free = sorted(accepts.difference(round.names)) or sorted(accepts)
        near = difflib.get_close_matches(name, free, n=1)
        facts = {"name": name, "near": near[0] if near else None, "known": sorted(accepts)}
        yield Message("guard.unknown_name", facts)


def _missing_names(round: Round, required: frozenset[str]) -> Iterator[Message]:
    """Required names that some configuration of the round would lack."""
    lacking: dict[str, list[Mapping[str, Value]]] = {}
    settings = 0
    for study in round.studies:
        for branch in study.branches:
            settings += 1
            known = {**study.scientific, **branch.settings}
            names = {*study.scientific, *(h.name for h in study.space if h.active(known))}
            names |= {f.name for f in study.fixed if holds(f.when, known)}
            for name in required - names:
                lacking.setdefault(name, []).append(known)
    for name, under in sorted(lacking.items()):
        facts = {"name": name, "under": under[0] if len(under) < settings else {}}
        yield Message("guard.missing_name", facts)
