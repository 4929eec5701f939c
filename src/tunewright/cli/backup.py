"""The commands `backup` and `restore`: copies of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright import stores
from tunewright.cli._answer import answer
from tunewright.cli._options import JsonOption, StoreOption
from tunewright.cli._project import find_project, store_address
from tunewright.messages import words
from tunewright.present.terminal.screen import say


def backup(store: StoreOption = None, json: JsonOption = False) -> None:
    """Write a backup of the store, checked, while it is in use; the newest three are kept.

    A running round does this by itself every ten minutes.
    """
    written = stores.backup(store_address(store))
    answer(json, {"path": written}, lambda: say(f"wrote {written}"))


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
    json: JsonOption = False,
) -> None:
    """Put a backup in the store's place; what was there is kept beside it."""
    address = store_address(store)
    if listed:
        found = stores.backups(address)
        answer(json, {"backups": found}, lambda: _list(found))
        return
    made = stores.rebuild(address, _trial_folder()) if rebuilt else stores.restore(address, chosen)
    answer(json, made, lambda: _tell(made))


def _list(found: list[Path]) -> None:
    for one in found:
        say(str(one))


def _tell(made: stores.Restored) -> None:
    for unreadable in made.unreadable:
        say(f"note: {unreadable} is torn or altered and was passed over", style="yellow")
    known = f"{words.count(made.rounds, 'round')}, {words.count(made.trials, 'trial')}"
    say(f"restored {made.store} from {made.source or 'its trial folders'}: {known}")


def _trial_folder() -> Path | None:
    """Where the project keeps its trial folders, if not beside the store."""
    project = find_project()
    elsewhere = project.settings["folder"] if project is not None else None
    return None if project is None or elsewhere is None else project.folder / elsewhere
