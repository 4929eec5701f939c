"""A frame as columns of plain values, whichever library made it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tunewright.design.ranges import as_plain
from tunewright.errors import DesignError
from tunewright.importers.files import doubled_in

Columns = Mapping[str, Sequence[Any]]


def columns_in(frame: Any, what: str) -> dict[str, list[Any]]:
    """The columns of a polars or pandas frame, a mapping of lists, or a list of mappings.

    >>> columns_in([{"trial": 0, "lr": 0.1}, {"trial": 1}], "trials")
    {'trial': [0, 1], 'lr': [0.1, None]}
    """
    if hasattr(frame, "collect") and hasattr(frame, "lazy"):  # a lazy polars frame
        frame = frame.collect()
    if hasattr(frame, "get_columns"):  # polars
        found = {column.name: column.to_list() for column in frame.get_columns()}
    elif hasattr(frame, "iloc"):  # pandas; by place, since two columns may have one name
        names = [str(name) for name in frame.columns]
        _refuse_doubled(names, what)
        found = {name: frame.iloc[:, place].tolist() for place, name in enumerate(names)}
    elif isinstance(frame, Mapping):
        found = {str(name): list(values) for name, values in frame.items()}
    elif isinstance(frame, Sequence) and all(isinstance(row, Mapping) for row in frame):
        names = list(dict.fromkeys(str(name) for row in frame for name in row))
        found = {name: [row.get(name) for row in frame] for name in names}
    else:
        raise DesignError("importers.not_a_frame", what=what, kind=type(frame).__name__)
    if len({len(values) for values in found.values()}) > 1:
        raise DesignError("importers.unequal_columns", what=what)
    return found


def _refuse_doubled(names: Sequence[str], what: str) -> None:
    doubled = doubled_in(names)
    if doubled:
        raise DesignError("importers.doubled_columns", what=what, doubled=list(doubled))


INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__", "index")  # what pandas writes over its index


def is_row_index(name: str, cells: Sequence[Any]) -> bool:
    """Whether a column is the index of a frame that was written with it: 0, 1, 2 and so on.

    >>> is_row_index("", ["0", "1"]), is_row_index("", ["8", "1"]), is_row_index("lr", [0, 1])
    (True, False, False)
    """
    return name in INDEX_NAMES and [str(cell) for cell in cells] == [*map(str, range(len(cells)))]


def plain_cell(cell: Any) -> Any:
    """A cell as Python's own value; a library's missing value is None."""
    cell = as_plain(cell)
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if type(cell).__name__ in ("NAType", "NaTType"):  # pandas
        return None
    return cell
