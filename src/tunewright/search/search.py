"""The search protocol: which configuration next, as a function of the study and its trials.

A search has no state. The trials are the state, the seed is the study's: the same trials
give the same answer, so resuming and replaying are free.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.errors import DesignError
from tunewright.store.results import Results
from tunewright.store.trial import Trial


@dataclass(frozen=True)
class Suggestion:
    """A configuration to try, and its position in the unit cube (column -> position)."""

    configuration: Mapping[str, Value]
    unit: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Search(Protocol):
    """One verb; see `tunewright.testing` for the contract tests any search must pass.

    >>> import tunewright as tw
    >>> isinstance(tw.search.Halton(), tw.protocols.Search), tw.search.Halton().adaptive
    (True, False)
    """

    @property
    def name(self) -> str:
        """Its name in the database."""
        ...

    @property
    def adaptive(self) -> bool:
        """Whether a suggestion depends on results; if not, all are made when the round begins."""
        ...

    def suggest(self, study: Study, trials: Sequence[Trial], count: int) -> list[Suggestion]:
        """The next `count` configurations (fewer when there are no more).

        `trials` are the study's claimed and ended trials, never pending ones, with smaller better;
        a search that is not adaptive is asked once with none, for all of them, and must give every
        prefix alike.
        """
        ...


@runtime_checkable
class Positional(Protocol):
    """A search without end that knows the configuration at any position of a study.

    A declared trial is then suggested when somebody claims it, not when its round begins.
    """

    def at(self, study: Study, first: int, count: int) -> list[Suggestion]:
        """The configurations at positions `first` to `first + count - 1`, as `suggest` has them."""
        ...


@runtime_checkable
class Particular(Protocol):
    """A search that cannot do every round, and refuses before compute."""

    def vet(self, round: Round, objective: Objective) -> None:
        """Refuse, all at once, what it cannot search."""
        ...


def vet(search: Search, round: Round, objective: Objective) -> None:
    """Let a search refuse a round before compute, if it is particular; refuse what is no search."""
    if not isinstance(search, Search):
        raise DesignError("search.not_a_search", search=search)
    if isinstance(search, Particular):
        search.vet(round, objective)


def search_trials(results: Results, study: Study) -> list[Trial]:
    """A study's trials as a search receives them: without pending ones, and smaller is better.

    A search does not know the objective, so values to be maximized change their sign. Repeats are
    included, each with the trial it repeats as parent: they show the noise. A trial that was
    stopped early is `pruned` and has the best value it could still reach: it is no better.
    """
    claimed = [t for t in results.rows_of(study) if t.status != "pending" and t.configuration]
    repeats = [
        repeat
        for trial in claimed
        for repeat in results.repeats(trial)
        if repeat.status in ("completed", "infeasible")
    ]
    sign = -results.objective.sign
    values = [(t, _value_or_bound(results.objective, t)) for t in (*claimed, *repeats)]
    return [
        trial if value is None else replace(trial, value=sign * value) for trial, value in values
    ]


def _value_or_bound(objective: Objective, trial: Trial) -> float | None:
    return trial.bound_of(objective.metric) if trial.value is None else trial.value


def next_index(trials: Iterable[Trial]) -> int:
    """Where a search that goes by position continues: after the highest index claimed so far."""
    return 1 + max((t.index for t in trials if t.index is not None), default=-1)
