"""Executors: where trials train.

    tw.run(round, tw.Workload(fit, objective, executor=tw.executors.Inline()))

`Local` trains on this machine, one process per trial, and is the default. `Inline` trains in this
process. `Packed` trains many trials at once on each GPU. `Ray` trains on a Ray cluster, `Slurm` on
a Slurm cluster. `tunewright.protocols.Executor` is the protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunewright._namespace import offer

if TYPE_CHECKING:
    from tunewright.execution.executors.inline import Inline as Inline
    from tunewright.execution.executors.local import Local as Local
    from tunewright.execution.executors.packed import Packed as Packed
    from tunewright.execution.executors.ray.ray import Ray as Ray
    from tunewright.execution.executors.slurm.slurm import Slurm as Slurm

offer(
    __name__,
    {
        "execution.executors.inline": ("Inline",),
        "execution.executors.local": ("Local",),
        "execution.executors.packed": ("Packed",),
        "execution.executors.ray.ray": ("Ray",),
        "execution.executors.slurm.slurm": ("Slurm",),
    },
)
