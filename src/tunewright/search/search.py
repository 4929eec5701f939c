"""The search protocol: which configuration next, as a function of the study and its trials.

A search has no state of its own. The trials are the state, the seed is the study's: the same trials
give the same answer, so resuming and replaying are free.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from tunewright.design.space import Value
from tunewright.design.study import Study
from tunewright.record.trial import Trial


@dataclass(frozen=True)
class Suggestion:
    """A configuration to try, and its position in the unit cube (column -> position)."""

    configuration: Mapping[str, Value]
    unit: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Search(Protocol):
    """One verb; see `tunewright.testing` for the contract tests any search must pass."""

    @property
    def name(self) -> str:
        """How the record calls it."""
        ...

    @property
    def adaptive(self) -> bool:
        """Whether a suggestion depends on results; if not, all are made when the round begins."""
        ...

    def suggest(self, study: Study, trials: Sequence[Trial], count: int) -> list[Suggestion]:
        """The next `count` configurations (fewer when there are no more).

        `trials` are the study's claimed and ended trials, never pending ones; a search that is not
        adaptive is asked once with none, for all of them, and must give every prefix alike.
        """
        ...


def next_index(trials: Iterable[Trial]) -> int:
    """Where a search that goes by position continues: after the highest index claimed so far."""
    return 1 + max((t.index for t in trials if t.index is not None), default=-1)
