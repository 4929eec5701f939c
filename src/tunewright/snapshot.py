"""A tensor tree on disk: whatever a training program must keep to resume where it stopped.

    <folder>/step-000000000400.1.0/         step, attempt, and a number for several of one step
        tensors.safetensors                 every tensor and array, named by its place in the tree
        tree.json                           the rest, with types (integer keys, tuples, dtypes ...)
        manifest.json                       format, step, attempt, sha256 and size of the two files

A snapshot appears whole or not at all: it is written under another name, flushed to the disk
and renamed. Nothing is pickled, so a file from elsewhere can be wrong but cannot run. What
comes back: tensors on the CPU; tied tensors (and views of one storage) stored once and tied
again; OrderedDict as such, other mappings as dict, named tuples as tuples, parameters as
tensors. A folder has one writer at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import logging
import math
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tunewright import _typed_tree as typed_tree
from tunewright.errors import MissingExtra, SnapshotError, need

FORMAT = "tunewright snapshot"
VERSION = 1
LONGEST = 64 * 2**20  # bytes of tree.json; larger data belongs in arrays

_TENSORS, _TREE, _MANIFEST = "tensors.safetensors", "tree.json", "manifest.json"
NAME = re.compile(r"step-(\d{12})\.(\d+)\.(\d+)")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Snapshot:
    """One snapshot on disk, by its manifest."""

    path: Path
    step: int  # updates done when it was taken
    attempt: int
    sha256: str  # of manifest.json, which holds those of the other files
    size: int  # bytes of all three files
    created: str = ""  # ISO 8601, UTC
    extra: Mapping[str, Any] = field(default_factory=dict)  # readable without the tensors
    skipped: tuple[str, ...] = ()  # from latest(): newer ones that were torn, and why


def save(
    folder: Path | str,
    state: object,
    *,
    step: int,
    attempt: int = 1,
    keep: int | None = 2,
    extra: Mapping[str, object] | None = None,
    spare: Sequence[Path] = (),
) -> Snapshot:
    """Write `state` as a snapshot of `step`, then drop all but the newest `keep` (None: drop none).

    Those at `spare` stay however old they are. What cannot be stored is refused, with its place in
    the tree, before anything is written.
    """
    if type(step) is not int or not 0 <= step < 10**12:
        raise SnapshotError("snapshot.bad_step", step=step)
    if type(attempt) is not int or attempt < 1:
        raise SnapshotError("snapshot.bad_attempt", attempt=attempt)
    if keep is not None and (type(keep) is not int or keep < 1):
        raise SnapshotError("snapshot.bad_keep", keep=keep)
    tree = typed_tree.encode(state)
    notes = typed_tree.encode(dict(extra or {}), "extra", arrays_allowed=False).node
    text = typed_tree.to_json({"version": VERSION, "arrays": tree.library, "root": tree.node})
    if len(text) > LONGEST:
        raise SnapshotError(
            "snapshot.too_much_json", size_mb=len(text) / 2**20, longest=LONGEST // 2**20
        )
    folder = Path(folder)
    partial = folder / f".writing-{attempt}-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        partial.mkdir(parents=True)
        _write_arrays(partial / _TENSORS, tree)
        (partial / _TREE).write_bytes(text)
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "step": step,
            "attempt": attempt,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "extra": notes,
            "files": {name: _fingerprint(partial / name) for name in (_TENSORS, _TREE)},
        }
        (partial / _MANIFEST).write_bytes(typed_tree.to_json(manifest, indent=1))
        for name in (_TENSORS, _TREE, _MANIFEST, "."):
            flush(partial / name)
        path = _publish(partial, folder, step, attempt)
        flush(folder)
    except OSError as error:
        needed = len(text) + sum(getattr(array, "nbytes", 0) for array in tree.arrays.values())
        raise SnapshotError(
            "snapshot.not_written",
            step=step,
            folder=folder,
            error=error,
            needed_mb=math.ceil(needed / 2**20),
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    written = _read_manifest(path)
    _tidy(folder, (written.path, *spare), written.attempt, keep)
    return written


def load(path: Path | str | Snapshot) -> Any:
    """The state kept in a snapshot, checked against its checksums; tensors come to the CPU."""
    snapshot = path if isinstance(path, Snapshot) else _read_manifest(Path(path))
    manifest = _manifest(snapshot.path)
    tree = typed_tree.from_json(
        _read_checked(snapshot.path, _TREE, manifest), snapshot.path / _TREE
    )
    if not isinstance(tree, dict) or tree.get("version") != VERSION or "root" not in tree:
        raise SnapshotError("snapshot.not_a_tree", path=snapshot.path / _TREE)
    library = str(tree.get("arrays"))
    try:
        arrays = _read_arrays(_read_checked(snapshot.path, _TENSORS, manifest), library)
        return typed_tree.decode(tree["root"], arrays, library)
    except SnapshotError as error:
        raise SnapshotError("snapshot.unreadable", path=snapshot.path, error=error) from error


def verify(snapshot: Snapshot) -> None:
    """Read the files once and raise SnapshotError when one is not what was written."""
    manifest = _manifest(snapshot.path)
    for name, known in manifest["files"].items():
        if _fingerprint(snapshot.path / name) != known:
            raise SnapshotError("snapshot.checksum", path=snapshot.path / name)


def latest(folder: Path | str) -> Snapshot | None:
    """The newest valid snapshot: highest step, newest of equal steps; torn ones are skipped."""
    skipped: list[str] = []
    for path in _newest_first(Path(folder)):
        try:
            newest = _read_manifest(path)
            verify(newest)
        except SnapshotError as error:
            log.warning("snapshot skipped: %s", error)
            skipped.append(str(error))
        else:
            return replace(newest, skipped=tuple(skipped))
    return None


def list_snapshots(folder: Path | str) -> list[Snapshot]:
    """Every snapshot whose manifest can be read and whose files have their sizes, newest first."""
    snapshots = []
    for path in _newest_first(Path(folder)):
        with contextlib.suppress(SnapshotError):
            snapshots.append(_read_manifest(path))
    return snapshots


def remove(snapshot: Snapshot) -> None:
    """Delete a snapshot; killed half-way it is gone, not torn."""
    doomed = snapshot.path.with_name(f".removing-{snapshot.path.name}-{secrets.token_hex(4)}")
    with contextlib.suppress(FileNotFoundError):
        snapshot.path.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


# --- files -------------------------------------------------------------------------------------


def _publish(partial: Path, folder: Path, step: int, attempt: int) -> Path:
    numbers = [n for at, by, n, _ in _names(folder) if (at, by) == (step, attempt)]
    path = folder / f"step-{step:012d}.{attempt}.{max(numbers, default=-1) + 1}"
    partial.rename(path)
    return path


def _names(folder: Path) -> Iterator[tuple[int, int, int, Path]]:
    if folder.is_dir():
        for path in folder.iterdir():
            if match := NAME.fullmatch(path.name):
                yield int(match[1]), int(match[2]), int(match[3]), path


def _newest_first(folder: Path) -> list[Path]:
    return [path for *_, path in sorted(_names(folder), reverse=True)]


def _tidy(folder: Path, stay: tuple[Path, ...], newest_attempt: int, keep: int | None) -> None:
    """Drop old snapshots, and what killed writers of this or an earlier attempt left behind."""
    if keep is not None:
        for old in list_snapshots(folder)[keep:]:
            if old.path not in stay:
                remove(old)
    for path in folder.glob(".writing-*"):
        attempt = path.name.split("-")[1]
        if attempt.isdigit() and int(attempt) <= newest_attempt:
            shutil.rmtree(path, ignore_errors=True)
    for path in folder.glob(".removing-*"):
        shutil.rmtree(path, ignore_errors=True)


def flush(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_arrays(path: Path, encoded: typed_tree.Encoded) -> None:
    try:
        _safetensors(encoded.library).save_file(encoded.arrays, str(path))
    except Exception as error:  # safetensors reports a full disk by its own error class
        raise OSError(str(error)) from error


def _read_arrays(data: bytes, library: str) -> Mapping[str, Any]:
    if library not in ("torch", "numpy"):
        raise SnapshotError("snapshot.unknown_library", library=library)
    try:
        arrays: Mapping[str, Any] = _safetensors(library).load(data)
    except MissingExtra:
        raise
    except Exception as error:  # safetensors' own error class moved between its versions
        raise SnapshotError("snapshot.not_safetensors", error=error) from error
    return arrays


def _safetensors(library: str) -> Any:
    need(library, extra="torch", purpose="a snapshot with tensors")
    return importlib.import_module(f"safetensors.{library}")


def _fingerprint(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return {"sha256": digest, "size": file.tell()}
    except FileNotFoundError:
        raise SnapshotError("snapshot.file_missing", path=path) from None


def _read_checked(path: Path, name: str, manifest: Mapping[str, Any]) -> bytes:
    known = manifest["files"][name]
    if name == _TREE and known["size"] > LONGEST:
        raise SnapshotError("snapshot.too_large", path=path / name, longest=LONGEST // 2**20)
    data = (path / name).read_bytes()
    if hashlib.sha256(data).hexdigest() != known["sha256"]:
        raise SnapshotError("snapshot.torn", path=path / name)
    return data


def _manifest(path: Path) -> dict[str, Any]:
    file = path / _MANIFEST
    if not file.is_file():
        raise SnapshotError(
            "snapshot.not_a_snapshot", path=path, tensors=_TENSORS, tree=_TREE, manifest=_MANIFEST
        )
    if file.stat().st_size > 2**20:
        raise SnapshotError("snapshot.manifest_too_large", file=file)
    manifest = typed_tree.from_json(file.read_bytes(), file)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise SnapshotError("snapshot.bad_manifest", file=file)
    if manifest.get("version") != VERSION:
        raise SnapshotError(
            "snapshot.newer_version", file=file, version=manifest.get("version"), own=VERSION
        )
    files, name = manifest.get("files"), NAME.fullmatch(path.name)
    if not isinstance(files, dict) or set(files) != {_TENSORS, _TREE}:
        raise SnapshotError(
            "snapshot.manifest_lacks_files", file=file, tensors=_TENSORS, tree=_TREE
        )
    numbers = [manifest.get("step"), manifest.get("attempt")]
    for known in files.values():
        if not isinstance(known, dict) or not isinstance(known.get("sha256"), str):
            raise SnapshotError(
                "snapshot.manifest_without_checksum", file=file, tensors=_TENSORS, tree=_TREE
            )
        numbers.append(known.get("size"))
    if not all(type(n) is int and 0 <= n < 2**63 for n in numbers):
        raise SnapshotError("snapshot.manifest_bad_number", file=file)
    if name and (int(name[1]), int(name[2])) != (manifest.get("step"), manifest.get("attempt")):
        raise SnapshotError("snapshot.misplaced", file=file)
    return manifest


def _read_manifest(path: Path) -> Snapshot:
    manifest = _manifest(path)
    text = (path / _MANIFEST).read_bytes()
    size = len(text)
    for name, known in manifest["files"].items():
        if not (path / name).is_file() or (path / name).stat().st_size != known.get("size"):
            raise SnapshotError("snapshot.wrong_size", path=path / name, size=known.get("size"))
        size += known["size"]
    return Snapshot(
        path=path,
        step=manifest["step"],
        attempt=manifest["attempt"],
        sha256=hashlib.sha256(text).hexdigest(),
        size=size,
        created=str(manifest.get("created", "")),
        extra=typed_tree.decode(manifest.get("extra", {"dict": {}}), {}),
    )
