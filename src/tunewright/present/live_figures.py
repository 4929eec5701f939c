"""The data of figures for a browser: what the dashboard and a report's script draw.

Nothing is computed here: a figure holds its data, and this is the same data as numbers and arrays.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tunewright.design.conditions import Hyperparameter, in_words
from tunewright.messages import words
from tunewright.present.envelope import plain
from tunewright.present.figures import style
from tunewright.present.figures.axis import AxisData
from tunewright.present.figures.curves import CurvesData, GradientNormData, TrialCurves, thin
from tunewright.present.figures.figure import Figure, words_of
from tunewright.present.figures.ticks import ticks
from tunewright.present.report_parts import Chapter
from tunewright.store.curves import Curve
from tunewright.store.overview import INACTIVE, STATUSES
from tunewright.store.results import Results

# ---- arrays for a browser: a head and arrays in one run of bytes.
#
# It is `uint32 length | JSON head | arrays`, each array at a multiple of eight bytes after the
# head; the head names every array with its type, shape and offset. `frames.js` reads it.


def frame(head: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """A head and arrays as one answer.

    >>> len(frame({"a": 1}, {"x": np.arange(3, dtype=np.uint16)})) % 8
    0
    """
    listed: dict[str, Any] = {}
    parts: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        data = little.tobytes()
        listed[name] = {"type": array.dtype.name, "shape": list(array.shape), "at": at}
        padded = data + bytes(-len(data) % 8)
        parts.append(padded)
        at += len(padded)
    text = json.dumps({**plain(head), "arrays": listed}, allow_nan=False).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([struct.pack("<I", len(text)), text, *parts])


# ---- live figures


DRAWN = ("isolation", "best_step", "best_of_k", "sensitivity", "gradient_norm")  # by figures.js
LIVE = (*DRAWN, "axis", "curves")  # of a report; the other kinds stay pictures
_MANY = 20  # numbers in a row beyond which each keeps six digits: they are points of a drawing
_POINTS = 400  # of a curve
LARGEST = float(np.finfo(np.float32).max)  # beyond it a value is drawn at the end of its axis


def figure_data(kind: str, figure: Figure[Any]) -> dict[str, Any]:
    """A figure as a page draws it: its kind, its caption and its data."""
    data = figure.data
    if isinstance(data, GradientNormData):
        drawing: Any = {
            "metric": data.metric,
            "trials": [{"trial": trial.trial, "curve": thin(trial.curve)} for trial in data.trials],
        }
    elif isinstance(data, CurvesData):
        drawing = {"plots": list(_plots(data))}
    elif isinstance(data, AxisData):
        drawing = {
            "metric": data.metric,
            "minimize": data.minimize,
            "best": data.best,
            "studies": data.studies,
            "axes": [
                _axis_data(panel.column, panel.range, panel.condition, panel.name)
                for panel in data.panels
            ],
        }
    else:
        drawing = data
    caption = words.printable(str(figure.says))
    return {"kind": kind, "says": caption, "data": _short(plain(drawing))}


def axis_of(hyperparameter: Hyperparameter) -> dict[str, Any]:
    """The scale of a searched hyperparameter: range, ticks, when it is active."""
    return _axis_data(
        hyperparameter.column,
        hyperparameter.range,
        in_words(hyperparameter.when),
        hyperparameter.name,
    )


def _axis_data(column: str, range: Any, condition: str, name: str = "") -> dict[str, Any]:
    """The scale of a column; without a name it is shown by its column."""
    return {
        "column": column,
        "name": name or column,
        "condition": condition,
        "range": str(range),
        "data": range.to_data(),
        "choice": range.choices is not None,
        "ticks": [{"at": tick.position, "label": tick.label} for tick in ticks(range)],
    }


def packed(results: Results, chapters: Sequence[Chapter]) -> str:
    """The live figures of a report as text: a frame with the trials, compressed.

    Figures are keyed by their place among all figures of the report.
    """
    every = [(chapter.kind, figure) for chapter in chapters for figure in chapter.figures]
    drawn = {at: figure_data(kind, f) for at, (kind, f) in enumerate(every) if kind in LIVE}
    axis = next((f.data for kind, f in every if kind == "axis"), None)
    head, arrays = _trials(results, axis)
    palette = {
        "light": style.COLOURS,
        "dark": [style.VARIABLES[f"study-{n + 1}"][1] for n in range(6)],
    }
    frame_bytes = frame({**head, "figures": drawn, "palette": palette}, arrays)
    return base64.b64encode(zlib.compress(frame_bytes, 9)).decode()


def _trials(
    results: Results, axis: AxisData | None
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Every trial that has ended, as the dashboard's table has it."""
    ended = [
        t for t in results.rows if t.number is not None and t.status not in ("pending", "running")
    ]
    panels = () if axis is None else axis.panels
    rows = {trial.number: row for row, trial in enumerate(ended)}
    positions = np.full((len(ended), len(panels)), INACTIVE, np.uint16)
    for at, panel in enumerate(panels):
        panel_rows = [rows[int(number)] for number in panel.trials]
        inside = np.clip(panel.positions, 0.0, 1.0)
        positions[panel_rows, at] = np.round(inside * (INACTIVE - 1)).astype(np.uint16)
    head: dict[str, Any] = {
        "columns": [panel.column for panel in panels],
        # one of an earlier round is known by its number there
        "labels": {row: str(t.shown_number) for row, t in enumerate(ended) if t.origin is not None},
    }
    values = np.array([np.nan if t.value is None else t.value for t in ended], np.float64)
    return head, {
        "number": np.array([t.number for t in ended], np.uint32),
        "study": np.array([t.study for t in ended], np.uint16),
        "status": np.array([STATUSES.index(t.status) for t in ended], np.uint8),
        "value": np.clip(values, -LARGEST, LARGEST).astype(np.float32),
        "step": np.array([-1 if t.best_step is None else t.best_step for t in ended], np.int32),
        "position": positions,
    }


def _plots(data: CurvesData) -> Iterator[dict[str, Any]]:
    """The plots of training curves: of each study the objective, then its losses."""
    for study in data.studies:
        name = f"{data.metric}, {study.study}" if study.study else data.metric
        yield {"name": name, "curves": list(_lines(study.trials, ("judged",)))}
        losses = list(_lines(study.trials, ("train_loss", "valid_loss")))
        if losses:
            dashed = data.valid_loss if any(curve["dash"] for curve in losses) else None
            facts = {"train_loss": data.train_loss, "valid_loss": dashed}
            title = words_of("label.losses", **facts)
            yield {"name": f"{title}, {study.study}" if study.study else title, "curves": losses}


def _lines(trials: Sequence[TrialCurves], which: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The curves of some trials, the second kind dashed."""
    for at, kind in enumerate(which):
        for rank, trial in enumerate(trials):
            curve: Curve | None = getattr(trial, kind)
            if curve is not None and len(curve):
                kept = thin(curve, _POINTS)
                yield {
                    "label": words_of("label.trial", trial=trial.trial),
                    "trial": trial.trial,
                    "steps": kept.steps,
                    "values": kept.values,
                    "dash": at > 0,
                    "ink": rank,
                }


def _short(value: Any) -> Any:
    """Long rows of numbers with six digits, which is more than a drawing shows."""
    if isinstance(value, dict):
        return {name: _short(entry) for name, entry in value.items()}
    if isinstance(value, list):
        if len(value) > _MANY:
            return [float(f"{x:.6g}") if isinstance(x, float) else _short(x) for x in value]
        return [_short(element) for element in value]
    return value
