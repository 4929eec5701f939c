"""Sentences of the errors raised in `store`, `snapshot` and by backups."""

from __future__ import annotations

from tunewright.messages import Facts, Template, sentence

# ---- sentences of the errors raised in `store`


def _round_changed(facts: Facts) -> str:
    lines = "\n".join(f"  {sentence(change)}" for change in facts["changes"])
    return (
        f"the store has a round {facts['round']!r} already, and it differs from this one:\n"
        f"{lines}\n"
        "Give the changed round another name. Under the old name, trials_per_study may be raised "
        "and the goal edited."
    )


SENTENCES: dict[str, Template] = {
    # ---- errors store
    "store.file_name_too_long": "{path}...: its name is too long for a file: use tuning.db",
    "store.cannot_be_a_store": "{path} cannot be a store: {error}",
    "store.one_slash": "{masked}: an address has two slashes: postgresql://host/name",
    "store.in_memory": (
        "{masked}: a store is a file, so that it outlives the process: sqlite:///tuning.db"
    ),
    "store.bad_address": (
        "{masked}: a store is a SQLite file (tuning.db, sqlite:///tuning.db) or a PostgreSQL "
        "database (postgresql://...)."
    ),
    "backup.before_migration_failed": (
        "{path} has schema {version} and was not migrated, since no backup of it could be "
        "written: {error}"
    ),
    "backup.damaged": "the backup {source} is damaged itself ({error}).",
    "backup.no_space": "no backup of {path}: only {free_mb:.0f} MB are free, too few for a copy.",
    "backup.none": "no backup to restore in {folder}.",
    "backup.not_put_back": "{source} could not be put in the place of {path}: {error}",
    "backup.not_written": "no backup of {path} could be written: {error}",
    "backup.store_not_whole": "{path} is not a whole store; no backup of it is kept.",
    "campaign.not_in_store": "no campaign {name!r} in this store.",
    "campaign.step_without_reason": "step {step} of campaign {campaign} has no reason.",
    "curve.damaged": (
        "{trial}: {error}. `tunewright restore` puts back the newest backup, and `tunewright "
        "restore --rebuild` makes the store again from the trial folders."
    ),
    "curve.unreadable": "a curve batch cannot be read ({error}): the database is damaged",
    "evaluation.trial_not_ended": (
        "trial {trial} has not ended, so its checkpoint is not chosen yet."
    ),
    "export.bad_ending": "{path}: exports end in .csv, .parquet or .json",
    "file.not_written": "{path} could not be written: {reason}",
    "imported.name_taken": (
        "the round {name!r} is in the database already; keep these trials under another name."
    ),
    "imported.no_ended_trial": "{name}: no trial has ended, so there is nothing to keep.",
    "curve.altered": "a curve batch is not what was written: the database is damaged",
    "joined.not_results": "joined({other!r}): give the Results of earlier rounds.",
    "journal.conclusion_unreadable": "{path}: not a conclusion of ours ({error}).",
    "journal.not_a_conclusion": "{path}: not a conclusion of ours.",
    "json.file_too_large": "{path}: {size:,} bytes, more than the {largest:,} allowed.",
    "json.invalid": "{what}: not JSON ({error}).",
    "json.not_an_object": "{path}: holds a {kind}, not a JSON object.",
    "json.not_writable": "cannot be written to the database as JSON: {error}",
    "json.too_deep": "{what}: nested too deeply to be a record of ours.",
    "json.too_long": (
        "{characters:,} characters of JSON are more than the database takes ({most:,})."
    ),
    "json.too_long_to_read": "{what}: {characters:,} characters, more than the {most:,} allowed.",
    "launch.no_such_trial": "no trial {trial} of a round {round!r} in this store.",
    "lease.lost": (
        "attempt {attempt} of {what} is no longer this process's: it has ended, or its lease "
        "ran out and another took it. Nothing was overwritten."
    ),
    "lease.register_in_transaction": (
        "register() was called inside a transaction. It may have to watch the beats of another "
        "worker, which cannot reach the store meanwhile: call it outside."
    ),
    "lease.taken_for_dead": (
        "this {kind} (pid {pid}) was taken for dead and its trials were given to others: it "
        "was silent for longer than its lease."
    ),
    "note.empty": "the note is empty; nothing was written.",
    "store.not_as_written": "{place}: not as it was written ({said}).",
    "json.not_a_plain_file": "{path}: not a plain file.",
    "provenance.altered": "a provenance of the store is not what was written.",
    "provenance.unreadable": "a provenance of the store is not what was written ({error}).",
    "store.column_altered": "{place}: its {name} in the store is not what was written there.",
    "store.bad_status": "{place}: {status!r} is not a status of a trial.",
    "store.configuration_altered": (
        "{place}: its configuration in the store is not what was written there."
    ),
    "rebuild.no_folder": "rebuilding a PostgreSQL store needs the folder of its trials.",
    "rebuild.no_rounds": "{folder} holds no rounds to rebuild a store from.",
    "rebuild.store_not_empty": "{shown} holds rounds already; nothing was rebuilt.",
    "repeat.nothing_to_repeat": (
        "trial {trial} has no configuration yet, so there is nothing to repeat."
    ),
    "repeat.times_not_positive": "times: {times!r} is not a whole number of at least 1.",
    "results.no_such_table": 'a table is "trials" or "curves", not {table!r}',
    "round.busy": (
        "another {kind} runs this round: host {host}, pid {pid}, for {age}, last heard of "
        "{silent} ago. Wait for it, end it, or join it with `tunewright worker`."
    ),
    "round.changed": _round_changed,
    "round.no_such_trial": "the round has no trial {trial}.",
    "outcome.wrong_field": "its {name} is missing, unknown or not of the right kind",
    "round.search_changed": (
        "the round {name!r} is in the database already, and its search suggested {before} for "
        "trial {number}; now it suggests {now}. Give the changed round another name."
    ),
    "store.folder_outside": (
        "the store has {folder!r} as the folder of a trial, which lies outside {root}. It was "
        "altered; nothing was written there."
    ),
    "spool.checksum": "{path}: its checksum is wrong; the file is torn or was altered.",
    "spool.not_a_trial_folder": "{name!r} is not the folder of a trial",
    "spool.result_unreadable": "{path}: not a result ({error}).",
    "spool.round_unreadable": "{path}: not a round ({error}).",
    "spool.trial_unreadable": "{path}: not a trial ({error}).",
    "store.bad_file_name": "{path!r} is not the name of a file: use one such as tuning.db",
    "store.bad_server_address": (
        "that is not a PostgreSQL address; it looks like "
        "postgresql://user:password@host:5432/database"
    ),
    "store.bad_trial_folder": "{folder} cannot hold trial folders: {reason}",
    "store.damaged": "{path} is damaged ({found}); it is kept as it is, and so are the backups.",
    "store.damaged_in_use": (
        "the store {store} is damaged ({reason}). `tunewright restore` puts back the newest backup."
    ),
    "store.damaged_file": "the store {path} is damaged ({found}). Nothing was opened. {way}",
    "store.disk_full": "no space left for the store {store}: free some, then continue. ({reason})",
    "store.empty": "{shown} holds no rounds yet.",
    "store.file_changed": (
        "the store {path} {state} while it was in use: nothing more is written to it. What has "
        "ended is kept in the trial folders. Put the file back, or make it again with "
        "`tunewright restore` (`--rebuild` without a backup); then run again."
    ),
    "store.folder_not_made": "{folder} cannot be made: {reason}",
    "store.folder_of_another": (
        "{folder} holds the trials of another store ({owner}), not of {shown}. Nothing was "
        "started. Give this one a separate folder: Workload(folder=...). Or, if that store "
        "is lost, `tunewright restore --rebuild` makes it again from this folder."
    ),
    "store.is_folder": "{path} is a folder; a store is a file such as {example}",
    "store.locked": (
        "the store {store} was locked by another process for over {wait_s:.0f} s; is one of "
        "them stopped in the middle of a write? ({reason})"
    ),
    "store.network_file_system": (
        "{path} is on a network file system ({kind}): SQLite's write-ahead log needs memory "
        "shared between all its users and locks that hold. {instead}"
    ),
    "store.newer_schema": (
        "{shown} was written by a newer Tunewright (schema {version}, this one knows "
        "{newest}): pip install --upgrade tunewright"
    ),
    "store.no_permission": "{path} cannot be read and written by this user: change its owner.",
    "store.no_shared_memory": (
        "{shown}: this file system has no shared memory for SQLite's write-ahead log (it stays "
        "in {mode} mode). {instead}"
    ),
    "store.no_trial_folder": (
        "{shown}: a PostgreSQL store needs a folder for its trials that every worker can see: "
        "Workload(folder=...)."
    ),
    "store.not_flushed": "the store {shown} could not be flushed to the disk: {reason}",
    "store.not_writable": "the store {store} cannot be opened for writing ({reason}). {instead}",
    "store.older_schema": (
        "{shown} has schema {version}, and this program reads {own}. Any command that may "
        "write, such as `tunewright ls`, migrates it; a dump (pg_dump) before that is advised."
    ),
    "store.older_worker": (
        "{shown} has schema {version}, and a {kind} of an older Tunewright still works on it "
        "(host {host}, pid {pid}). Wait for it or end it: then any command brings the store up "
        "to date."
    ),
    "store.lock_held": (
        "another program has locked {path} for more than {seconds:duration}. Writes continue "
        "without it. End that program; `chmod 600` keeps other users from locking the file."
    ),
    "store.lock_held_by": (
        "another program (process {holders:list}) has locked {path} for more than "
        "{seconds:duration}. Writes continue without it. End that program; `chmod 600` keeps "
        "other users from locking the file."
    ),
    "store.orphan_folders": (
        "the store {path} {state}, but {folder} holds {orphans} trial folders. Nothing was "
        "started. `tunewright restore --rebuild` makes the store again from them{hint}; to "
        "begin anew, move that folder away."
    ),
    "store.other_program": (
        "{shown} is a database of another program: it has the tables {tables}. Give the store "
        "another name."
    ),
    "store.read_only": "the store {shown} was opened for reading only.",
    "store.read_only_folder": (
        "{folder} is read-only: SQLite keeps its write-ahead log and locks beside the store, "
        "even for reading. Copy the store to a folder you can write to. {instead}"
    ),
    "store.unusable": "the store {store} could not be used: {reason}",
    "store.write_while_reading": (
        "a write inside a block that only reads; open a transaction first"
    ),
    "trial.bad_status": "a trial ends as one of {ended:list}, not as {status!r}",
    "trial.no_such_key": "no trial with the key {key} in {url}.",
    # ---- errors top
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
