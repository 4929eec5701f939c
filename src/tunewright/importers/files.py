"""Opening other people's files: within limits, and never outside the folder that was named."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tunewright.errors import NotFound, Unreadable, need
from tunewright.store import plain_json

LARGEST = plain_json.LARGEST_FILE
MOST_FILES = 200_000  # looked at below one folder


def existing(path: str | os.PathLike[str], what: str) -> Path:
    """The path, if something is there."""
    found = Path(path).expanduser()
    if not found.exists():
        raise NotFound(f"no {what} at {found}.")
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
                raise NotFound(f"{folder} holds over {MOST_FILES:,} files; name a folder below it.")
            if path.is_file() and not path.is_symlink():
                yield path


def text_in(path: Path, largest: int = LARGEST) -> str:
    """A file's text; bytes that are no UTF-8 are shown as escapes."""
    size = path.stat().st_size
    if size > largest:
        raise Unreadable(f"{path}: {size:,} bytes, more than the {largest:,} allowed.")
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
            raise Unreadable(f"{path}: line {place + 1} is not JSON ({error}).") from None
        if isinstance(found, dict):
            yield found


def csv_columns(path: Path) -> dict[str, list[str]]:
    """The columns of a CSV file, every cell as text."""
    try:
        rows = list(csv.reader(text_in(path).splitlines(keepends=True)))
    except csv.Error as error:
        raise Unreadable(f"{path}: not a CSV file ({error}).") from None
    if not rows:
        raise Unreadable(f"{path}: an empty file.")
    head = [_unquoted(name) for name in rows[0]]
    doubled = sorted({name for name in head if head.count(name) > 1})
    if doubled:
        raise Unreadable(f"{path}: several columns are called {', '.join(map(repr, doubled))}.")
    for line, row in enumerate(rows[1:], start=2):
        if row and len(row) != len(head):
            raise Unreadable(f"{path}: line {line} has {len(row)} cells, not {len(head)}.")
    cells = [row for row in rows[1:] if row]
    return {name: [_unquoted(row[place]) for row in cells] for place, name in enumerate(head)}


def table_columns(path: Path) -> dict[str, list[Any]]:
    """The columns of a .csv, .parquet, .json or .jsonl file."""
    ending = path.suffix.lower()
    if ending == ".csv":
        return dict(csv_columns(path))
    if ending == ".parquet":
        polars = need("polars", extra="frames", purpose="reading a Parquet file")
        try:
            frame = polars.read_parquet(path)
        except (polars.exceptions.PolarsError, OSError) as error:
            raise Unreadable(f"{path}: not a Parquet file ({error}).") from None
        return {column.name: column.to_list() for column in frame.get_columns()}
    if ending == ".jsonl":
        rows: Any = list(json_lines(path))
    elif ending == ".json":
        rows = plain_json.loads(text_in(path), str(path), LARGEST)
    else:
        raise NotFound(f"{path}: tables end in .csv, .parquet, .json or .jsonl.")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Unreadable(f"{path}: not a list of rows, one JSON object each.")
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def _unquoted(cell: str) -> str:
    """A cell without the mark that keeps spreadsheets from running it."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@", "\t", "\r") else cell
