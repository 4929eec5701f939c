"""Short runs on equal draws: whatever differs between them is due to the one thing that was varied.

Every value is a study of its own, and studies share their seeds: initialisation, the order of the
data and their split are alike for all values. One after another they would differ by luck as well,
and the lowest unstable learning rate would be that of the most unlucky initialisation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.execution.prepare import advice
from tunewright.execution.watcher import Concluded, Silent, Started, Summary, Watcher
from tunewright.execution.workload import Workload
from tunewright.probes.probe import run_probe
from tunewright.store.results import Results

if TYPE_CHECKING:
    from tunewright.store.store import RoundRecord


def run_equal(
    probe: str,
    goal: str,
    workload: Workload,
    varied: Mapping[str, Sequence[Value]],
    fixed: Mapping[str, Value],
    seeds: int = 1,
    watch: Watcher | None = None,
    seed: int = 0,
) -> Results:
    """Train every combination of the varied values under so many seeds, alike for all of them.

    Two calls with the same `seed` of the round share their seeds too.
    """
    round = Round(
        probe,
        goal=goal,
        scientific={name: list(values) for name, values in varied.items()},
        nuisance={},
        fixed={name: value for name, value in fixed.items() if name not in varied},
        trials_per_study=seeds,
        seed=seed,
    )
    unsaid = [note.text for note in advice(round, workload)]
    noted = WithoutAdvice(watch or Silent(), unsaid)
    return run_probe(probe, round, workload, watch=noted)


class WithoutAdvice:
    """A watcher that is not told what would be unwise of a round: a probe's is meant to be so."""

    def __init__(self, inner: Watcher, unsaid: Sequence[str]) -> None:
        """Everything but the messages `unsaid` goes to `inner`."""
        self._inner = inner
        self._unsaid = frozenset(unsaid)

    def began(self, record: RoundRecord, total: int, done: int) -> None:
        """Pass it on."""
        self._inner.began(record, total, done)

    def claimed(self, started: Started) -> None:
        """Pass it on."""
        self._inner.claimed(started)

    def ended(self, concluded: Concluded) -> None:
        """Pass it on."""
        self._inner.ended(concluded)

    def best(self, concluded: Concluded) -> None:
        """Pass it on."""
        self._inner.best(concluded)

    def message(self, text: str) -> None:
        """Pass it on, unless it is advice about the round."""
        if text not in self._unsaid:
            self._inner.message(text)

    def closed(self, summary: Summary) -> None:
        """Pass it on."""
        self._inner.closed(summary)
