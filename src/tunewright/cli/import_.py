"""Commands between tools: import takes over their rounds, sync writes rounds to trackers."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tunewright import importers, stores
from tunewright.cli._errors import FINE, UNFINISHED, answer
from tunewright.cli._options import (
    DEFAULT_STORE,
    JsonOption,
    RoundName,
    StoreOption,
    choose,
    find_project,
    from_here,
    store_address,
)
from tunewright.design.objective import Objective
from tunewright.design.ranges import Range
from tunewright.design.registry import kinds
from tunewright.errors import DesignError, Misuse
from tunewright.importers.build_round import Options
from tunewright.importers.foreign import parse_value
from tunewright.importers.roles import Role
from tunewright.messages import Message, padded, worded, words
from tunewright.present import envelope as facts
from tunewright.present.terminal.round_page import roles, verdict
from tunewright.present.terminal.screen import say
from tunewright.remedies import use
from tunewright.sinks import Synced, sync as sync_round
from tunewright.store.address import mask_words, parse
from tunewright.store.results import Results

_PARTED = ("optuna", "mlflow", "trackio", "table")
Names = list[str] | None


@dataclass(frozen=True)
class SourceRequest:
    """The options of a command line about a source."""

    address: str
    part: str | None  # of it: a study, an experiment, a file of curves
    objective: Objective | None
    metrics: Sequence[str]
    options: Options

    @property
    def named(self) -> Objective:
        """The objective, of a source that does not know its own."""
        if self.objective is None:
            raise Misuse("importers.metric_unknown", remedy=use("--minimize", "valid_error"))
        return self.objective


SOURCES: Mapping[str, Callable[[SourceRequest], Results]] = {
    "optuna": lambda a: importers.optuna(a.address, a.part, objective=a.objective, **a.options),
    "mlflow": lambda a: importers.mlflow(a.address, a.part, objective=a.named, **a.options),
    "wandb": lambda a: importers.wandb(
        a.address, objective=a.named, metrics=a.metrics, **a.options
    ),
    "trackio": lambda a: importers.trackio(a.address, a.part, objective=a.named, **a.options),
    "swanlab": lambda a: importers.swanlab(a.address, objective=a.named, **a.options),
    "tensorboard": lambda a: importers.tensorboard(a.address, objective=a.named, **a.options),
    "ray": lambda a: importers.ray_tune(a.address, objective=a.named, **a.options),
    "table": lambda a: importers.tables(
        a.address, a.part, objective=a.named, metrics=a.metrics, **a.options
    ),
}


def import_(
    source: Annotated[str, typer.Argument(help=f"{', '.join(SOURCES)}.")],
    address: Annotated[
        str, typer.Argument(help="A file or folder; for optuna also the URL of a database.")
    ],
    part: Annotated[
        str | None,
        typer.Argument(
            help="Which Optuna study, MLflow experiment or Trackio project; a table's file of "
            "curves."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What to call the round.", show_default=False)
    ] = None,
    minimize: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="The metric to make small.", show_default=False),
    ] = None,
    maximize: Annotated[
        str | None,
        typer.Option(metavar="METRIC", help="The metric to make large.", show_default=False),
    ] = None,
    last: Annotated[
        bool, typer.Option("--last", help="Judge by the last value, not the best over training.")
    ] = False,
    scientific: Annotated[Names, typer.Option(metavar="NAME", help="Give it this role.")] = None,
    nuisance: Annotated[Names, typer.Option(metavar="NAME", help="Give it this role.")] = None,
    fixed: Annotated[Names, typer.Option(metavar="NAME", help="Give it this role.")] = None,
    leave_out: Annotated[Names, typer.Option(metavar="NAME", help="No hyperparameter.")] = None,
    ranges: Annotated[
        Names, typer.Option("--range", metavar="RANGE", help='"lr = log(1e-5, 1e-1)", if known.')
    ] = None,
    means: Annotated[
        Names, typer.Option(metavar="MEANING=NAME", help='"learning_rate=lr", as in a workload.')
    ] = None,
    metric: Annotated[
        Names, typer.Option(metavar="COLUMN", help="A column of a table that is a metric.")
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="SEARCH",
            help="random, grid: laid out beforehand; anything else: adaptive.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Take over a round that another tool recorded; check, plot and report then work on it."""
    importer = choose(source, SOURCES, "import")
    options: Options = {}
    roles = _roles(scientific=scientific, nuisance=nuisance, fixed=fixed, left_out=leave_out)
    if roles:
        options["roles"] = roles
    if ranges:
        options["ranges"] = dict(parse_range(text) for text in ranges)
    if means:
        options["means"] = dict(_pair(text) for text in means)
    if name is not None:
        options["name"] = name
    if search is not None:
        options["search"] = search
    objective = _objective(minimize, maximize, last)
    if part is not None and source not in _PARTED:
        raise Misuse("importers.second_address", source=source, part=part)
    results = importer(SourceRequest(address, part, objective, metric or (), options))
    where = _store(store)
    kept = stores.keep(where, results, shlex.join(["tunewright", *mask_words(sys.argv[1:])]))
    answer(json, facts.of_round(kept), lambda: _tell(results, parse(where).masked))


