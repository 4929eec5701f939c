"""The commands `rm` and `rename`: rounds removed so that they can be brought back, or renamed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from tunewright import stores
from tunewright.actions import RemoveRound
from tunewright.cli._answer import answer
from tunewright.cli._options import JsonOption, RoundName, StoreOption, round_named
from tunewright.cli._project import find_project, store_address
from tunewright.errors import Misuse
from tunewright.messages import words
from tunewright.present.terminal.screen import cell, say, screen, table
from tunewright.project._rename import RenamedRound, rename as rename_round
from tunewright.remedies import use
from tunewright.store.user_requests import Removed


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
        answer(json, {"removed": known}, lambda: print_removed(known))
        return
    if round is None:
        raise Misuse("rm.no_round", remedy=use("tunewright", "rm", "--list"))
    if undo:
        back = stores.bring_back(address, round)
        answer(json, back, lambda: say(f"{words.printable(round)} is back: {_trials(back)}"))
        return
    gone = stores.remove(address, round)
    answer(json, gone, lambda: print_gone(gone))


def print_gone(gone: Removed) -> None:
    """What was removed, and how it comes back."""
    say(f"removed {words.printable(gone.name)}: {_trials(gone)}")
    if gone.folder:
        say(f"its trial folders stay in {gone.folder}")
    say(f"undo: {RemoveRound(gone.name, undo=True).command}")


def print_removed(known: Sequence[Removed]) -> None:
    """The removed rounds, the newest first."""
    made = table("round", "removed", "trials", "folder", right=("trials",))
    for one in known:
        when = one.removed.astimezone().strftime("%Y-%m-%d %H:%M")
        made.add_row(cell(one.name), cell(when), str(one.trials), cell(one.folder))
    screen().print(made)


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
    answer(json, done, lambda: print_renamed(done))


def print_renamed(done: RenamedRound) -> None:
    """What has another name now."""
    say(f"{words.printable(done.old)} is called {words.printable(done.new)}")
    for name in done.also:
        say(f"with it: {words.printable(name)}")
    for name in done.continued_by:
        say(f"{words.printable(name)} continues it")
    for path in done.files:
        say(f"wrote {path}")


def _trials(one: Removed) -> str:
    return words.count(one.trials, "trial")
