"""Options and arguments that several commands share."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import PurePath
from typing import Annotated, TypeVar

import typer

from tunewright.errors import Misuse
from tunewright.remedies import use

Chosen = TypeVar("Chosen")
SUFFIX = ".toml"  # of a round's file


def round_named(given: str | None) -> str | None:
    """The round that an argument means: its name, or its file as a shell completes it.

    >>> round_named("rounds/depth.toml"), round_named("depth.toml"), round_named("depth")
    ('depth', 'depth', 'depth')
    """
    is_file = given is not None and given.endswith(SUFFIX) and given != SUFFIX
    return PurePath(given).stem if given is not None and is_file else given


RoundName = Annotated[
    str,
    typer.Argument(
        metavar="ROUND", callback=round_named, help="The round's name, or its file in rounds/."
    ),
]
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
    bool,
    typer.Option("--json", help="Print JSON at full precision; NaN and infinities become null."),
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
SinkOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sink",
        metavar="TRACKER[:WHERE]",
        help="Copy every trial to mlflow, tensorboard, wandb, trackio or swanlab; may be repeated.",
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


def chosen(name: str, known: Mapping[str, Chosen], option: str) -> Chosen:
    """What a name on the command line means; the nearest one is offered for a misspelling."""
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    raise Misuse(
        "option.not_one_of",
        option=option,
        name=name,
        known=list(known),
        remedy=use(option, near[0]) if near else None,
    )
