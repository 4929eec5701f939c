"""The free-space reserve: a round pauses before the disk is full, and resumes afterwards."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

RESERVE_MB = 64
RESERVE_FILES = 100  # names of files, which a file system may run out of before space


def short_of_space(folder: Path, reserve_mb: float = RESERVE_MB) -> str | None:
    """Why nothing new should be begun here, or None while there is enough space.

    >>> short_of_space(Path("."), reserve_mb=0) is None
    True
    """
    here = folder.absolute()
    while not here.exists():
        here = here.parent
    free_mb = shutil.disk_usage(here).free / 2**20
    if _no_names(here):
        return (
            f"{here} can hold fewer than {RESERVE_FILES} more files (no inodes): nothing new is "
            "begun until some are deleted. Nothing recorded is lost."
        )
    if free_mb >= reserve_mb:
        return None
    return (
        f"only {free_mb:.0f} MB are free in {here}, less than the {reserve_mb:.0f} MB kept in "
        "reserve: nothing new is begun until space is freed. Nothing recorded is lost."
    )


def _no_names(folder: Path) -> bool:
    """Whether a file system with a fixed number of files has almost none left."""
    if not hasattr(os, "statvfs"):
        return False
    found = os.statvfs(folder)
    return found.f_files > 0 and found.f_favail < min(RESERVE_FILES, found.f_files // 10)
