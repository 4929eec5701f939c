"""Opening a store: what is refused before anything is written, and the folder of trials."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import exc

from tunewright.errors import Damaged, NotFound, StoreError
from tunewright.remedies import FirstRun, Restore
from tunewright.store import backup, migrations
from tunewright.store.address import Address, check_place, parse
from tunewright.store.database import Database, beside, make_file, make_folder
from tunewright.store.plain_json import read_object
from tunewright.store.schema import SCHEMA_VERSION

MARK = "store.json"  # in the folder of trials: which store it belongs to


@dataclass(frozen=True)
class Opened:
    """A database that was checked, migrated and found to be ours."""

    database: Database
    identity: str


def open_store(url: str | os.PathLike[str], create: bool, read_only: bool = False) -> Opened:
    """Open a store, or refuse it with the reason and the way out.

    One of an older schema is migrated after a backup. Opened for reading only it stays as it is,
    and a migrated copy is read that goes when the store is closed.
    """
    address = parse(url)
    if address.path is not None:
        _check_file(address.path, create and not read_only)
    database = Database(address, read_only=read_only)
    try:
        if address.path is not None:
            _check_whole(database, address)
        if migrations.version_of(database) is None:
            if not create or read_only:
                raise NotFound("store.empty", shown=address.masked, remedy=FirstRun())
            migrations.create(database)
        if read_only:
            database = _readable(database)
        else:
            migrations.migrate(database, lambda version: backup.before_migration(database, version))
        return Opened(database, migrations.identity_of(database))
    except BaseException:
        database.close()
        raise


def _readable(database: Database) -> Database:
    """The database itself, or a copy of it under the newest schema."""
    address, version = database.address, migrations.version_of(database)
    assert version is not None
    migrations.refuse_newer(database, version)
    if version == SCHEMA_VERSION:
        return database
    if address.path is None:
        raise StoreError(
            "store.older_schema", shown=address.masked, version=version, own=SCHEMA_VERSION
        )
    folder = tempfile.TemporaryDirectory(prefix="tunewright-")
    copy = backup.copy_to(Path(folder.name) / address.path.name, address.path)
    database.close()
    writable = Database(replace(address, path=copy))
    try:
        migrations.migrate(writable, lambda version: None, copy=True)
    finally:
        writable.close()
    opened = Database(address, read_only=True, copy=copy)
    opened.on_close(folder.cleanup)
    return opened


def _check_file(path: Path, create: bool) -> None:
    empty = not path.exists() or path.stat().st_size == 0
    root = default_root(path)
    # nothing may be made in the place of what was lost
    if empty and (marked(path) or _trial_folders(root)):
        state = "is empty" if path.exists() else "is missing"
        newest = backup.newest(path)
        saved = f" (or restore the backup {newest})" if newest else ""
        raise Damaged(
            "store.orphan_folders",
            path=path,
            state=state,
            folder=root,
            orphans=_trial_folders(root),
            hint=saved,
            remedy=Restore(rebuild=True),
        )
    if not path.exists():
        if not create:
            others = sorted(p.name for p in path.parent.glob("*.db"))[:8]
            raise NotFound("store.not_found", path=str(path), others=others, remedy=FirstRun())
        try:
            make_folder(path.parent)
        except OSError as error:
            raise StoreError(
                "store.folder_not_made", folder=path.parent, reason=error.strerror
            ) from error
    check_place(path)
    if not path.exists():
        make_file(path)  # SQLite gives its log and its index the mode of the file


def _check_whole(database: Database, address: Address) -> None:
    """Refuse a file that SQLite's own check finds torn or altered."""
    try:
        with database.reading() as connection:
            verdict = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
    except UnicodeDecodeError as error:  # SQLite quotes a name that is no text any more
        verdict = str(error)
    except (StoreError, exc.SQLAlchemyError) as error:
        cause = getattr(error.__cause__, "orig", None)
        if not isinstance(error, Damaged) and "disk I/O" not in str(cause):
            raise
        verdict = str(cause or error)
    if verdict != "ok":
        assert address.path is not None
        raise damage_error(address.path, str(verdict))


def damage_error(path: Path, verdict: str) -> Damaged:
    """The refusal of a damaged file, with what can be restored."""
    newest = backup.newest(path)
    if newest is None:
        way = f"There is no backup; {default_root(path)} may hold what is needed to rebuild it."
    else:
        way = (
            f"The newest backup is {newest}: `tunewright restore` puts it back, and the next run "
            "takes over results that reached the trial folders since."
        )
    return Damaged("store.damaged_file", path=path, found=verdict, way=way)


def default_root(path: Path) -> Path:
    """The default folder of the trials of a SQLite store."""
    return beside(path, ".trials")


def marked(path: Path) -> bool:
    """Whether some store has kept trials beside this file."""
    return (default_root(path) / MARK).exists()


def trial_root(database: Database, identity: str, folder: Path | None) -> Path:
    """The folder of trials, made if need be, and refused if it is another store's."""
    path = database.address.path
    if folder is None:
        if path is None:
            raise StoreError("store.no_trial_folder", shown=database.address.masked)
        folder = default_root(path)
    folder = Path(folder).expanduser().absolute()
    mark = folder / MARK
    try:
        make_folder(folder)
        if not mark.exists():
            unfinished = folder / f".{MARK}.{os.getpid()}"
            unfinished.write_text(json.dumps({"store": identity}))
            try:
                os.link(unfinished, mark)  # of two that come at once the first one counts
            except FileExistsError:
                pass
            finally:
                unfinished.unlink()
    except OSError as error:
        raise StoreError("store.bad_trial_folder", folder=folder, reason=error.strerror) from error
    owner = read_object(mark).get("store")
    if owner != identity:
        raise StoreError(
            "store.folder_of_another", folder=folder, owner=owner, shown=database.address.masked
        )
    return folder


def _trial_folders(root: Path) -> int:
    if not root.is_dir():
        return 0
    return sum(1 for _ in root.glob("r*/t*/"))
