"""Who may read what a store writes: its user alone, unless the folder is shared on purpose.

A store holds commands, uncommitted code and logs. Its files are made 0600 and its folders 0700,
whatever the umask is. A folder that its group may write to is shared on purpose: what is made in
it follows the umask. What exists keeps its mode.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


def shared(folder: Path) -> bool:
    """Whether others than its user are meant to write into the nearest folder that exists."""
    here = folder.absolute()
    while True:
        try:
            mode = os.stat(here).st_mode
            break
        except (FileNotFoundError, NotADirectoryError):
            here = here.parent
    # everybody's scratch space (/tmp) is sticky: that shares the space, not the files
    return bool(mode & stat.S_IWGRP) and not mode & stat.S_ISVTX


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing; one that exists is left as it is."""
    if path.is_dir():
        return
    mode = 0o777 if shared(path) else 0o700
    try:
        os.mkdir(path, mode)  # most often the one folder is missing
    except FileExistsError:
        if not path.is_dir():
            raise
    except FileNotFoundError:
        make_folder(path.parent)
        path.mkdir(mode=mode, exist_ok=True)


def opener(path: str | os.PathLike[str], flags: int) -> int:
    """Open a file for `open(..., opener=opener)`; a new one is private."""
    mode = 0o666 if shared(Path(path).parent) else 0o600
    return os.open(path, flags | os.O_CLOEXEC, mode)


def make_file(path: Path) -> None:
    """Make an empty file for a library that would make it readable for all."""
    os.close(opener(path, os.O_RDWR | os.O_CREAT))
