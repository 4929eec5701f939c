"""One training of one commit, through an executor, and the value it gave."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tunewright.design.objective import Objective
from tunewright.execution.command import Command
from tunewright.execution.executors.executor import Assignment, Ended, Executor, Logged
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.store.curves import Batch, Curves
from tunewright.store.judge import judge
from tunewright.store.trial import Status

WAIT_S = 0.5
_SPLIT_SEED = 0  # every run of a lineage has the same data split
_NEVER_ENDS = ("died", "stopped")


@dataclass(frozen=True)
class Trained:
    """What one training gave."""

    status: Status
    value: float | None
    reason: Message | None
    detail: str
    seconds: float


def train(
    command: Command,
    objective: Objective,
    checkout: Path,
    *,
    executor: Executor,
    seed: int,
    number: int,
    folder: Path,
    configuration: Mapping[str, Any] | None = None,
) -> Trained:
    """Train the commit in its checkout once; an attempt that died is made twice more."""
    workload = Workload(replace(command, within=str(checkout.absolute())), objective)
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    for attempt in (1, 2, 3):
        assignment = Assignment(
            trial=number,
            attempt=attempt,
            number=number,
            round="judge",
            configuration=dict(configuration or command.default_values),
            seed=seed,
            split_seed=_SPLIT_SEED,
            folder=folder.absolute(),
        )
        executor.start(workload, [assignment])
        batches, ended = _follow(executor, number, attempt)
        if ended.outcome.status not in _NEVER_ENDS:
            break
    curves = Curves([Batch(1, 0, points) for points in (*batches, *ended.outcome.batches)])
    becomes = ended.outcome.becomes
    recorded: Status = "failed" if becomes == "pending" else becomes
    verdict = judge(objective, recorded, ended.outcome.reason, curves)
    seconds = time.monotonic() - began
    completed = verdict.status == "completed"
    value = verdict.value if completed else None
    reason = verdict.reason or ended.outcome.reason
    return Trained(verdict.status, value, reason, ended.outcome.detail, seconds)


def _follow(executor: Executor, number: int, attempt: int) -> tuple[list[bytes], Ended]:
    batches: list[bytes] = []
    while True:
        for event in executor.events(WAIT_S):
            if getattr(event, "trial", None) != number or event.attempt != attempt:
                continue
            if isinstance(event, Logged):
                batches.append(event.points)
            elif isinstance(event, Ended):
                return batches, event
