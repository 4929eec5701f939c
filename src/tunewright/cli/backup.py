"""Commands that keep the record: backup and restore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli._errors import Misuse
from tunewright.cli._options import StoreOption
from tunewright.cli._project import find_project, store_address
from tunewright.messages import words
from tunewright.present.terminal.screen import say
from tunewright.store import backup as backups
from tunewright.store.address import parse
from tunewright.store.rebuild import rebuild
from tunewright.store.store import Store


def backup(store: StoreOption = None) -> None:
    """Write a backup of the store, checked, while it is in use; the newest three are kept.

    A running round does this by itself every ten minutes.
    """
    path = _file(store)
    Store.open(path, create=False).close()  # refuses to copy a damaged store over good backups
    say(f"wrote {backups.make(path)}")


def restore(
    chosen: Annotated[
        Path | None,
        typer.Argument(metavar="[BACKUP]", help="The backup to put back; the newest by default."),
    ] = None,
    rebuilt: Annotated[
        bool,
        typer.Option("--rebuild", help="Make the store again from its trial folders instead."),
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the backups, oldest first.")] = False,
    store: StoreOption = None,
) -> None:
    """Put a backup in the store's place; what was there is kept beside it."""
    path = _file(store)
    if listed:
        for found in backups.backups(path):
            say(str(found))
        return
    source = _rebuild(path) if rebuilt else _put_back(path, chosen)
    with Store.open(path, create=False) as opened:
        rounds = opened.rounds()
    trials = sum(sum(record.counts.values()) for record in rounds)
    known = f"{words.count(len(rounds), 'round')}, {words.count(trials, 'trial')}"
    say(f"restored {path} from {source}: {known}")


def _rebuild(path: Path) -> str:
    project = find_project()
    elsewhere = project.settings["folder"] if project is not None else None
    root = None if project is None or elsewhere is None else project.folder / elsewhere
    made = rebuild(path, root)
    for unreadable in made.unreadable:
        say(f"note: {unreadable} is torn or altered and was passed over", style="yellow")
    return "its trial folders"


def _put_back(path: Path, chosen: Path | None) -> str:
    if chosen is not None and not chosen.is_file():
        raise Misuse(f"no backup at {chosen}", remedy="tunewright restore --list")
    return str(backups.restore(path, None if chosen is None else chosen.absolute()))


def _file(store: str | None) -> Path:
    address = parse(store_address(store))
    if address.path is None:
        raise Misuse(
            f"{address.shown} is a PostgreSQL database, which has its own backups",
            remedy="pg_dump, or ask who keeps the server",
        )
    return address.path
