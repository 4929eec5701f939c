"""Configurations of one's own: a file that lists them, and the round that runs exactly these."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from tunewright.actions import Advise
from tunewright.design.ranges import Value
from tunewright.design.round import Round
from tunewright.design.toml_file import read_toml, unknown_key
from tunewright.errors import Damaged, DesignError, Misuse, TunewrightError
from tunewright.execution.join import LISTED, recorded_list
from tunewright.importers.files import csv_columns, text_in
from tunewright.messages import Message
from tunewright.present.terminal.plan_page import recorded
from tunewright.present.terminal.screen import sidelines
from tunewright.remedies import use
from tunewright.search.listed import Listed
from tunewright.store import plain_json

TABLE = "configuration"  # [[configuration]] in a TOML file
LARGEST = 16 * 2**20  # bytes: far more than anybody trains
ENDINGS = (".json", ".csv", ".toml")
ListedOption = Annotated[
    Path | None,
    typer.Option(
        "--listed",
        metavar="FILE",
        help="Train these configurations, in their order: a .json list, a .csv file with a column "
        "per hyperparameter, or [\\[configuration]] tables in a .toml file. One that names no "
        "scientific value is for every study; what the round fixes may be left out.",
        show_default=False,
    ),
]


def list_for(
    file: Path | None, search: str | None, round: Round, store: str, counted: bool
) -> tuple[Round, Listed] | None:
    """The round and the list to run it with; None if no list is asked for or was begun with.

    Unless the trials were `counted` on the command line, the round has as many as are listed, so
    that none is left out unsaid. A round that began with a list continues without its file: the
    store has it. Refuses what does not fit before anything is trained.
    """
    if file is not None and search is not None:
        raise Misuse("listed.file_and_search", file=file, search=search, remedy=Advise("give_one"))
    if file is not None:
        found, where = read_list(file), str(file)
    elif search is None and (before := recorded(store, round.name)) and before.search == LISTED:
        found, where = recorded_list(before, round), "the list this round began with"
    else:
        return None
    own = [len(found.own(study)) for study in round.studies]
    trials = round.trials_per_study if counted else max(1, *own)
    asked = replace(round, trials_per_study=trials)
    try:
        found.check(asked.studies)
    except DesignError as error:
        fewer = Advise("list_more", {"words": ["--trials", str(min(own))]})
        remedy = fewer if 0 < min(own) < trials else None
        raise Misuse.several(_found_in(where, error), remedy) from None
    if trials != round.trials_per_study:
        note = f"{trials} per study, as listed, in place of {round.trials_per_study}"
        sidelines().print(Text(f"trials: {note}"), soft_wrap=True)
    return asked, found


def read_list(path: Path) -> Listed:
    """The configurations of a file, in its order."""
    if not path.is_file():
        beside = [p.name for p in sorted(path.parent.glob("*")) if p.suffix in ENDINGS]
        near = difflib.get_close_matches(path.name, beside, n=1)
        raise Misuse(
            "listed.no_such_file",
            path=path,
            remedy=use("--listed", str(path.with_name(near[0]))) if near else None,
        )
    try:
        rows = _rows(path)
        return Listed(rows)
    except (Damaged, DesignError) as error:
        raise Misuse.several(_found_in(str(path), error)) from None


def _found_in(source: str, error: TunewrightError) -> list[Message]:
    """The problems of a list, as those of the file that it is from."""
    return [replace(one, facts={**one.facts, "source": source}) for one in error.problems]


def _rows(path: Path) -> list[Mapping[str, Value]]:
    ending = path.suffix.lower()
    if ending == ".json":
        rows = plain_json.loads(text_in(path, LARGEST), str(path))
        if not isinstance(rows, list):
            raise DesignError("listed.not_a_list", path=path)
        return rows
    if ending == ".csv":
        columns = csv_columns(path)
        return [
            {name: _value(cell) for name, cell in zip(columns, cells, strict=True) if cell.strip()}
            for cells in zip(*columns.values(), strict=True)
        ]
    if ending == ".toml":
        tables = read_toml(path)
        for key in tables:
            if key != TABLE:
                unknown = unknown_key(key, (TABLE,), "file").to_data()
                raise DesignError("file.problem", path=str(path), problem=unknown)
        rows = tables.get(TABLE, [])
        if not isinstance(rows, list):
            raise DesignError("listed.single_brackets", path=path, table=TABLE)
        return [_plain(row) for row in rows]
    raise DesignError("listed.bad_ending", path=path, endings=list(ENDINGS))


def _plain(row: Any) -> Any:
    """None as files write it, `{ none = true }`, as Python has it."""
    if not isinstance(row, Mapping):
        return row  # refused by Listed, with its place
    return {name: None if value == {"none": True} else value for name, value in row.items()}


def _value(cell: str) -> Value:
    """The value of a cell of text.

    >>> [_value(cell) for cell in ("128", "1e-3", "true", "adam", "nan")]
    [128, 0.001, True, 'adam', 'nan']
    """
    text = cell.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    return text
