"""The command that writes a recorded round to trackers: sync."""

from __future__ import annotations

from typing import Annotated

import typer

from tunewright.cli._answer import answer
from tunewright.cli._errors import FINE, UNFINISHED
from tunewright.cli._options import JsonOption, RoundName, StoreOption
from tunewright.cli._project import find_project, from_here, store_address
from tunewright.messages import Message
from tunewright.present.terminal.screen import say
from tunewright.sinks import Synced, sync as sync_round


def sync(
    round: RoundName,
    sink: Annotated[
        list[str] | None,
        typer.Option(
            "--sink",
            metavar="TRACKER[:WHERE]",
            help="mlflow, tensorboard, wandb, trackio or swanlab; those of tunewright.toml by "
            "default.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Write a round to trackers, or catch up what they lack; nothing is written twice."""
    store = from_here(store)
    project = find_project()
    named = list(sink or (project.settings["sinks"] if project is not None else ()))
    answers = sync_round(store_address(store), round, named)
    whole = all(one.whole for one in answers)
    answer(json, list(answers), lambda: _show(answers), FINE if whole else UNFINISHED)


def _show(answers: tuple[Synced, ...]) -> None:
    for one in answers:
        facts = {
            "tracker": one.tracker,
            "where": one.where,
            "written": one.written,
            "left": one.left,
            "error": one.error,
            "busy": one.busy,
        }
        say(Message("sink.synced", facts).text)
