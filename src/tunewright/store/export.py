"""Results in a file for other programs: CSV, Parquet or JSON."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tunewright.errors import DesignError, StoreError
from tunewright.store.plain_json import finite
from tunewright.store.tables import Table, columns_of, polars_frame

if TYPE_CHECKING:
    from tunewright.store.results import Results

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what makes a spreadsheet run a cell


def write_export(results: Results, path: Path, table: Table) -> Path:
    """Write the table to a file whose ending names the format; the old file is replaced whole."""
    ending = path.suffix.lower()
    if ending not in (".csv", ".parquet", ".json"):
        raise DesignError("export.bad_ending", path=path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if ending == ".parquet":
            polars_frame(results, table).write_parquet(unfinished)
        elif ending == ".csv":
            _write_csv(columns_of(results, table), unfinished)
        else:
            _write_json(columns_of(results, table), unfinished)
        os.replace(unfinished, path)
    except OSError as error:
        raise StoreError("file.not_written", path=path, reason=error.strerror or error) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def quoted(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: text that looks like one gets a quote mark.

    >>> quoted("=HYPERLINK(...)"), quoted(-0.5), quoted("-0.5"), quoted("adam")
    ("'=HYPERLINK(...)", -0.5, '-0.5', 'adam')
    """
    if not isinstance(value, str) or not value.startswith(FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return "'" + value
    return value


def _write_csv(columns: dict[str, list[Any]], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        writer = csv.writer(file)
        writer.writerow([quoted(name) for name in columns])
        for row in zip(*columns.values(), strict=True):
            writer.writerow([quoted(value) for value in row])


def _write_json(columns: dict[str, list[Any]], path: Path) -> None:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text(json.dumps(finite(rows), indent=1, allow_nan=False), encoding="utf-8")
