"""Checkpoints that a training library writes in its own form, saved as snapshots of the trial.

The library writes a file or folder under a temporary name; once every rank is done, rank 0 renames
it and saves a snapshot that names it. So a kill leaves no torn checkpoint, the trial resumes from
the newest whole one, and those whose snapshot is gone are removed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tunewright import snapshot
from tunewright.errors import Ended, Stopped
from tunewright.execution import cadence
from tunewright.execution.handle import FOLDER as SNAPSHOTS
from tunewright.execution.training_run import Run
from tunewright.messages import Message

_NAMED = "checkpoint"  # in the state of a snapshot: where the library's own stands
_NUMBER = re.compile(r"\d+")


class Checkpoints:
    """The checkpoints of one trial in one library's form."""

    def __init__(self, run: Run, folder: str) -> None:
        """`folder` is relative to that of the trial."""
        self._run = run
        self._name = folder
        self._folder = run.folder / folder
        self._looked = False
        self._latest: Path | None = None
        self._written: int | None = None  # the step of a checkpoint without a snapshot

    @property
    def latest(self) -> Path | None:
        """The checkpoint to resume from; None at a fresh start. Look before the first step."""
        if not self._looked:
            self._looked = True
            state = None if self._run.alone else self._run.restored
            if isinstance(state, dict) and isinstance(state.get(_NAMED), str):
                checkpoint = self._run.folder / state[_NAMED]
                self._latest = checkpoint if checkpoint.exists() else None
                if self._latest is None:
                    self._run.resumed_at(0)
        return self._latest

    def path(self, step: int) -> Path:
        """Where the checkpoint of this step stands."""
        return self._folder / f"step-{step:09d}"

    def write(
        self, step: int, write: Callable[[Path], Any], *, first: bool, wait: Callable[[], Any]
    ) -> None:
        """Have the library write a checkpoint; every rank calls it, `first` is rank 0.

        `wait` returns once all ranks have called it. `register` follows, once everything that
        belongs to this step is logged.
        """
        final = self.path(step)
        partial = final.with_name(f".{final.name}.partial")
        if first:
            self._folder.mkdir(parents=True, exist_ok=True)
            _remove(partial)
        wait()
        write(partial)
        wait()
        if first:
            _remove(final)
            os.replace(partial, final)
        self._written = step

    def register(self, *, first: bool, wait: Callable[[], Any]) -> None:
        """Save a snapshot that names the checkpoint written last, if it has none yet.

        Every rank calls it. Ends the trial if it was asked to stop, on every rank.
        """
        step, self._written = self._written, None
        if step is None:
            return
        ended = self.keep(step, self.path(step)) if first else None
        wait()
        if ended is not None:
            raise ended
        if not first and self._run.stop_asked:
            raise Stopped(Message("stopped.after_saving", {"step": step}))

    def keep(self, step: int, path: Path, also: Iterable[str] = ()) -> Ended | None:
        """Save a snapshot that names a whole checkpoint; returns what this ended the trial with.

        Older checkpoints beside it are removed, those called as in `also` excepted.
        """
        ended: Ended | None = None
        relative = path.relative_to(self._run.folder).as_posix()
        try:
            self._run.save({_NAMED: relative}, step=step)
        except Ended as error:
            ended = error
        self._tidy(path, also)
        return ended

    def _tidy(self, newest: Path, also: Iterable[str]) -> None:
        """Remove checkpoints whose snapshots are gone: the last two and the best ones stay.

        Other files may stand in the folder, which can be the trial's: a checkpoint is called as the
        newest one but for its number.
        """
        stay = {newest.name, *also}
        for saved in snapshot.list_snapshots(self._run.folder / SNAPSHOTS):
            state = snapshot.load(saved)
            if isinstance(state, dict) and isinstance(state.get(_NAMED), str):
                stay.add(Path(state[_NAMED]).name)
        kind = _NUMBER.sub("", newest.name)
        for path in newest.parent.iterdir():
            if path.name not in stay and _NUMBER.sub("", path.name) in (kind, f".{kind}.partial"):
                _remove(path)


def save_due(step: int, total: int | None) -> bool:
    """Whether a checkpoint is due: about ten in all, a function of the step alone."""
    return bool(total) and cadence.due(step, int(total or 0), cadence.SNAPSHOTS)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
