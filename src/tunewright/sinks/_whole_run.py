"""Trackers whose files cannot be added to: a run is written whole, then moved into place.

The run is made in a separate folder beside the others and renamed when it is complete, so that a
process that is killed leaves no half of a run, and a run that is written again takes the place of
the one before.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from tunewright.errors import StoreError
from tunewright.sinks._trial_run import TrialRun

UNFINISHED = ".tunewright-"  # how the folder begins in which a run is made
WHOLE_S = 10.0  # a tracker's process may write on for a moment after a run was finished
LOOK_S = 0.1


def write_whole(
    root: Path,
    run: TrialRun,
    make: Callable[[Path, TrialRun], Path],
    is_of: Callable[[Path], bool],
    holds: Callable[[Path, TrialRun], bool],
) -> None:
    """Have `make` write a run into a folder, read it back, and move it under `root`.

    `make` returns the folder that it made. `is_of` finds the folders of this run that are there
    already; `holds` reads a folder back and compares it with the run, since trackers write from
    separate threads and processes and may not report a full disk.
    """
    root.mkdir(parents=True, exist_ok=True)
    beside = root / f"{UNFINISHED}{run.key}"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    try:
        written = make(beside, run)
        until = time.monotonic() + WHOLE_S
        while not (whole := holds(written, run)) and time.monotonic() < until:
            time.sleep(LOOK_S)
        if not whole:
            raise StoreError("sink.not_whole", run=run.name, folder=str(root))
        before = [folder for folder in root.iterdir() if folder.is_dir() and is_of(folder)]
        for folder in before:
            shutil.rmtree(folder)
        written.rename(root / written.name)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
