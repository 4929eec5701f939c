"""What supervisors are tested with: a training, a round, a workload, and an adaptive search."""

from __future__ import annotations

from pathlib import Path

from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.execution.executors.inline import Inline
from tunewright.execution.workload import Workload
from tunewright.search.search import Suggestion


def train(run, learning_rate, layers=1, width=32, journal=""):
    """Has its minimum at learning rate 0.01 and one layer; appends a line per training."""
    if journal:
        with open(journal, "a") as file:
            file.write(f"{run.number} {run.attempt}\n")
    for step in run.steps(3):
        run.log(step, valid_error=abs(learning_rate - 0.01) + layers + 1 / step)


def broken(run, learning_rate, layers=1):
    raise ValueError(f"no data for {learning_rate > 0}")


def rounds(trials=3, name="depth", **changes):
    roles = {
        "scientific": {"layers": [1, 2]},
        "nuisance": {"learning_rate": log(1e-4, 1e-1)},
        **changes,
    }
    return Round(name, goal="Do more layers help?", trials_per_study=trials, **roles)


def workloads_in(folder: Path):
    """Makes workloads that share the store of this folder."""

    def make(train=train, executor=None, objective=None, **more):
        return Workload(
            train,
            objective or minimize("valid_error"),
            store=folder / "tuning.db",
            executor=executor or Inline(),
            **more,
        )

    return make


class Halving:
    """An adaptive search: the middle, then a quarter of the best position so far."""

    name = "halving"
    adaptive = True

    def __init__(self, most=100):
        self.most = most
        self.asked = []

    def suggest(self, study, trials, count):
        self.asked.append([(t.number, t.status) for t in trials])
        unit = 0.5 ** (len(trials) + 1)
        left = max(0, self.most - len(trials))
        unit = {h.column: unit for h in study.space}
        return [Suggestion(study.configuration(unit), unit)] * min(count, left)
