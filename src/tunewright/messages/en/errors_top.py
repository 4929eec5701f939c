"""Sentences of the errors raised in `tunewright`."""

from __future__ import annotations

from tunewright.messages import Template

SENTENCES: dict[str, Template] = {
    "backup.no_such_backup": "no backup at {backup}",
    "backup.postgresql": "{shown} is a PostgreSQL database, which has its own backups",
    "snapshot.bad_attempt": "attempt={attempt!r}: attempts are counted from 1",
    "snapshot.bad_keep": "keep={keep!r}: keep at least 1 snapshot, or None to keep all",
    "snapshot.bad_manifest": "{file} is not the manifest of a snapshot",
    "snapshot.bad_step": "step={step!r}: a snapshot belongs to a whole number of updates >= 0",
    "snapshot.checksum": "{path} is torn or altered (checksum differs)",
    "snapshot.file_missing": "{path} is missing",
    "snapshot.manifest_without_checksum": "{file} has no checksum of {tensors} or {tree}",
    "snapshot.manifest_bad_number": "{file} has a number that no snapshot has",
    "snapshot.manifest_lacks_files": "{file} does not list {tensors} and {tree}",
    "snapshot.manifest_too_large": "{file} is larger than 1 MiB: not read",
    "snapshot.misplaced": "{file} is of another step or attempt than its folder's name",
    "snapshot.newer_version": (
        "{file} has version {version!r}, this program reads {own}: load it with the newer "
        "Tunewright that wrote it"
    ),
    "snapshot.not_a_snapshot": (
        "{path} is not a snapshot. Only the tensor-only format is read (a folder with {tensors}, "
        "{tree} and {manifest}); nothing was unpickled. For a folder of snapshots use latest()"
    ),
    "snapshot.not_a_tree": "{path} is not the tree of a snapshot",
    "snapshot.not_safetensors": (
        "not in the tensor-only safetensors format ({error}); nothing was unpickled"
    ),
    "snapshot.not_storable": (
        "cannot be stored: {shown}{more}. Keep numbers, text, bytes, None, lists, tuples, "
        "dicts, arrays and tensors"
    ),
    "snapshot.not_written": (
        "the snapshot of step {step} could not be written in {folder}: {error}. Earlier "
        "snapshots are untouched; free space or check the permissions and save again"
    ),
    "snapshot.too_large": "{path} is larger than {longest} MiB: not read",
    "snapshot.too_much_json": (
        "the part of the state that is not tensors takes {size_mb:.0f} MiB of JSON (limit "
        "{longest}): keep long lists of numbers in an array or a tensor"
    ),
    "snapshot.torn": (
        "{path} is torn or altered (checksum differs): use latest(folder), which falls back to "
        "the newest valid snapshot"
    ),
    "snapshot.torn_json": "{source} is torn or no JSON: {error}",
    "snapshot.tree_too_deep": "the tree is nested deeper than {deepest} levels",
    "snapshot.tree_unreadable": "the tree cannot be read: {kind}: {error}",
    "snapshot.unknown_library": "arrays of {library!r}: this program reads torch and numpy",
    "snapshot.unknown_numpy_dtype": "numpy dtype {name!r} is not stored in snapshots",
    "snapshot.unknown_tag": (
        "unknown tag {tag!r}: written by a newer Tunewright, or not by Tunewright"
    ),
    "snapshot.unknown_torch_dtype": (
        "this torch has no dtype {name!r}: load it with the torch that wrote it"
    ),
    "snapshot.unreadable": "{path}: {error}",
    "snapshot.untagged_object": "no tagged value: an object with the keys {keys}",
    "snapshot.wrong_size": "{path} is torn: not {size} bytes long",
}
