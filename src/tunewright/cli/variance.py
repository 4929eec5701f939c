"""The command that shows how far chance moves a round's best value: variance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tunewright.cli import _where as where
from tunewright.cli._errors import FINE, INTERRUPTED
from tunewright.cli._options import JsonOption, RoundName, StoreOption, WorkersOption
from tunewright.cli._project import anchored, need_project, store_address
from tunewright.execution.run import load
from tunewright.launches.variance import variance as variance_of
from tunewright.present.terminal.launch_page import print_variances
from tunewright.present.terminal.screen import screen, show_json
from tunewright.progress.choose import on_screen


def variance(
    round: RoundName,
    times: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Train the best again until it has N repeats.",
            show_default=False,
        ),
    ] = None,
    studies: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Run the whole search again, with other points, until there are N of it.",
            show_default=False,
        ),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(
            min=3, metavar="N", help="Train the best on each of N data splits.", show_default=False
        ),
    ] = None,
    workers: WorkersOption = None,
    on: where.OnOption = "local",
    ray_address: where.AddressOption = None,
    resources: where.ResourcesOption = None,
    slurm: where.SlurmOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show trial, study and data variance of a round together; runs nothing unless asked to.

    How far would the best value move with other seeds, another search, other data? `--times`,
    `--studies` and `--splits` train what it takes to know.
    """
    if times or studies or splits:
        project = need_project()
        address = project.store(None if store is None else anchored(store, Path.cwd()))
        with project.entered():
            found = variance_of(
                load(address, round, earlier=False),
                project.workload(
                    address, where.executor(on, workers, ray_address, resources, slurm), round
                ),
                times=times,
                studies=studies,
                splits=splits,
                progress=on_screen(),
            )
    else:
        address = store_address(store)
        found = variance_of(load(address, round, earlier=False), store=address)
    if json:
        show_json(found.to_data())
    else:
        print_variances(found, screen())
    raise typer.Exit(INTERRUPTED if found.interrupted else FINE)
