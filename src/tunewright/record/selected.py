"""Which snapshot stands for a trial: that of its best step, or the nearest one that was kept.

Training goes on to its last step and the checkpoint is chosen afterwards (playbook, "Saving
checkpoints and retrospectively selecting the best checkpoint").
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tunewright import snapshot
from tunewright.record.trial import Trial


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


def selected(root: Path | str, trial: Trial) -> Selected | None:
    """The snapshot of the trial's best step, else the nearest one; None if none is on the disk.

    Every folder of snapshots inside the trial folder counts: those of `run.save`, and those a
    program kept by `pipeline.keep_best`. Of two equally near the later one is taken.
    """
    if trial.best_step is None:
        return None
    folder, wanted = Path(root, trial.folder), trial.best_step
    inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    kept = [found for path in (folder, *inside) for found in snapshot.listed(path)]
    if not kept:
        return None
    nearest = min(kept, key=lambda found: (abs(found.step - wanted), -found.step, -found.attempt))
    return Selected(nearest.path, nearest.step, wanted)
