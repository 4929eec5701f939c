"""Trials in files: CSV, Parquet or JSON, with curves in a second file or without any."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Unpack, get_args

from tunewright.design.objective import Objective
from tunewright.design.ranges import as_plain
from tunewright.errors import DesignError
from tunewright.importers._frames import HEAD, POINT, TAIL, frames
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.files import (
    Columns,
    did_you_mean,
    existing,
    is_row_index,
    looks_like_metric,
    plain_cell,
    reading,
    table_columns,
)
from tunewright.importers.foreign import (
    ForeignTrial,
    PointsInOrder,
    Source,
    number_or_none,
    parse_value,
    plain_name,
    plain_value,
    whole_or_none,
)
from tunewright.messages import Message
from tunewright.store.outcome import reason_of_export
from tunewright.store.results import Results
from tunewright.store.trial import Status

_STEP = 1  # of final values in a table without curves


def tables(
    trials: str | os.PathLike[str],
    curves: str | os.PathLike[str] | None = None,
    *,
    objective: Objective,
    metrics: Sequence[str] = (),
    **options: Unpack[Options],
) -> Results:
    """Results of trials in a .csv, .parquet, .json or .jsonl file, one row each.

    Without `curves`, the columns that are metrics hold final values: the objective's, those named
    in `metrics`, and those that read like one (`valid_loss`). Every other column is a
    hyperparameter, with a guessed role.

    Args:
        trials: the file with one row per trial.
        curves: a file with the columns trial, step, metric and value.
        objective: the metric that judges the trials.
        metrics: further columns that are metrics.
        options: of every importer: name, round, roles, ranges, means, search.
    """
    path = existing(trials, "table")
    with reading(path, "a table of trials"):
        frame = table_columns(path)
    points = None
    if curves is not None:
        with reading(curves, "a table of curves"):
            points = table_columns(existing(curves, "table"))
    round = options.get("round")
    if round is not None and points is not None:
        frame.setdefault("status", ["completed"] * _rows(frame))
        return frames(round, objective, frame, points, options.get("means"))
    measured = _metrics(frame, points, objective, metrics)
    with reading(path, "a table of trials"):
        trials_read = tuple(_trials(frame, points, measured))
    source = Source(origin=f"the table {plain_name(path.name)}", name=path.stem, trials=trials_read)
    return take_over(source, objective, options)


def _metrics(
    frame: Columns, points: Columns | None, objective: Objective, metrics: Sequence[str]
) -> list[str]:
    """The columns that hold something measured."""
    if points is not None:
        missing = [name for name in POINT if name not in points]
        if missing:
            raise DesignError(
                "importers.curves_column_missing", missing=", ".join(map(repr, missing))
            )
        return [str(metric) for metric in dict.fromkeys(points["metric"])]
    for name in (objective.metric, *objective.subject_to, *metrics):
        if name not in frame:
            raise DesignError(
                "importers.table_column_missing", name=name, hint=did_you_mean(name, frame)
            )
    named = {objective.metric, *objective.subject_to, *metrics}
    return [name for name in frame if name in named or looks_like_metric(name)]


def _trials(frame: Columns, points: Columns | None, metrics: Sequence[str]) -> list[ForeignTrial]:
    identity = next((name for name in ("trial", "number", "id") if name in frame), None)
    always = {"status", "reason", "reason_code"}
    of_ours = {*HEAD, *TAIL} if "status" in frame and "number" in frame else always
    not_set = of_ours | {identity, *metrics}
    settings = [n for n in frame if n not in not_set and not is_row_index(n, frame[n])]
    logged = {} if points is None else _points_by_trial(points)
    trials = []
    for row in range(_rows(frame)):
        name = str(plain_cell(frame[identity][row])) if identity else str(row)
        trial_points = logged.get(name, PointsInOrder())
        if points is None:
            for metric in metrics:
                cell = number_or_none(frame[metric][row])
                if cell is not None:
                    trial_points.add(metric, _STEP, cell)
        configuration = {
            plain_name(setting): _value(cell)
            for setting in settings
            if (cell := plain_cell(frame[setting][row])) is not None and cell != ""
        }
        trials.append(
            ForeignTrial(
                name,
                configuration,
                _status(frame, row),
                reason=_reason(frame, row),
                points=trial_points.points(),
                number=whole_or_none(name),
            )
        )
    return trials


def _status(frame: Columns, row: int) -> Status:
    if "status" not in frame:
        return "completed"
    status = plain_cell(frame["status"][row])
    if status not in get_args(Status):
        raise DesignError(
            "importers.bad_status",
            row=row + 1,
            status=status,
            hint=did_you_mean(str(status), get_args(Status)),
        )
    return status  # type: ignore[no-any-return]


def _reason(frame: Columns, row: int) -> Message | None:
    """The row's reason; an export of ours has its code beside the sentence."""
    text = str(plain_cell(frame["reason"][row]) or "") if "reason" in frame else ""
    code = str(plain_cell(frame["reason_code"][row]) or "") if "reason_code" in frame else ""
    return reason_of_export(code, text, "a table")


def _points_by_trial(points: Columns) -> dict[str, PointsInOrder]:
    by_trial: dict[str, PointsInOrder] = {}
    for trial, step, metric, value in zip(*(points[name] for name in POINT), strict=True):
        at, number = whole_or_none(step), number_or_none(value)
        if value is None or value == "":
            number = float("nan")
        if at is None or number is None:
            raise DesignError("importers.bad_curve_point", step=step, value=value, trial=trial)
        by_trial.setdefault(str(trial), PointsInOrder(stepped=True)).add(str(metric), at, number)
    return by_trial


def _value(cell: Any) -> Any:
    return parse_value(cell) if isinstance(cell, str) else plain_value(as_plain(cell))


def _rows(frame: Columns) -> int:
    return len(next(iter(frame.values()), ()))
