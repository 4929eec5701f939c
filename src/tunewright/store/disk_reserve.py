"""The free-space reserve: a round pauses before the disk is full, and goes on afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path

RESERVE_MB = 64


def short_of_space(folder: Path, reserve_mb: float = RESERVE_MB) -> str | None:
    """Why nothing new should be begun here, or None while there is enough space.

    >>> short_of_space(Path("."), reserve_mb=0) is None
    True
    """
    here = folder.absolute()
    while not here.exists():
        here = here.parent
    free_mb = shutil.disk_usage(here).free / 2**20
    if free_mb >= reserve_mb:
        return None
    return (
        f"only {free_mb:.0f} MB are free in {here}, less than the {reserve_mb:.0f} MB kept in "
        "reserve: nothing new is begun until space is freed. Nothing recorded is lost."
    )
