"""The command diagnose: what the curves of any run show. It never trains anything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli._errors import FINE, WARNED, answer
from tunewright.cli._options import JsonOption
from tunewright.diagnosis.diagnose import diagnose as diagnosed
from tunewright.present.terminal.diagnosis_page import print_diagnosis
from tunewright.present.terminal.screen import screen


def diagnose(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="TensorBoard folder, W&B or SwanLab runs, MLflow or Trackio store, or a table.",
        ),
    ],
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="NAME", help="One run of it.", show_default=False),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="The training loss.", show_default=False),
    ] = None,
    valid: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="The validation metric.", show_default=False),
    ] = None,
    maximize: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC", help="Larger is better; may be repeated."),
    ] = None,
    chance: Annotated[
        float | None,
        typer.Option(metavar="VALUE", help="What a guess would give.", show_default=False),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show what is fine or cannot be judged too.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Ask the curves of any run what is wrong, with error rates. Exits with 1 on a warning."""
    given = {"train": train, "valid": valid}
    diagnosis = diagnosed(
        path,
        run=run,
        roles={role: name for role, name in given.items() if name is not None},
        maximize=maximize or (),
        chance=chance,
    )
    answer(
        json,
        diagnosis,
        lambda: print_diagnosis(diagnosis, screen(), everything),
        WARNED if diagnosis.verdict == "warn" else FINE,
    )
