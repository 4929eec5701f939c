"""Short runs on equal draws: whatever differs between them is due to the one thing that was varied.

Every value is a separate study, and studies share their seeds: initialisation, the order of the
data and their split are alike for all values. Under different seeds they would differ by noise too,
and the lowest unstable learning rate would be that of the worst initialisation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.probe import run_probe
from tunewright.progress.watcher import Watcher
from tunewright.store.results import Results


def run_equal(
    probe: str,
    goal: Message,
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
    return run_probe(probe, round, workload, watch=watch)
