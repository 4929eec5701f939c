"""Options and arguments that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

RoundName = Annotated[str, typer.Argument(metavar="ROUND", help="The round's name.")]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="STORE",
        help="A file or a postgresql:// address, in place of the one tunewright.toml names.",
        show_default=False,
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON: every digit, null for what is no number.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        metavar="N",
        help="Trials at a time; by default one per device, or as the cores allow.",
        show_default=False,
    ),
]
HoursOption = Annotated[
    float | None,
    typer.Option(
        "--max-hours",
        min=0.0,
        metavar="H",
        help="Begin no trial after this many hours; the running ones finish.",
        show_default=False,
    ),
]
