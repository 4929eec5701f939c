"""The family of commands `tunewright budget`: show what is spent, set what may be spent."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tunewright.budgets.budget import Budget
from tunewright.budgets.file import FILE, read, write
from tunewright.budgets.state import BudgetState, state
from tunewright.cli._errors import answer
from tunewright.cli._options import JsonOption, StoreOption, find_project, from_here, store_address
from tunewright.errors import Misuse
from tunewright.messages import Message
from tunewright.present.envelope import plain
from tunewright.present.terminal.screen import say

budget = typer.Typer(
    name="budget",
    help="Show or set how much training this project may spend: trials, hours or money.",
    invoke_without_command=True,
    add_completion=False,
)


@budget.callback()
def begin(context: typer.Context) -> None:
    """Show or set how much training this project may spend: trials, hours or money."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


@budget.command()
def show(store: StoreOption = None, json: JsonOption = False) -> None:
    """Show the budget, what is spent of it, and what is left."""
    known = _state(from_here(store))
    data = {"budget": None} if known is None else plain(known)
    answer(json, data, lambda: _print(known))


@budget.command("set")
def set_(
    trials: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Trials that may begin, in all.")
    ] = None,
    hours: Annotated[
        float | None, typer.Option(min=0.0, metavar="H", help="Hours of training, in all.")
    ] = None,
    money: Annotated[
        float | None, typer.Option(min=0.0, metavar="M", help="Money: hours times their price.")
    ] = None,
    price_per_hour: Annotated[
        float | None, typer.Option(min=0.0, metavar="M", help="The price of an hour of training.")
    ] = None,
    currency: Annotated[str, typer.Option(metavar="EUR", help="For readers only.")] = "",
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Count from now on: what was spent before is forgotten."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before the budget is raised.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Set limits; those that are not named stay. Raising one asks at a terminal."""
    path = _folder() / FILE
    before = read(path) if path.is_file() else None
    given = {
        "trials": trials,
        "hours": hours,
        "money": money,
        "price_per_hour": price_per_hour,
        "currency": currency or None,
        "since": time.time() if restart else None,
    }
    named = {name: value for name, value in given.items() if value is not None}
    if not named:
        raise Misuse("budget.nothing_to_set")
    now = Budget(**named) if before is None else replace(before, **named)  # type: ignore[arg-type]
    if now.raises(before) and not yes:
        _confirm(before, now)
    write(now, path.parent)
    known = _state(from_here(store))
    answer(json, plain(known), lambda: _print(known))


def _confirm(before: Budget | None, now: Budget) -> None:
    """Ask at a terminal; refuse elsewhere."""
    facts = {"before": None if before is None else before.to_data(), "now": now.to_data()}
    if not sys.stdin.isatty():
        raise Misuse("budget.not_confirmed")
    if not typer.confirm(Message("budget.raises", facts).text, err=True):
        raise typer.Abort


def _folder() -> Path:
    """The project's folder, or this one."""
    project = find_project()
    return Path.cwd() if project is None else project.folder


def _state(store: str | None) -> BudgetState | None:
    path = _folder() / FILE
    return state(store_address(store) if _has_store(store) else path.with_name("tuning.db"), path)


def _has_store(store: str | None) -> bool:
    return store is not None or find_project() is not None or Path("tuning.db").is_file()


def _print(known: BudgetState | None) -> None:
    if known is None:
        say(str(Message("budget.none")))
        return
    facts = {"budget": known.budget.to_data(), "spent": known.spent.to_data()}
    say(str(Message("budget.state", facts)))
