"""Files and tables of other tools: opened within limits, cells read, problems reported once.

Whatever goes wrong in them ends in `Unreadable`, with the file and what was expected of it.

Tables lose types: a column of several kinds becomes text, one with gaps becomes fractions, and a
CSV file has text alone. The declaration knows what was meant.
"""

from __future__ import annotations

import csv
import difflib
import json
import math
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from tunewright.design.ranges import Range, Value, as_plain, same_value
from tunewright.errors import Damaged, DesignError, NotFound, TunewrightError, Unreadable, need
from tunewright.importers.foreign import number_or_none
from tunewright.messages import Message
from tunewright.store import plain_json
from tunewright.store.plain_json import storable

LARGEST = plain_json.LARGEST_FILE
_MOST_FILES = 200_000  # looked at below one folder
MOST_COLUMNS = 5_000  # of a table
MOST_CELLS = 20_000_000  # of a table: rows times columns
Columns = Mapping[str, Sequence[Any]]
_INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__", "index")  # what pandas writes over its index
_METRIC_WORDS = {
    *("loss", "error", "err", "accuracy", "acc", "auc", "auroc", "f1", "score", "perplexity"),
    *("ppl", "bleu", "rouge", "wer", "mse", "mae", "rmse", "nll", "reward", "return", "precision"),
    *("recall", "iou", "map", "throughput", "latency", "runtime"),
}

# what loggers put behind a metric's name
_ENDINGS = {"epoch", "step", "best", "last", "final", "mean", "min", "max", "top1", "top5"}
MOST = 20  # lines of a refusal


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
    place = Path(path).expanduser()
    if not os.path.exists(place):  # a name that is too long is not there either
        raise NotFound("importers.no_file", what=what, path=place)
    return place


def files_below(folder: Path) -> Iterator[Path]:
    """Every plain file below a folder, in order; links are not followed out of it."""
    seen = 0
    for parent, folders, files in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted(files):
            path = Path(parent, name)
            seen += 1
            if seen > _MOST_FILES:
                raise NotFound("importers.too_many_files", folder=folder, most=_MOST_FILES)
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
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            if place == len(lines) - 1:  # the program was killed while it wrote
                return
            raise Unreadable(
                "importers.line_not_json", path=path, line=place + 1, error=error
            ) from None
        if isinstance(entry, dict):
            yield entry


def csv_columns(path: Path) -> dict[str, list[str]]:
    """The columns of a CSV file, every cell as text."""
    try:
        rows = list(csv.reader(text_in(path).splitlines(keepends=True)))
    except csv.Error as error:
        raise Unreadable("importers.not_csv", path=path, error=error) from None
    if not rows:
        raise Unreadable("importers.empty_file", path=path)
    _refuse_size(path, len(rows) - 1, len(rows[0]))
    head = [_unquote(name) for name in rows[0]]
    doubled = _duplicates(head)
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
    return {name: [_unquote(row[place]) for row in cells] for place, name in enumerate(head)}


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


def _duplicates(names: Sequence[str]) -> list[str]:
    """The names that stand there more than once."""
    return sorted(name for name, times in Counter(names).items() if times > 1)


