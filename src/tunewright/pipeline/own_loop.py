"""Captured updates for a training loop that is not `fit`: `captured_step`, alone or in a pack.

The caller writes one update and gives what each update needs as rows of tensors on the device. The
updates between two points at which the host has work (evaluate, save) are then replayed at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tunewright.errors import PipelineError
from tunewright.pipeline import hosts
from tunewright.pipeline.capture import CapturedStep, obstacle
from tunewright.pipeline.gradient import Recorder
from tunewright.pipeline.stretch import (
    MOST_STEPS,
    Lane,
    Spans,
    Tables,
    lane_of,
    stretch_length,
)

if TYPE_CHECKING:  # the pipeline works without the rest
    from tunewright.execution.training_run import Run

Rows = Callable[[int, int], tuple[Tensor, ...]]  # (first step, steps) -> a row of each per step


def captured_step(
    update: Callable[..., Tensor | Sequence[Tensor]],
    rows: Rows,
    *,
    run: Run,
    max_train_steps: int,
    metrics: Sequence[str] = ("train_loss",),
    optimizer: torch.optim.Optimizer | None = None,
    log_every: int = 100,
) -> Iterator[int]:
    """Train by replays of one captured update; gives the steps at which the host has work.

    Those are the steps at which an evaluation or a snapshot is due, and the last. The measurements
    of every step are logged before its number is given. In a pack (`tw.executors.Packed`) the other
    trials train meanwhile. Where the update cannot be captured it runs step by step, and in a pack
    the trial moves to its own process.

    Args:
        update: one update, forward, backward and optimizer, on the tensors of one row. It returns
            what it measured, one scalar tensor for each of `metrics`, and reads nothing back.
        rows: `rows(first, count)` gives tensors on the training device with `count` rows, those of
            updates `first` to `first + count - 1`: example ids, say, and learning rates.
        run: the handle of the trial; it gives the steps, logs, and reports what is due.
        max_train_steps: updates in all; an attempt that resumes does those that are left.
        metrics: the names of what `update` returns.
        optimizer: where given, it is checked for a learning rate that a graph would freeze.
        log_every: steps between two readings.

    >>> from tunewright.pipeline.alone import Alone
    >>> weight, x = torch.zeros(1, requires_grad=True), torch.linspace(-1, 1, 64)
    >>> optimizer, order = torch.optim.SGD([weight], lr=0.5), torch.arange(50 * 8).view(50, 8) % 64
    >>> def update(ids):
    ...     loss = (weight * x[ids] - 3 * x[ids]).square().mean()
    ...     optimizer.zero_grad()
    ...     loss.backward()
    ...     optimizer.step()
    ...     return loss.detach()
    >>> run = Alone(seed=1)
    >>> due = list(captured_step(
    ...     update, lambda first, count: (order[first - 1 : first - 1 + count],), run=run,
    ...     max_train_steps=50))
    >>> due[-1], len(run.curves["train_loss"]), run.curves["train_loss"][-1][1] < 0.1
    (50, 50, True)
    """
    if not metrics or len(set(metrics)) < len(metrics):
        raise PipelineError("captured_step.bad_metrics", metrics=list(metrics))
    first = rows(run.start_step + 1, 1)
    if not first or any(not isinstance(of, Tensor) or len(of) != 1 for of in first):
        raise PipelineError("captured_step.bad_rows", step=run.start_step + 1)
    device, lane = first[0].device, lane_of(run)
    reason = obstacle(device, hosts.current(), None, optimizer, lane)
    if reason is not None:
        lane.refuse(reason)
    lane.enter()
    recorder = Recorder(metrics, log_every, device, MOST_STEPS)
    tables = None
    if reason is None:
        length = max(log_every, MOST_STEPS)
        tables = Tables(
            rows, None, optimizer, recorder.place, length=length, last_step=max_train_steps
        )

    def measure(row: tuple[Tensor, ...]) -> Sequence[Tensor]:
        values = update(*row)
        values = (values,) if isinstance(values, Tensor) else tuple(values)
        if len(values) != len(metrics):
            raise PipelineError("captured_step.count", count=len(values), metrics=list(metrics))
        return [value.detach() for value in values]

    replayed = CapturedStep(measure, recorder, reason, tables=tables, lane=lane)
    return _steps(replayed, rows, recorder, run, lane, max_train_steps)


def _steps(
    update: CapturedStep, rows: Rows, recorder: Recorder, run: Any, lane: Lane, total: int
) -> Iterator[int]:
    """Train, log, and give the steps at which something is due."""
    spans = Spans(recorder.length, MOST_STEPS)
    steps = iter(run.steps(total))
    for step in steps:
        if update.stretches(step):
            since, room = time.perf_counter(), spans.steps - recorder.row
            count, save = stretch_length(run, step, room, total, evaluates=True)
            update.stretch(step, count, reads=True)
            for _ in range(count - 1):
                step = next(steps)
        else:
            since = time.perf_counter()
            update(step, tuple(of[0] for of in rows(step, 1)))
            save = run.save_due(step)
        due = save or run.eval_due(step) or step == total
        if recorder.full or due:
            _log(run, recorder, lane)
            spans.took(time.perf_counter() - since)
        if due:
            yield step


def _log(run: Any, recorder: Recorder, lane: Lane) -> None:
    rows = None
    if not recorder.fetched:
        with lane.release():
            rows = recorder.rows().cpu()
    steps, columns = recorder.read_columns(rows)
    if hasattr(run, "log_steps"):
        run.log_steps(steps, columns)
        return
    for step, *values in zip(steps, *columns.values(), strict=True):
        run.log(step, dict(zip(columns, values, strict=True)))
