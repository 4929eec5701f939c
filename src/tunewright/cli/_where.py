"""Where trials train: --on local, inline, ray or slurm, and what goes with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from tunewright.cli._options import chosen
from tunewright.errors import Misuse
from tunewright.execution.executors import devices
from tunewright.execution.executors.executor import Executor
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.execution.executors.packed import Packed
from tunewright.execution.executors.ray.ray import Ray
from tunewright.execution.executors.slurm.slurm import Slurm
from tunewright.remedies import use

OnOption = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="EXECUTOR",
        help="Where: local, ray or slurm (clusters), or inline (in this process).",
    ),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--ray-address",
        metavar="HOST:PORT",
        help="The Ray cluster; by default RAY_ADDRESS, this machine's, or a new one.",
        show_default=False,
    ),
]
ResourcesOption = Annotated[
    str | None,
    typer.Option(
        "--resources",
        metavar="CPU=4,GPU=0.5",
        help="What one trial takes of the Ray cluster; one CPU by default.",
        show_default=False,
    ),
]


SlurmOption = Annotated[
    list[str] | None,
    typer.Option(
        "--slurm",
        metavar="NAME=VALUE",
        help="For --on slurm: partition, time, gpus, cpus, account, or line='#SBATCH ...'; repeat.",
        show_default=False,
    ),
]
SLURM = {
    "partition": "partition",
    "time": "time_limit",
    "account": "account",
    "gpus": "gpus",
    "cpus": "cpus",
}
PackOption = Annotated[
    str | None,
    typer.Option(
        "--pack",
        metavar="N|auto",
        help="Train so many trials at once on each GPU, in one process.",
        show_default=False,
    ),
]


def executor(
    on: str,
    workers: int | None,
    address: str | None = None,
    resources: str | None = None,
    slurm: list[str] | None = None,
    pack: str | None = None,
) -> Executor:
    """Who trains, as the options say."""
    if pack is not None:
        if slurm:
            raise Misuse("option.not_with_pack", option="--slurm")
        return packed(pack, on, workers)
    if slurm and on != "slurm":
        raise Misuse("option.only_for_slurm", remedy=use("--slurm", slurm[0], "--on", "slurm"))
    for option, given in (("--ray-address", address), ("--resources", resources)):
        if given is not None and on != "ray":
            raise Misuse(
                "option.only_for_ray", option=option, remedy=use(option, str(given), "--on", "ray")
            )
    kinds: dict[str, Callable[[], Executor]] = {
        "local": lambda: Local(workers=workers),
        "ray": lambda: Ray(address, amounts(resources), workers=workers),
        "slurm": lambda: on_slurm(workers, slurm or []),
        "inline": Inline,
    }
    return chosen(on, kinds, "--on")()


def packed(pack: str, on: str, workers: int | None) -> Packed:
    """The executor of --pack, on every GPU that there is.

    >>> packed("4", "local", None).trials
    4
    """
    if on != "local" or workers is not None:
        other = "--on" if on != "local" else "--workers"
        raise Misuse("option.not_with_pack", option=other)
    if pack != "auto" and not pack.isdecimal():
        raise Misuse("option.bad_pack", pack=pack)
    return Packed(None if pack == "auto" else int(pack), device=devices.found() or 0)


def on_slurm(workers: int | None, given: list[str]) -> Slurm:
    """The Slurm executor of `--slurm NAME=VALUE` options.

    >>> on_slurm(4, ["partition=gpu", "gpus=1", "line=module load cuda"]).lines
    ('module load cuda',)
    """
    settings: dict[str, Any] = {} if workers is None else {"workers": workers}
    lines = []
    for part in given:
        name, _, value = part.partition("=")
        if name == "line" and value:
            lines.append(value)
        elif name in SLURM and value and (name not in ("gpus", "cpus") or value.isdigit()):
            settings[SLURM[name]] = int(value) if name in ("gpus", "cpus") else value
        else:
            known = [*SLURM, "line"]
            remedy = use("--slurm", "partition=gpu")
            raise Misuse("option.bad_slurm", part=part, known=known, remedy=remedy)
    return Slurm(lines=tuple(lines), **settings)


def amounts(text: str | None) -> dict[str, float] | None:
    """Resources as they are written on the command line.

    >>> amounts("CPU=4,GPU=0.5")
    {'CPU': 4.0, 'GPU': 0.5}
    """
    if text is None:
        return None
    found = {}
    for part in text.split(","):
        name, divider, amount = part.strip().partition("=")
        try:
            found[name.strip()] = float(amount)
        except ValueError:
            divider = ""
        if not divider or not name.strip():
            raise Misuse(
                "option.bad_resource",
                text=text,
                part=part.strip(),
                remedy=use("--resources", "CPU=4,GPU=0.5"),
            )
    return found