def _unquote(cell: str) -> str:
    """A cell without the mark that keeps spreadsheets from running it."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@", "\t", "\r") else cell


class _Missing:
    """No value, where None may be one."""


MISSING: Final = _Missing()


def as_value(declared: Range | Value, cell: Any) -> Any:
    """The value of the declared range (or fixed value) that a cell means; MISSING if none.

    >>> from tunewright.design.ranges import choice, integers
    >>> as_value(choice(1, "auto"), "1"), as_value(integers(1, 9), 3.0)
    (1, 3)
    """
    if not isinstance(declared, Range):  # fixed at this value
        return _among((declared,), cell)
    if declared.choices is not None:
        return _among(declared.choices, cell)
    if cell is None or isinstance(cell, bool):
        return MISSING
    number = number_or_none(cell)
    if number is None:  # a kind of range whose values are no numbers
        return cell if declared.contains(cell) else MISSING
    if not declared.contains(number):
        return MISSING
    # a table may have made 3.0 of the whole number 3
    return number if declared.count is None else declared.value(declared.unit(number))


def _among(values: tuple[Value, ...], cell: Any) -> Any:
    for value in values:
        if same_value(value, cell):
            return value
    if cell is None:
        return MISSING
    for value in values:
        if str(value) == str(cell) or _same_number(value, cell):
            return value
    return MISSING


def _same_number(value: Value, cell: Any) -> bool:
    """Whether text is another spelling of a number, or 1 means True."""
    if isinstance(value, str) or value is None:
        return False
    if isinstance(value, bool):
        return (
            str(cell).lower() in ("true", "1", "1.0")
            if value
            else str(cell).lower()
            in (
                "false",
                "0",
                "0.0",
            )
        )
    return isinstance(cell, str) and number_or_none(cell) == value


def columns_in(frame: Any, what: str) -> dict[str, list[Any]]:
    """The columns of a polars or pandas frame, a mapping of lists, or a list of mappings.

    >>> columns_in([{"trial": 0, "lr": 0.1}, {"trial": 1}], "trials")
    {'trial': [0, 1], 'lr': [0.1, None]}
    """
    if hasattr(frame, "collect") and hasattr(frame, "lazy"):  # a lazy polars frame
        frame = frame.collect()
    if hasattr(frame, "get_columns"):  # polars
        columns = {column.name: column.to_list() for column in frame.get_columns()}
    elif hasattr(frame, "iloc"):  # pandas; by place, since two columns may have one name
        names = [str(name) for name in frame.columns]
        _refuse_doubled(names, what)
        columns = {name: frame.iloc[:, place].tolist() for place, name in enumerate(names)}
    elif isinstance(frame, Mapping):
        columns = {str(name): list(values) for name, values in frame.items()}
    elif isinstance(frame, Sequence) and all(isinstance(row, Mapping) for row in frame):
        names = list(dict.fromkeys(str(name) for row in frame for name in row))
        columns = {name: [row.get(name) for row in frame] for name in names}
    else:
        raise DesignError("importers.not_a_frame", what=what, kind=type(frame).__name__)
    if len({len(values) for values in columns.values()}) > 1:
        raise DesignError("importers.unequal_columns", what=what)
    return columns


def _refuse_doubled(names: Sequence[str], what: str) -> None:
    doubled = _duplicates(names)
    if doubled:
        raise DesignError("importers.doubled_columns", what=what, doubled=list(doubled))


def is_row_index(name: str, cells: Sequence[Any]) -> bool:
    """Whether a column is the index of a frame that was written with it: 0, 1, 2 and so on.

    >>> is_row_index("", ["0", "1"]), is_row_index("", ["8", "1"]), is_row_index("lr", [0, 1])
    (True, False, False)
    """
    return name in _INDEX_NAMES and [str(cell) for cell in cells] == [*map(str, range(len(cells)))]


def plain_cell(cell: Any) -> Any:
    """A cell as Python's own value; a library's missing value is None."""
    cell = as_plain(cell)
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if type(cell).__name__ in ("NAType", "NaTType"):  # pandas
        return None
    return cell


def looks_like_metric(name: str) -> bool:
    """Whether a name reads as something measured rather than something set.

    >>> [looks_like_metric(n) for n in ("val/loss_epoch", "validError", "loss_type", "lr")]
    [True, True, False, False]
    """
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()
    words = [word for word in re.split(r"[^a-z0-9]+", spaced) if word]
    while len(words) > 1 and words[-1] in _ENDINGS:
        words.pop()
    return bool(words) and words[-1] in _METRIC_WORDS


def did_you_mean(name: str, known: Iterable[str], most: int = 12) -> str:
    """The nearest known name, else what is known, with a space before it.

    >>> did_you_mean("learnig_rate", ["learning_rate", "beta1"]), did_you_mean("x", ["beta1"])
    (" Did you mean 'learning_rate'?", ' There is: beta1.')
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f" Did you mean {near[0]!r}?"
    if not names:
        return ""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f" There is: {', '.join(names[:most])}{more}."


class Problems:
    """Collects problems; one kind of them is reported by its first row and a count."""

    def __init__(self) -> None:
        """Begin without any."""
        self._first: dict[str, Message] = {}
        self._more: dict[str, int] = {}

    def add(self, problem: Message, kind: str = "") -> None:
        """Add a problem; `kind` is the same for all that are reported together."""
        kind = kind or repr(problem)
        if kind in self._first:
            self._more[kind] = self._more.get(kind, 0) + 1
        else:
            self._first[kind] = problem

    def refuse(self) -> None:
        """Raise DesignError with all of them, if there are any."""
        if not self._first:
            return
        problems = [self._with_count(kind, problem) for kind, problem in self._first.items()]
        left = len(problems) - MOST
        more = [Message("problems.more", {"count": left})] if left > 0 else []
        raise DesignError.several([*problems[:MOST], *more])

    def _with_count(self, kind: str, problem: Message) -> Message:
        """The problem, with the number of other rows that have it."""
        if kind not in self._more:
            return problem
        facts = {"problem": problem.to_data(), "rows": self._more[kind]}
        return Message("problems.more_rows", facts)