import_.__name__ = "import"  # the verb's name, which Python keeps for itself


def _tell(results: Results, store: str) -> None:
    name = words.printable(results.round.name)
    goal = words.printable(str(results.round.goal))
    say(worded("imported", round=name, goal=goal, store=store))
    say(f"{verdict(results)} ({words.objective(str(results.objective))})")
    for role, declared in roles(results.round):
        say(f"{padded(role, 11)} {declared}")
    for note in results.notes:
        say(worded("note", text=words.printable(str(note))), style="yellow")
    say(worded("next", command=f"tunewright check {shlex.quote(name)}"))


def parse_range(text: str) -> tuple[str, Range]:
    """A hyperparameter and its range, as Python writes it.

    >>> parse_range("lr = log(1e-5, 1e-1)"), parse_range("opt=choice(adam, sgd)")[1].values
    (('lr', Log(low=1e-05, high=0.1)), ('adam', 'sgd'))
    """
    match = re.fullmatch(r"\s*(.+?)\s*=\s*(\w+)\s*\(([^()]*)\)\s*", text)
    if match is None or match[2] not in kinds():
        raise Misuse(
            "importers.bad_range_option",
            text=text,
            kinds=list(kinds()),
            remedy=use("--range", "learning_rate = log(1e-5, 1e-1)"),
        )
    name, kind, inside = match.groups()
    values: list[Any] = []
    data: dict[str, Any] = {kind: values}
    for word in inside.split(","):
        key, equals, given = (part.strip() for part in word.partition("="))
        if equals and key in kinds()[kind].keys:
            data[key] = {"true": True, "false": False}.get(given.lower(), parse_value(given))
        else:
            values.append(parse_value(word.strip().strip("'\"")))
    try:
        return name, kinds()[kind].from_data(data)
    except DesignError as error:
        if error.code != "declaration.not_two_bounds":
            raise
        raise Misuse("importers.range_needs_two_ends", text=text, kind=kind) from None


def _pair(text: str) -> tuple[str, Any]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key or not value:
        raise Misuse(
            "importers.bad_means_option", text=text, remedy=use("--means", "learning_rate=lr")
        )
    number = parse_value(value)
    return key, number if isinstance(number, int | float) else value


def _roles(**named: Names) -> dict[str, Role]:
    roles: dict[str, Role] = {}
    for role, names in named.items():
        for name in names or ():
            if roles.setdefault(name, role) != role:  # type: ignore[arg-type]
                raise Misuse("importers.role_given_twice", name=name, first=roles[name], role=role)
    return roles


def _objective(minimize: str | None, maximize: str | None, last: bool) -> Objective | None:
    if minimize is not None and maximize is not None:
        raise Misuse("option.no_metric")
    metric = minimize if minimize is not None else maximize
    if metric is None:
        return None
    return Objective(metric, minimize is not None, "last" if last else "best")


def _store(instead: str | None) -> str:
    """The project's store, or one made here; a broken address is refused before any reading."""
    project = find_project()
    address = instead or (project.store() if project is not None else DEFAULT_STORE)
    if parse(address).path is not None and Path(address).is_dir():
        raise DesignError("option.store_is_folder", address=address)
    return address


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
    whole = all(answer_of.whole for answer_of in answers)
    answer(json, list(answers), lambda: _show(answers), FINE if whole else UNFINISHED)


def _show(answers: tuple[Synced, ...]) -> None:
    for synced in answers:
        facts = {
            "tracker": synced.tracker,
            "where": synced.where,
            "written": synced.written,
            "left": synced.left,
            "error": synced.error,
            "busy": synced.busy,
        }
        say(Message("sink.synced", facts).text)
