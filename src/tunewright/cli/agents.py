"""The family of commands `tunewright agents`: instructions for coding agents in a project."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tunewright.agents.install import install as install_files
from tunewright.cli._errors import answer
from tunewright.cli._options import JsonOption, find_project
from tunewright.messages import Message
from tunewright.present.terminal.screen import say

agents = typer.Typer(
    name="agents",
    help="Write instructions for coding agents (AGENTS.md and a skill) into this project.",
    invoke_without_command=True,
    add_completion=False,
)


@agents.callback()
def begin(context: typer.Context) -> None:
    """Write instructions for coding agents (AGENTS.md and a skill) into this project."""
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


@agents.command()
def install(
    yes: Annotated[bool, typer.Option("--yes", help="Change files that are there.")] = False,
    json: JsonOption = False,
) -> None:
    """Copy AGENTS.md and SKILL.md into this project; a file that is there is changed if you agree.

    An AGENTS.md keeps what it has: ours is a marked part of it.
    """
    project = find_project()
    folder = Path.cwd() if project is None else project.folder
    files = install_files(folder, yes=yes, ask=_ask if sys.stdin.isatty() else None)
    data = {"files": files}

    def page() -> None:
        for file in files:
            facts = {"did": file.did, "path": str(file.path.relative_to(folder))}
            say(str(Message("agents.installed", facts)))

    answer(json, data, page)


def _ask(path: Path) -> bool:
    return typer.confirm(Message("agents.ask", {"path": str(path)}).text, err=True)
