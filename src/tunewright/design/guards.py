"""What is refused before any compute because of what names mean and what is trained.

A number of steps to be searched, a batch size tuned for a validation metric, a seed as a
hyperparameter, a name the training program does not take. Each refusal says why and what to do;
all of a round's are said at once. What is only unwise is a note of `advice`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from tunewright.design.conditions import holds
from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.role_advice import advise as advise
from tunewright.design.round import Round
from tunewright.errors import DesignError


def refuse(
    round: Round,
    objective: Objective,
    meaning: Meaning,
    accepts: frozenset[str] | None = None,
    required: frozenset[str] = frozenset(),
    takes_anything: bool = False,
) -> None:
    """Raise DesignError with every reason why this round cannot be run for this workload.

    `accepts` are the names the training program takes (None: not known), `required` those of them
    without a default; with `takes_anything` other names are passed on too.
    """
    problems = [
        *_searched_steps(round, meaning),
        *_tuned_batch_size(round, objective, meaning),
        *_seeds(round),
        *_unknown_names(round, accepts, takes_anything),
        *_missing_names(round, required),
    ]
    if problems:
        raise DesignError("\n".join(problems))


def _searched_steps(round: Round, meaning: Meaning) -> Iterator[str]:
    name = meaning.name("max_train_steps")
    shown = name if name == "max_train_steps" else f"{name} (it means max_train_steps)"
    searched = {h.name for study in round.studies for h in study.space}
    if name in round.scientific or name in searched:
        yield (
            f"{shown} cannot be searched: pick one value and use it for every trial (put it in "
            "fixed=)."
        )
        return
    for study in round.studies:
        values = list(dict.fromkeys(f.value for f in study.fixed if f.name == name))
        if len(values) > 1:
            yield (
                f"{shown} takes {len(values)} values ({', '.join(map(str, values))}) within one "
                "study, which would compare trials of different length: pick one value."
            )
            return


def _tuned_batch_size(round: Round, objective: Objective, meaning: Meaning) -> Iterator[str]:
    name = meaning.name("batch_size")
    nuisance = {
        h.name for study in round.studies for h in study.space if h.column not in round.scientific
    }
    if name in nuisance and meaning.judges_validation(objective.metric):
        yield (
            f"{name} cannot be a nuisance hyperparameter of {objective.metric}: the best values of "
            "the optimizer and the regularisers change with it, so the search would compare batch "
            "sizes at settings tuned for another. Put it in fixed= (the largest that "
            "trains fast), or compare batch sizes as scientific values with the rest tuned anew "
            "under each."
        )


def is_seed(name: str) -> bool:
    """Whether a name is that of a random seed.

    >>> [is_seed(n) for n in ("seed", "data.split_seed", "random_state", "seed_length")]
    [True, True, True, False]
    """
    words = re.split(r"[^a-z0-9]+", name.lower())
    return words[-1] in ("seed", "seeds") or words[-2:] == ["random", "state"]


def _seeds(round: Round) -> Iterator[str]:
    for name in round.names:
        if is_seed(name):
            yield (
                f"{name}: a seed is no hyperparameter; the luckiest one would be chosen, and "
                "repeats would not vary. Take it from the handle (run.seeds.init, .order, .data, "
                ".split) or from {run.seed} in a command."
            )


def _unknown_names(
    round: Round, accepts: frozenset[str] | None, takes_anything: bool
) -> Iterator[str]:
    if accepts is None or takes_anything:
        return
    for name in round.names:
        if name in accepts or is_seed(name):
            continue
        free = sorted(accepts.difference(round.names)) or sorted(accepts)
        near = difflib.get_close_matches(name, free, n=1)
        if near:
            hint = f"Did you mean {near[0]!r}?"
        else:
            hint = f"It takes: {', '.join(sorted(accepts)) or 'none'}."
        yield f"{name}: the training program takes no hyperparameter of this name. {hint}"


def _missing_names(round: Round, required: frozenset[str]) -> Iterator[str]:
    """Required names that some configuration of the round would lack."""
    lacking: dict[str, list[str]] = {}
    settings = 0
    for study in round.studies:
        for branch in study.branches:
            settings += 1
            known = {**study.scientific, **branch.settings}
            names = {*study.scientific, *(h.name for h in study.space if h.active(known))}
            names |= {f.name for f in study.fixed if holds(f.when, known)}
            words = ", ".join(f"{column} = {value}" for column, value in known.items())
            for name in required - names:
                lacking.setdefault(name, []).append(words)
    for name, under in sorted(lacking.items()):
        where = f" under {under[0]}" if len(under) < settings else ""
        yield (
            f"{name}: the training program needs it, and the round gives it no value{where}. "
            "Put it in fixed= with one value, or in nuisance= to search it."
        )
