"""Training on a Ray cluster: one host per trial under way, on whichever node has room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from tunewright.execution.executors.executor import Assignment
from tunewright.execution.executors.limits import Limits, refuse
from tunewright.execution.executors.pool import Isolate
from tunewright.execution.executors.pooled import Pooled
from tunewright.execution.executors.ray.cluster import (
    Cluster,
    Room,
    check_resources,
    join,
    no_room,
    room,
)
from tunewright.execution.executors.ray.crew import Crew
from tunewright.execution.workload import Workload
from tunewright.messages import Message


@dataclass
class Ray(Pooled[Crew]):
    """Several trials at once on the nodes of a Ray cluster, each in a separate process.

    `resources` are what one trial takes, as Ray names them: `{"CPU": 4, "GPU": 0.5}`, `"memory"` in
    bytes, or your own names; one CPU by default. A trial sees the GPUs that Ray gives it alone. A
    node that is lost costs its trials one attempt; they go on elsewhere from their snapshots if the
    trial folders are on a file system that the nodes share, else at step 0.
    """

    address: str | None = None  # of the cluster; None: RAY_ADDRESS, this machine's, or a new one
    resources: Mapping[str, float] | None = None  # of one trial
    _: KW_ONLY
    workers: int | None = None  # trials at once; None: as many as the cluster has room for
    trial_timeout_s: float | None = None  # of one attempt
    no_progress_timeout_s: float | None = None  # without a step reported
    memory_gb: float | None = None  # of a trial with everything it starts
    isolate: Isolate = "auto"  # a fresh process per trial: "always", "never", or when it pays
    runtime_env: Mapping[str, Any] | None = None  # Ray's: working_dir, env_vars, pip
    grows: bool = False  # the cluster adds nodes when trials wait: never refuse for want of room

    _cluster: Cluster | None = field(default=None, init=False, repr=False, compare=False)
    _room: Room | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse settings that make no sense, every problem at once."""
        problems: list[Message] = []
        many = self.workers
        if many is not None and (not isinstance(many, int) or isinstance(many, bool) or many < 1):
            problems.append(Message("ray.bad_workers", {"workers": many}))
        if self.grows and many is None:
            problems.append(Message("ray.grows_without_workers"))
        if self.isolate not in ("auto", "always", "never"):
            problems.append(Message("executor.bad_isolate", {"isolate": self.isolate}))
        refuse(problems, lambda: self._limits, lambda: self._needs)

    @property
    def slots(self) -> int:
        """How many trials the cluster can train at once; refuses a cluster that never could."""
        if self.grows and self.workers is not None:
            return self.workers
        if self._room is None:
            cluster, needs = self._join(), self._needs
            if not room(needs, nodes := cluster.nodes()):
                raise no_room(needs, nodes)
            self._room = Room(lambda: room(needs, cluster.nodes()))
        trials = self._room.now()
        return trials if self.workers is None else min(trials, self.workers)

    def start(self, workload: Workload, assignments: Sequence[Assignment]) -> None:
        """Begin these attempts; those without a seat wait for one."""
        load = self._loads.of(workload)
        if self._pool is None:
            self._join()
            self._pool = Crew(self._limits, self.isolate, self._needs, lambda: self.slots)
        self._pool.start(load, assignments)

    def close(self) -> None:
        """End everything that still runs and leave the cluster; the next `start` begins anew."""
        cluster, self._cluster = self._cluster, None
        self._room = None
        try:
            super().close()
        finally:
            if cluster is not None:
                cluster.close()

    # ---- what a crew is made of

    @property
    def _limits(self) -> Limits:
        return Limits(self.trial_timeout_s, self.no_progress_timeout_s, self.memory_gb)

    @property
    def _needs(self) -> dict[str, float]:
        return check_resources(self.resources)

    def _join(self) -> Cluster:
        if self._cluster is None:
            self._cluster = join(self.address, self.runtime_env)
        return self._cluster
