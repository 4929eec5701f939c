"""The files of a trial: listed, and handed out one by one, from inside its folder only.

A store is shared, and its contents are not to be trusted with the files of this machine. So a
folder of trials must carry the mark of this store, a path is walked part by part, and a link is
refused.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from tunewright.errors import NotFound, TunewrightError
from tunewright.store.open_store import MARK, default_root
from tunewright.store.plain_json import read_object
from tunewright.store.rounds import RoundRecord, inside
from tunewright.store.store import Store
from tunewright.store.trial import Trial

MOST = 500  # files that are listed
_DEEPEST = 8
_CHUNK = 256 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe is not waited for


class Place(NamedTuple):
    """The folder of a trial below the folder of trials."""

    root: Path
    folder: str

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.root / self.folder


def place_of(store: Store, record: RoundRecord, trial: Trial) -> Place | None:
    """The folder of a trial; None where it is not here, or its root is not this store's."""
    root = record.folder or ("" if store.path is None else str(default_root(store.path)))
    if not root or not trial.folder:
        return None
    try:
        if read_object(Path(root, MARK)).get("store") != store.identity:
            return None
        place = Place(Path(root), trial.folder)
        inside(place.root, place.folder)
        os.close(_open_folder(place.root, PurePath(place.folder).parts))
    except (OSError, TunewrightError, ValueError):
        return None
    return place


def list_files(place: Place) -> list[dict[str, Any]]:
    """The plain files inside a folder with their sizes, links left out."""
    entries: list[dict[str, Any]] = []
    folder = place.path
    for at, folders, names in os.walk(folder):
        here = Path(at)
        if len(here.relative_to(folder).parts) >= _DEEPEST:
            folders.clear()
        folders.sort()
        for name in sorted(names):
            path = here / name
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                relative = path.relative_to(folder).as_posix()
                entries.append({"path": relative, "bytes": status.st_size})
            if len(entries) >= MOST:
                return entries
    return entries


def open_file(place: Place, relative: str) -> tuple[int, int]:
    """A descriptor of a plain file inside a folder, and its size; NotFound for anything else."""
    parts = relative.split("/")
    plain = all(part not in ("", ".", "..") for part in parts) and "\0" not in relative
    if plain and "\\" not in relative and len(parts) <= _DEEPEST:
        with contextlib.suppress(OSError, ValueError):
            folder = _open_folder(place.root, (*PurePath(place.folder).parts, *parts[:-1]))
            try:
                descriptor = os.open(parts[-1], _FILE, dir_fd=folder)
            finally:
                os.close(folder)
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode):
                return descriptor, status.st_size
            os.close(descriptor)
    raise NotFound("ui.no_such_file", path=relative)


def chunks(descriptor: int, size: int) -> Iterator[bytes]:
    """The first `size` bytes of an open file, which is closed at the end."""
    with os.fdopen(descriptor, "rb") as file:
        while size > 0 and (data := file.read(min(_CHUNK, size))):
            size -= len(data)
            yield data


def tail(place: Place, name: str, most: int) -> str | None:
    """The end of a text file inside a folder; None where there is no such plain file."""
    try:
        descriptor, size = open_file(place, name)
    except NotFound:
        return None
    with os.fdopen(descriptor, "rb") as file:
        file.seek(max(0, size - most))
        return file.read(most).decode("utf-8", "replace")


def _open_folder(root: Path, parts: Iterable[str]) -> int:
    """A descriptor of a folder below the root, reached without following a link."""
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            below = os.open(part, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
    except BaseException:
        os.close(at)
        raise
    return at
