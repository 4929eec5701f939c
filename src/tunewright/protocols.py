"""Protocols: what a training function receives, and what a user may implement.

    def fit(run: tw.protocols.Run) -> None:
        for step in run.steps():
            run.log(step, train_loss=...)

`Run` is the type of that first argument: one attempt at one trial. A class with the members of
`Executor`, `Search`, `Range` or `Watcher` works wherever ours do; `tunewright.testing` has a
contract test for each of the first three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.design.range import Range as Range
    from tunewright.execution.executors.executor import Executor as Executor
    from tunewright.execution.training_run import Run as Run
    from tunewright.progress.watcher import Watcher as Watcher
    from tunewright.search.search import Search as Search

offer(
    __name__,
    {
        "design.range": ("Range",),
        "execution.executors.executor": ("Executor",),
        "execution.training_run": ("Run",),
        "progress.watcher": ("Watcher",),
        "search.search": ("Search",),
    },
)
