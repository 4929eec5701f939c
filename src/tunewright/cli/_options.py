"""Options that several commands share: project, objective, search, and where trials train."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Annotated, Any, TypeVar

import typer
from rich.text import Text

from tunewright.actions import RunTrials
from tunewright.costs.rounds import results_in_store
from tunewright.design.objective import PLACES, Objective
from tunewright.design.round import Round
from tunewright.errors import Misuse
from tunewright.execution.executors import devices
from tunewright.execution.executors.executor import Executor
from tunewright.execution.executors.inline import Inline
from tunewright.execution.executors.local import Local
from tunewright.execution.executors.packed import Packed
from tunewright.execution.executors.ray.ray import Ray
from tunewright.execution.executors.slurm.slurm import Slurm
from tunewright.execution.join import search_of
from tunewright.execution.run import load
from tunewright.messages import Message, worded, words
from tunewright.present.terminal.screen import sidelines
from tunewright.project._project import (
    DEFAULT_STORE as DEFAULT_STORE,
    FILE as FILE,
    ROUNDS as ROUNDS,
    Project as Project,
    anchor as anchor,
    find as find_project,
    load as need_project,
    plain_name as plain_name,
    store_address as store_address,
)
from tunewright.remedies import use
from tunewright.search.auto import pick
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.halton import Halton
from tunewright.search.search import Search
from tunewright.store.results import Results
from tunewright.store.store import Store

__all__ = ["find_project", "need_project"]
Choice = TypeVar("Choice")
_SUFFIX = ".toml"  # of a round's file


def _unset(flag: str, metavar: str, help: str, **more: Any) -> Any:
    """An option that has no default to show."""
    return typer.Option(flag, metavar=metavar, help=help, show_default=False, **more)


StoreOption = Annotated[
    str | None,
    _unset(
        "--store",
        "STORE",
        "A file or a postgresql:// address, in place of the one tunewright.toml names.",
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print JSON at full precision; NaN and infinities become null."),
]
WorkersOption = Annotated[
    int | None,
    _unset(
        "--workers",
        "N",
        "Trials at a time; by default one per device, or as the cores allow.",
        min=1,
    ),
]
SinkOption = Annotated[
    list[str] | None,
    _unset(
        "--sink",
        "TRACKER[:WHERE]",
        "Copy every trial to mlflow, tensorboard, wandb, trackio or swanlab; may be repeated.",
    ),
]
HoursOption = Annotated[
    float | None,
    _unset(
        "--max-hours",
        "H",
        "Begin no trial after this many hours; the running ones finish.",
        min=0.0,
    ),
]
MinimizeOption = Annotated[
    str | None,
    _unset(
        "--minimize",
        "METRIC",
        "Judge the recorded trials anew: this logged metric, made small.",
    ),
]
MaximizeOption = Annotated[
    str | None,
    _unset(
        "--maximize",
        "METRIC",
        "Judge the recorded trials anew: this logged metric, made large.",
    ),
]
AtOption = Annotated[
    str | None,
    _unset(
        "--at",
        "WHEN",
        f"Judge by the best value over training, or by the last one: {' or '.join(PLACES)}.",
    ),
]
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
    _unset(
        "--ray-address",
        "HOST:PORT",
        "The Ray cluster; by default RAY_ADDRESS, this machine's, or a new one.",
    ),
]
ResourcesOption = Annotated[
    str | None,
    _unset(
        "--resources",
        "CPU=4,GPU=0.5",
        "What one trial takes of the Ray cluster; one CPU by default.",
    ),
]
SlurmOption = Annotated[
    list[str] | None,
    _unset(
        "--slurm",
        "NAME=VALUE",
        "For --on slurm: partition, time, gpus, cpus, account, or line='#SBATCH ...'; repeat.",
    ),
]
_SLURM = {
    "partition": "partition",
    "time": "time_limit",
    "account": "account",
    "gpus": "gpus",
    "cpus": "cpus",
}
PackOption = Annotated[
    str | None,
    _unset(
        "--pack",
        "N|auto",
        "Train so many trials at once on each GPU, in one process.",
    ),
]
_AUTO = "auto"
_SEARCHES: Mapping[str, Callable[[], Search]] = {"halton": Halton, "bayesian": Bayesian}
SearchOption = Annotated[
    str | None,
    typer.Option(
        metavar="SEARCH",
        help="Which configurations: halton (quasi-random, the default), bayesian (a model of the "
        "trials so far; for a round without scientific hyperparameters), or auto (whichever suits "
        "the budget and the workers, with the reason).",
        show_default=False,
    ),
]


def round_named(given: str | None) -> str | None:
    """The round that an argument means: its name, or its file as a shell completes it.

    >>> round_named("rounds/depth.toml"), round_named("depth.toml"), round_named("depth")
    ('depth', 'depth', 'depth')
    """
    is_file = given is not None and given.endswith(_SUFFIX) and given != _SUFFIX
    return PurePath(given).stem if given is not None and is_file else given


RoundName = Annotated[
    str,
    typer.Argument(
        metavar="ROUND", callback=round_named, help="The round's name, or its file in rounds/."
    ),
]


def choose(name: str, known: Mapping[str, Choice], option: str) -> Choice:
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


def with_objective_options(
    results: Results,
    minimize: str | None,
    maximize: str | None,
    at: str | None,
    aloud: bool = True,
) -> Results:
    """The same trials under the objective asked for, with a note of it; else as recorded.

    What is not asked for stays as the round has it, its constraints too. `aloud`: the note is
    printed, on the side, for pages that do not show notes.
    """
    objective = _objective_asked(results, minimize, maximize, at)
    if objective == results.objective:
        return results
    facts = {"now": str(objective), "before": str(results.objective)}
    note = Message("note.judged_by", facts)
    if aloud:
        sidelines().print(Text(worded("note", text=words.printable(note.text))), soft_wrap=True)
    return replace(results.with_objective(objective), notes=(*results.notes, note))


def _objective_asked(
    results: Results, minimize: str | None, maximize: str | None, at: str | None
) -> Objective:
    """The objective of these options; refuses a metric that no trial has logged."""
    if minimize is not None and maximize is not None:
        raise Misuse(
            "objective.two_directions",
            minimize=minimize,
            maximize=maximize,
            remedy=use("--minimize", minimize),
        )
    objective = results.objective
    if at is not None:
        objective = replace(objective, at=choose(at, {place: place for place in PLACES}, "--at"))
    metric = minimize if minimize is not None else maximize
    if metric is None:
        return objective
    option = "--minimize" if minimize is not None else "--maximize"
    if metric not in results.metrics:
        raise _never_logged(results, option, metric)
    return replace(objective, metric=metric, minimize=minimize is not None)


def nearest_first(name: str, known: tuple[str, ...]) -> list[str]:
    """The known names, those most like this one first.

    >>> nearest_first("valid_eror", ("train_loss", "valid_loss", "valid_error"))
    ['valid_error', 'valid_loss', 'train_loss']
    """

    def unlike(other: str) -> float:
        return -difflib.SequenceMatcher(None, name.lower(), other.lower()).ratio()

    return sorted(known, key=unlike)


def _never_logged(results: Results, option: str, metric: str) -> Misuse:
    round = results.round.name
    if not results.metrics:
        return Misuse(
            "objective.nothing_logged",
            option=option,
            metric=metric,
            round=round,
            remedy=RunTrials(round),
        )
    nearest = nearest_first(metric, results.metrics)
    return Misuse(
        "objective.not_logged",
        option=option,
        metric=metric,
        round=round,
        cause=Message("objective.logged_were", {"metrics": list(nearest)}),
        remedy=use(option, nearest[0]),
    )


def open_store(instead: str | None) -> Store:
    """The store to read; it must be there already."""
    return Store.open(store_address(instead), create=False)


def read_round(round: str, store: str | None, *, earlier: bool = True) -> Results:
    """The round's results; with those trials of the rounds it continues that fit it."""
    return load(store_address(store), round, earlier=earlier)


