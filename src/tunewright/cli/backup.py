"""Commands on a whole store: backup, restore, rm, rename."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tunewright import stores
from tunewright.actions import RemoveRound
from tunewright.cli._errors import answer
from tunewright.cli._options import (
    JsonOption,
    RoundName,
    StoreOption,
    find_project,
    round_named,
    store_address,
)
from tunewright.errors import Misuse
from tunewright.messages import worded, words
from tunewright.present.terminal.screen import cell, say, screen, table
from tunewright.project._set_up import RenamedRound, rename as rename_round
from tunewright.remedies import use
from tunewright.store.user_requests import Removed


def backup(store: StoreOption = None, json: JsonOption = False) -> None:
    """Write a backup of the store, checked, while it is in use; the newest three are kept.

    A running round does this by itself every ten minutes.
    """
    written = stores.backup(store_address(store))
    answer(json, {"path": written}, lambda: say(worded("wrote", path=written)))


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
        copies = stores.backups(address)
        answer(json, {"backups": copies}, lambda: _list(copies))
        return
    restored = (
        stores.rebuild(address, _trial_folder()) if rebuilt else stores.restore(address, chosen)
    )
    answer(json, restored, lambda: _tell(restored))


def _list(copies: list[Path]) -> None:
    for copy in copies:
        say(str(copy))


def _tell(restored: stores.Restored) -> None:
    for unreadable in restored.unreadable:
        say(worded("torn_backup", path=unreadable), style="yellow")
    facts = {"store": restored.store, "rounds": restored.rounds, "trials": restored.trials}
    if restored.source:
        say(worded("restored", source=restored.source, **facts))
    else:
        say(worded("restored_from_folders", **facts))


def _trial_folder() -> Path | None:
    """Where the project keeps its trial folders, if not beside the store."""
    project = find_project()
    elsewhere = project.settings["folder"] if project is not None else None
    return None if project is None or elsewhere is None else project.folder / elsewhere


def rm(
    round: Annotated[
        str | None,
        typer.Argument(
            metavar="[ROUND]",
            callback=round_named,
            help="The round's name, or its file in rounds/.",
            show_default=False,
        ),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Bring the removed round back.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the removed rounds.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Remove a round from the store; --undo brings it back.

    Its name is free then: run a corrected rounds/ROUND.toml under it. Refused while it runs,
    and where another round, a launch or a campaign rests on it. Its trial folders stay.
    """
    address = store_address(store)
    if listed:
        known = stores.removed(address)
        answer(json, {"removed": known}, lambda: _print_removed(known))
        return
    if round is None:
        raise Misuse("rm.no_round", remedy=use("tunewright", "rm", "--list"))
    if undo:
        back = stores.bring_back(address, round)
        answer(
            json,
            back,
            lambda: say(worded("back", round=words.printable(round), trials=back.trials)),
        )
        return
    removed = stores.remove(address, round)
    answer(json, removed, lambda: _print_gone(removed))


def _print_gone(removed: Removed) -> None:
    """What was removed, and how it comes back."""
    say(worded("removed", round=words.printable(removed.name), trials=removed.trials))
    if removed.folder:
        say(worded("folders_stay", folder=removed.folder))
    say(worded("undo", command=RemoveRound(removed.name, undo=True).command))


def _print_removed(known: Sequence[Removed]) -> None:
    """The removed rounds, the newest first."""
    rows = table("round", "removed", "trials", "folder", right=("trials",))
    for round in known:
        when = round.removed.astimezone().strftime("%Y-%m-%d %H:%M")
        rows.add_row(cell(round.name), cell(when), str(round.trials), cell(round.folder))
    screen().print(rows)


def rename(
    old: RoundName,
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Give a round another name, in the store and in rounds/.

    Rounds that continue it, recorded ones and files, name the new one afterwards.
    """
    done = rename_round(old, new, store=store_address(store), project=find_project())
    answer(json, done, lambda: _print_renamed(done))


def _print_renamed(done: RenamedRound) -> None:
    """What has another name now."""
    say(worded("renamed", old=words.printable(done.old), new=words.printable(done.new)))
    for name in done.also:
        say(worded("renamed_too", name=words.printable(name)))
    for name in done.continued_by:
        say(worded("continues_it", name=words.printable(name)))
    for path in done.files:
        say(worded("wrote", path=path))
