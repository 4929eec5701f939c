"""What a campaign is asked for: the space, the budget, the current default, the terms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tunewright.advice.extend import first_length
from tunewright.advice.proposal import without_question
from tunewright.campaigns.campaign import Definition, standing_baseline
from tunewright.campaigns.probe import abilities
from tunewright.campaigns.train_longer import at_length, check_lengths
from tunewright.design.conditions import Given
from tunewright.design.ranges import Range, Value, is_number
from tunewright.design.round import Round
from tunewright.design.round_file import as_data
from tunewright.errors import DesignError
from tunewright.execution.prepare import ready
from tunewright.execution.run import executor_of
from tunewright.execution.workload import Workload
from tunewright.launches.lineage import Place
from tunewright.messages import Message
from tunewright.search.halton import Halton
from tunewright.store.store import Store

GOAL = Message("goal.tune")


@dataclass(frozen=True, kw_only=True)
class TuneTerms:
    """What `tw.tune` is asked beside space and budget; wrong fields are refused at once.

    >>> TuneTerms(extend=10).extend
    10
    >>> TuneTerms(extend=2, extend_to=50_000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tunewright.errors.DesignError: TuneTerms(extend=, extend_to=): give one...
    """

    # the configuration to compare with, before one was launched; None: what the signature of the
    # training function has for everything searched
    baseline: Mapping[str, Value] | None = None
    detect: float | None = None  # the smallest difference that matters, in the metric's units
    seed: int = 0  # of the searches; the data split goes by it too
    extend: float | None = None  # train the best so many times as long in the end
    extend_to: int | None = None  # or for so many steps; the search then takes a tenth of them

    def __post_init__(self) -> None:
        if self.extend is not None and self.extend_to is not None:
            raise DesignError("tune.two_lengths")
        if self.extend is not None and not (is_number(self.extend) and 1 < self.extend < math.inf):
            raise DesignError("tune.bad_extend", extend=self.extend)
        if self.extend_to is not None and not _is_count(self.extend_to):
            raise DesignError("tune.bad_extend_to", extend_to=self.extend_to)
        if self.detect is not None and not (is_number(self.detect) and 0 < self.detect < math.inf):
            raise DesignError("tune.bad_detect", detect=self.detect)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise DesignError("tune.bad_seed", seed=self.seed)
        if self.baseline is not None and not isinstance(self.baseline, Mapping):
            raise DesignError("tune.bad_baseline", baseline=self.baseline)


def _is_count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 1


def define(
    workload: Workload,
    space: Mapping[str, Any] | Round,
    trials: int | None,
    hours: float | None,
    *,
    name: str,
    terms: TuneTerms | None = None,
    tests: bool = False,
) -> Definition:
    """A campaign's definition, refused before compute if it cannot be run.

    With `extend_to`, a length that was left open is about a tenth of it.
    """
    _check_budget(trials, hours)
    terms = terms or TuneTerms()
    extend, extend_to, baseline = terms.extend, terms.extend_to, terms.baseline
    given = frozenset(_names_given(space))
    space_round = as_space(space, name, terms.seed, terms.detect)
    steps = workload.meaning.name("max_train_steps")
    if extend_to is not None and steps not in given:
        short = {steps: _first(workload, space_round, extend_to)}
        space_round = replace(space_round, fixed={**space_round.fixed, **short})
        given |= {steps}
    searched = ready(space_round, workload, Halton())
    _check_lengths(workload, searched, extend, extend_to)
    with Store.open(workload.store) as store:
        standing = standing_baseline(store)
    default = baseline if baseline is not None else _default(workload, searched)
    retrained: Place | None = None
    if standing is not None:
        final = _final(searched, steps, extend, extend_to)
        default = _at_this_length(workload, searched, standing[0], final)
        retrained = None if default is None else standing[0]
        standing = standing if default is None else None
    return Definition(
        name,
        searched,
        trials,
        hours,
        default=None if default is None else dict(default),
        incumbent=None if standing is None else standing[0],
        incumbent_repeats=0 if standing is None else standing[1],
        slots=executor_of(workload).slots,
        tests=tests,
        able=abilities(workload, searched, given),
        extend=extend,
        extend_to=extend_to,
        deterministic=workload.deterministic,
        retrained=retrained,
    )


def _final(space: Round, steps: str, extend: float | None, extend_to: int | None) -> float | None:
    """For how many steps the winner trains; None: not fixed."""
    if extend_to is not None:
        return float(extend_to)
    short = space.fixed.get(steps)
    if not is_number(short):
        return None
    return float(round(extend * short)) if extend is not None else float(short)


def _at_this_length(
    workload: Workload, space: Round, standing: Place, final: float | None
) -> dict[str, Value] | None:
    """The launched baseline as long as the search trains; None if it can be compared as it is."""
    meaning = workload.meaning
    name = meaning.name("max_train_steps")
    old, short = standing.configuration.get(name), space.fixed.get(name)
    if final is None or not is_number(old) or not is_number(short) or float(old) == final:
        return None
    return at_length(standing.configuration, meaning, int(old), int(short))


def _first(workload: Workload, space: Round, extend_to: int) -> int:
    """How long the search trains when only the length of production is known."""
    name = workload.meaning.name("warmup_steps")
    warmup = space.fixed.get(name, workload.accepts.defaults.get(name))
    return first_length(extend_to, int(warmup) if isinstance(warmup, int | float) else 0)


def _check_lengths(
    workload: Workload, space: Round, extend: float | None, extend_to: int | None
) -> None:
    if extend is None and extend_to is None:
        return
    name = workload.meaning.name("max_train_steps")
    now = space.fixed.get(name)
    wanted = extend_to
    if wanted is None:
        wanted = round(float(extend or 0) * now) if is_number(now) else 0
    problem = check_lengths(space, workload.meaning, wanted)
    if problem is not None:
        raise DesignError.several([problem])


def _names_given(space: Mapping[str, Any] | Round) -> list[str]:
    return list(space.names) if isinstance(space, Round) else list(space)


def as_space(
    space: Mapping[str, Any] | Round, name: str, seed: int = 0, detect: float | None = None
) -> Round:
    """The space as a round: ranges, lists and conditions are searched, plain values are fixed."""
    if isinstance(space, Round):
        roles = without_question(space)
        searched_space = replace(
            space,
            name=name,
            scientific={},
            nuisance=roles["nuisance"],
            fixed=roles["fixed"],
            trials_per_study=1,
        )
        return searched_space if detect is None else replace(searched_space, detect=detect)
    if not isinstance(space, Mapping):
        raise DesignError("tune.bad_space", space=space)
    ranges = (Range, Given, list)
    searched = {n: d for n, d in space.items() if isinstance(d, ranges)}
    if not searched:
        raise DesignError("tune.nothing_searched", space=dict(space))
    fixed = {n: d for n, d in space.items() if n not in searched}
    return Round(
        name,
        goal=GOAL,
        nuisance=searched,
        fixed=fixed,
        trials_per_study=1,
        seed=seed,
        detect=detect,
    )


def same_space(first_space: Round, second_space: Round) -> bool:
    """Whether two campaigns search alike."""
    first, second = as_data(first_space), as_data(second_space)
    return all(first.get(key) == second.get(key) for key in ("nuisance", "fixed", "seed"))


def _default(workload: Workload, space: Round) -> dict[str, Value] | None:
    """The signature's own configuration, where it has a value for everything that is searched."""
    known = workload.accepts.defaults
    names = list(space.nuisance)
    if any(isinstance(space.nuisance[n], Given) or n not in known for n in names):
        return None
    if any(isinstance(declared, Given) for declared in space.fixed.values()):
        return None
    return {**{n: known[n] for n in names}, **dict(space.fixed)}


def _check_budget(trials: int | None, hours: float | None) -> None:
    if trials is None and hours is None:
        raise DesignError("tune.no_budget")
    if trials is not None and (isinstance(trials, bool) or not isinstance(trials, int)):
        raise DesignError("tune.trials_not_whole", trials=trials)
    if trials is not None and trials < 1:
        raise DesignError("tune.trials_not_positive", trials=trials)
    if hours is not None and not 0 < hours < math.inf:
        raise DesignError("tune.bad_hours", hours=hours)
