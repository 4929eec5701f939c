"""Which checkpoints are kept, and which one is chosen in the end?

Train for a fixed number of steps, keep the best N, and choose afterwards (playbook, "Saving
checkpoints and retrospectively selecting the best checkpoint"); no early stopping. Kept are the
best N by one metric, the newest ones to resume from, pinned steps, and the final one. Every
evaluation is stored in `evaluations.jsonl`, so that another metric can rank the steps later and
report when its best was not kept.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunewright import snapshot
from tunewright.errors import PipelineError
from tunewright.snapshot import Snapshot

EVALUATIONS = "evaluations.jsonl"


@dataclass(frozen=True)
class Keep:
    """What is kept: the union of all that is named here."""

    metric: str  # the selection metric, as the evaluations call it
    minimize: bool = True  # whether a lower metric is better
    best: int = 3  # how many of the best steps to keep
    latest: int = 1  # 0 where somebody else saves for resuming
    pinned: tuple[int, ...] = ()  # steps kept whatever their metric

    def __post_init__(self) -> None:
        if min(self.best, self.latest) < 0 or self.best + self.latest + len(self.pinned) == 0:
            raise PipelineError("checkpoints.keep_nothing", best=self.best, latest=self.latest)


@dataclass(frozen=True)
class Evaluated:
    """The metrics of one step."""

    step: int
    metrics: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The step chosen in retrospect."""

    step: int
    value: float  # of the metric, as it was measured
    snapshot: Snapshot | None  # None: that step's checkpoint was not kept
    kept_step: int | None  # the best step whose checkpoint was kept
    smoothed_step: int  # the best step of the running median of 3
    smoothed_value: float  # how good it is without the noise of one evaluation
    says: str  # one sentence


def keep_best(
    folder: Path | str,
    state: Callable[[], object],
    *,
    step: int,
    metrics: Mapping[str, float],
    keep: Keep,
    final: bool = False,
    attempt: int = 1,
) -> Snapshot | None:
    """Note an evaluation, write its checkpoint if it is to be kept, then drop what no longer is.

    `state` is only asked for when it is written. A non-finite metric is never best; of equal ones
    the earlier stays. None: this step is not among those to keep.
    """
    folder = Path(folder)
    if keep.metric not in metrics:
        raise PipelineError(
            "checkpoints.metric_not_evaluated",
            metric=keep.metric,
            step=step,
            known=", ".join(sorted(metrics)) or "none",
        )
    _note(folder, Evaluated(step, dict(metrics)))
    there = [
        s for s in snapshot.list_snapshots(folder) if s.step != step
    ]  # a resume writes it again
    wanted = _steps_to_keep({s.step: s for s in there}, step, metrics, keep, final)
    if step not in wanted:
        return None
    extra = {"metrics": dict(metrics), "final": final}
    written = snapshot.save(folder, state(), step=step, attempt=attempt, keep=None, extra=extra)
    for old in snapshot.list_snapshots(folder):
        if old.path != written.path and (old.step not in wanted or old.step == step):
            snapshot.remove(old)
    return written


def _steps_to_keep(
    there: Mapping[int, Snapshot],
    step: int,
    metrics: Mapping[str, float],
    keep: Keep,
    final: bool,
) -> set[int]:
    values = {at: s.extra["metrics"].get(keep.metric, math.nan) for at, s in there.items()}
    values[step] = metrics[keep.metric]
    steps = set(values)
    best = set(rank_steps(values, keep.minimize)[: keep.best])
    latest = set(sorted(steps)[-keep.latest :]) if keep.latest else set()
    ends = {at for at, s in there.items() if s.extra.get("final")} | ({step} if final else set())
    return best | latest | ends | (steps & set(keep.pinned))


def rank_steps(values: Mapping[int, float], minimize: bool) -> list[int]:
    """The steps with a finite value, best first; of equal values the earlier step first.

    >>> rank_steps({100: 0.3, 200: 0.1, 300: float("nan"), 400: 0.1}, minimize=True)
    [200, 400, 100]
    """
    sign = 1.0 if minimize else -1.0
    finite = {step: value for step, value in values.items() if math.isfinite(value)}
    return sorted(finite, key=lambda step: (sign * finite[step], step))


def evaluations(folder: Path | str) -> list[Evaluated]:
    """Every evaluation that was noted, by step; a later attempt's replaces an earlier one's."""
    path = Path(folder) / EVALUATIONS
    if not path.is_file():
        return []
    by_step: dict[int, Evaluated] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
            metrics = {name: float(value) for name, value in record["metrics"].items()}
            by_step[int(record["step"])] = Evaluated(int(record["step"]), metrics)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # a line cut short by a kill
    return [by_step[step] for step in sorted(by_step)]


def select(folder: Path | str, metric: str, minimize: bool = True) -> Selection:
    """Choose the best step by any metric that was evaluated, and find its checkpoint.

    The choice is the raw best, as the playbook has it. The running median of 3 beside it shows how
    much of it is the noise of one evaluation.

    Args:
        folder: the folder of checkpoints, as `fit(keep=...)` wrote it.
        metric: any metric that was evaluated.
        minimize: whether a lower value is better.
    """
    noted = evaluations(folder)
    values = {e.step: e.metrics[metric] for e in noted if metric in e.metrics}
    order = rank_steps(values, minimize)
    if not order:
        known = sorted({name for e in noted for name in e.metrics})
        raise PipelineError(
            "checkpoints.no_finite_metric",
            metric=metric,
            folder=folder,
            known=", ".join(known) or "no metrics",
        )
    kept: dict[int, Snapshot] = {s.step: s for s in reversed(snapshot.list_snapshots(folder))}
    best, kept_step = order[0], next((step for step in order if step in kept), None)
    smooth = _running_median({step: values[step] for step in sorted(order)})
    smoothed_step = rank_steps(smooth, minimize)[0]
    sentence = f"{metric} {values[best]:.4g} at step {best}"
    if best not in kept:
        sentence += ", whose checkpoint was not kept"
        if kept_step is not None:
            sentence += f"; the best kept is step {kept_step} with {values[kept_step]:.4g}"
    return Selection(
        step=best,
        value=values[best],
        snapshot=kept.get(best),
        kept_step=kept_step,
        smoothed_step=smoothed_step,
        smoothed_value=smooth[smoothed_step],
        says=sentence,
    )


def _running_median(values: Mapping[int, float]) -> dict[int, float]:
    steps, numbers = list(values), list(values.values())
    # At both ends the nearest 3: a median of 2 would let one noisy evaluation through.
    first = [min(max(i - 1, 0), max(len(numbers) - 3, 0)) for i in range(len(numbers))]
    return {
        step: statistics.median(numbers[f : f + 3]) for step, f in zip(steps, first, strict=True)
    }


def _note(folder: Path, evaluated: Evaluated) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # NaN and infinities as text: they are not JSON.
    metrics: dict[str, Any] = {
        name: value if math.isfinite(value) else str(value)
        for name, value in evaluated.metrics.items()
    }
    with (folder / EVALUATIONS).open("a+b") as file:
        if file.seek(0, 2) and not _ends_with_newline(file):
            file.write(b"\n")  # an earlier writer was killed inside a line
        file.write(json.dumps({"step": evaluated.step, "metrics": metrics}).encode() + b"\n")


def _ends_with_newline(file: Any) -> bool:
    file.seek(-1, 2)
    return bool(file.read(1) == b"\n")