def from_here(store: str | None) -> str | None:
    """A store named on the command line, which is relative to the working folder."""
    return None if store is None else anchor(store, Path.cwd())


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
        "slurm": lambda: _on_slurm(workers, slurm or []),
        "inline": Inline,
    }
    return choose(on, kinds, "--on")()


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
    return Packed(None if pack == "auto" else int(pack), device=devices.visible_devices() or 0)


def _on_slurm(workers: int | None, given: list[str]) -> Slurm:
    """The Slurm executor of `--slurm NAME=VALUE` options.

    >>> _on_slurm(4, ["partition=gpu", "gpus=1", "line=module load cuda"]).lines
    ('module load cuda',)
    """
    settings: dict[str, Any] = {} if workers is None else {"workers": workers}
    lines = []
    for part in given:
        name, _, value = part.partition("=")
        if name == "line" and value:
            lines.append(value)
        elif name in _SLURM and value and (name not in ("gpus", "cpus") or value.isdigit()):
            settings[_SLURM[name]] = int(value) if name in ("gpus", "cpus") else value
        else:
            known = [*_SLURM, "line"]
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
    by_name = {}
    for part in text.split(","):
        name, divider, amount = part.strip().partition("=")
        try:
            by_name[name.strip()] = float(amount)
        except ValueError:
            divider = ""
        if not divider or not name.strip():
            raise Misuse(
                "option.bad_resource",
                text=text,
                part=part.strip(),
                remedy=use("--resources", "CPU=4,GPU=0.5"),
            )
    return by_name


def search_for(
    named: tuple[str | None, str | None], round: Round, workers: int, store: str
) -> Search:
    """The search named by the option, or by a file; a round that has begun continues with its own.

    Only the option changes the search of a round that has begun, and is then refused.
    """
    named_search, of_file = named
    if named_search in (None, _AUTO):
        before = results_in_store(store, round.name)
        if before is not None and before.search in _SEARCHES:
            return search_of(before)
    named_search = named_search or of_file
    if named_search == _AUTO:
        picked = pick(round, workers)
        sidelines().print(picked.reason, soft_wrap=True)
        return picked.search
    names = {**_SEARCHES, _AUTO: Halton}
    return choose(named_search or "halton", names, "--search")()
