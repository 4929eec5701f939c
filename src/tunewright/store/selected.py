"""Which snapshot represents a trial: that of its best step, or the best of those that were kept.

Training runs to its last step and the checkpoint is chosen afterwards (playbook, "Saving
checkpoints and retrospectively selecting the best checkpoint").
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tunewright import snapshot
from tunewright.design.objective import Objective
from tunewright.store.trial import Trial


@dataclass(frozen=True)
class Selected:
    """The snapshot chosen for a trial."""

    path: Path
    step: int  # of the snapshot
    wanted: int  # the trial's best step

    @property
    def exact(self) -> bool:
        """Whether the best step itself was kept."""
        return self.step == self.wanted


def selected(root: Path | str, trial: Trial, objective: Objective | None = None) -> Selected | None:
    """The snapshot of the trial's best step; None if none is on the disk.

    Where that step was not kept: the one at whose step the `objective` was best, if it was logged
    there, else the nearest. Every folder of snapshots inside the trial folder counts: those of
    `run.save`, and those a program kept by `pipeline.keep_best`. Of two equally near the later one
    is taken.
    """
    if trial.best_step is None:
        return None
    folder, wanted = Path(root, trial.folder), trial.best_step
    inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    kept = [found for path in (folder, *inside) for found in snapshot.listed(path)]
    if not kept:
        return None
    worth = {} if objective is None else _losses(trial, objective, {s.step for s in kept})

    def rank(found: snapshot.Snapshot) -> tuple[bool, float, int, int, int]:
        loss = worth.get(found.step, np.inf)
        distance = abs(found.step - wanted)
        return distance != 0, loss, distance, -found.step, -found.attempt

    chosen = min(kept, key=rank)
    return Selected(chosen.path, chosen.step, wanted)


def _losses(trial: Trial, objective: Objective, steps: set[int]) -> dict[int, float]:
    """The objective at these steps, lower is better, where it was logged there.

    Nothing if the trial was judged by another objective than this one.
    """
    curve = trial.curves.only(objective.metric)
    if curve is None or objective.at != "best" or trial.value is None:
        return {}
    logged = {int(s): float(v) for s, v in zip(curve.steps, curve.values, strict=True)}
    if logged.get(trial.best_step or 0) != trial.value:
        return {}
    return {step: -objective.sign * logged[step] for step in steps if step in logged}
