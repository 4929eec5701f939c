"""Opening files of other tools: within limits, read-only, never outside the folder that was named.

Whatever goes wrong in them ends in `Unreadable`, with the file and what was expected of it.
"""

from __future__ import annotations

import csv
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tunewright.errors import Damaged, NotFound, TunewrightError, Unreadable, need
from tunewright.store import plain_json
from tunewright.store.plain_json import storable

LARGEST = plain_json.LARGEST_FILE
MOST_FILES = 200_000  # looked at below one folder
MOST_COLUMNS = 5_000  # of a table
MOST_CELLS = 20_000_000  # of a table: rows times columns


@contextmanager
def reading(path: object, expected: str) -> Iterator[None]:
    """Turn whatever a foreign file makes its reader raise into `Unreadable`."""
    try:
        yield
    except Unreadable:
        raise
    except Damaged as error:  # of a foreign file: nothing of ours is to be restored
        raise Unreadable.several(error.problems) from error
    except TunewrightError:
        raise
    except Exception as error:  # a hostile file may raise anything in any library
        cause = storable(f"{type(error).__name__}: {error}".splitlines()[0], longest=300)
        raise Unreadable(
            "importers.unreadable_file",
            path=str(path),
            reason=cause,
            expected=expected,
            cause=type(error).__name__,
        ) from error


@contextmanager
def read_only_database(path: Path) -> Iterator[sqlite3.Connection]:
    """A SQLite file that is not written to, nor anything beside it where that can be helped."""
    log = Path(f"{path}-wal")
    # a log that was not merged is part of the data; without one nothing else is looked at
    mode = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)) as database:
        yield database


def existing(path: str | os.PathLike[str], what: str) -> Path:
    """The path, if something is there."""
    found = Path(path).expanduser()
    if not found.exists():
        raise NotFound("importers.no_file", what=what, path=found)
    return found


def files_below(folder: Path) -> Iterator[Path]:
    """Every plain file below a folder, in order; links are not followed out of it."""
    seen = 0
    for parent, folders, files in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted(files):
            path = Path(parent, name)
            seen += 1
            if seen > MOST_FILES:
                raise NotFound("importers.too_many_files", folder=folder, most=MOST_FILES)
            if path.is_file() and not path.is_symlink():
                yield path


def text_in(path: Path, largest: int = LARGEST) -> str:
    """A file's text; bytes that are no UTF-8 are shown as escapes."""
    size = path.stat().st_size
    if size > largest:
        raise Unreadable("importers.file_too_large", path=path, size=size, largest=largest)
    return path.read_text(encoding="utf-8-sig", errors="backslashreplace")


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file with one JSON object a line; a torn last line is passed over."""
    lines = text_in(path).splitlines()
    for place, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            if place == len(lines) - 1:  # the program was killed while it wrote
                return
            raise Unreadable(
                "importers.line_not_json", path=path, line=place + 1, error=error
            ) from None
        if isinstance(found, dict):
            yield found


def csv_columns(path: Path) -> dict[str, list[str]]:
    """The columns of a CSV file, every cell as text."""
    try:
        rows = list(csv.reader(text_in(path).splitlines(keepends=True)))
    except csv.Error as error:
        raise Unreadable("importers.not_csv", path=path, error=error) from None
    if not rows:
        raise Unreadable("importers.empty_file", path=path)
    _refuse_size(path, len(rows) - 1, len(rows[0]))
    head = [_unquoted(name) for name in rows[0]]
    doubled = doubled_in(head)
    if doubled:
        raise Unreadable(
            "importers.doubled_csv_columns", path=path, doubled=", ".join(map(repr, doubled))
        )
    for line, row in enumerate(rows[1:], start=2):
        if row and len(row) != len(head):
            raise Unreadable(
                "importers.csv_row_length", path=path, line=line, cells=len(row), columns=len(head)
            )
    cells = [row for row in rows[1:] if row]
    return {name: [_unquoted(row[place]) for row in cells] for place, name in enumerate(head)}


def table_columns(path: Path) -> dict[str, list[Any]]:
    """The columns of a .csv, .parquet, .json or .jsonl file."""
    ending = path.suffix.lower()
    if ending == ".csv":
        return dict(csv_columns(path))
    if ending == ".parquet":
        polars = need("polars", extra="frames", purpose="reading a Parquet file")
        return _parquet_columns(path, polars)
    if ending == ".jsonl":
        rows: Any = list(json_lines(path))
    elif ending == ".json":
        rows = plain_json.loads(text_in(path), str(path), LARGEST)
    else:
        raise NotFound("importers.bad_table_ending", path=path)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Unreadable("importers.not_rows", path=path)
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    _refuse_size(path, len(rows), len(names))
    return {name: [row.get(name) for row in rows] for name in names}


def _parquet_columns(path: Path, polars: Any) -> dict[str, list[Any]]:
    """The columns of a Parquet file, whose size is known before it is read."""
    try:
        lazy = polars.scan_parquet(path)
        rows = lazy.select(polars.len()).collect().item()  # of the metadata alone
        _refuse_size(path, rows, len(lazy.collect_schema()))
        frame = lazy.collect()
        texts = [c for c in frame.get_columns() if c.dtype in (polars.String, polars.Binary)]
        # equal texts are stored once, and are many objects here
        size = sum(int(c.cast(polars.Binary).bin.size().sum()) for c in texts)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
        # a panic is no Exception, so that no other handler would see it
        raise Unreadable("importers.not_parquet", error=error, path=str(path)) from None
    if size > LARGEST:
        raise Unreadable("importers.text_too_large", path=path, size=size, largest=LARGEST)
    return {column.name: column.to_list() for column in frame.get_columns()}


def _refuse_size(path: Path, rows: int, columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise Unreadable(
            "importers.too_many_columns",
            most_columns=MOST_COLUMNS,
            path=str(path),
            columns=columns,
        )
    if rows * columns > MOST_CELLS:
        raise Unreadable(
            "importers.too_many_cells",
            most_cells=MOST_CELLS,
            path=str(path),
            rows=rows,
            columns=columns,
        )


def doubled_in(names: Sequence[str]) -> list[str]:
    """The names that stand there more than once."""
    return sorted(name for name, times in Counter(names).items() if times > 1)


def _unquoted(cell: str) -> str:
    """A cell without the mark that keeps spreadsheets from running it."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@", "\t", "\r") else cell
