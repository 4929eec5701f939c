"""Trials in two tables of any origin: one row per trial, one row per logged point.

`trials` has the columns `trial`, `status` and one for each hyperparameter of the round, under its
name or, for a conditional one, its column (`optimizer.adam.learning_rate`). Optional: `reason`,
`reason_code`, `seed`, `seconds`, `index`. `curves` has the columns `trial`, `step`, `metric`,
`value`, and where a value's uncertainty is known `sd` and `n`. What `results.to_polars()` and
`.to_pandas()` give is read back as it was.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from tunewright.design.conditions import Fixed, Hyperparameter, holds
from tunewright.design.names import Meaning, guess_note, with_guesses
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value, same_value
from tunewright.design.round import Round
from tunewright.design.study import Study
from tunewright.errors import DesignError
from tunewright.importers.build_round import position
from tunewright.importers.files import (
    MISSING,
    Columns,
    Problems,
    as_value,
    columns_in,
    did_you_mean,
    plain_cell,
)
from tunewright.importers.foreign import (
    Points,
    PointsInOrder,
    duration_or_none,
    number_or_none,
    uncertain,
    whole_or_none,
)
from tunewright.measured import COUNT, SUFFIXES
from tunewright.messages import Message
from tunewright.store.curves import Batch, Curves, Spreads, pack
from tunewright.store.outcome import decode, reason_of_export
from tunewright.store.plain_json import storable
from tunewright.store.results import Results
from tunewright.store.trial import Status, Trial

# of an exported table, in this order
HEAD = ("number", "study", "status", "value", "best_step", "value_sd", "value_n")
TAIL = (
    *("reason", "reason_code", "index", "seed", "attempts", "seconds", "command"),
    "imported",
)
POINT = ("trial", "step", "metric", "value")


def frames(
    round: Round,
    objective: Objective,
    trials: Any,
    curves: Any,
    means: Mapping[str, Any] | None = None,
) -> Results:
    """Results of trials in two frames (polars, pandas, or columns as lists).

    Every problem of the frames is reported at once.

    Args:
        round: the round that the trials belong to.
        objective: the metric that judges the trials.
        trials: one row per trial: trial, status, and a column for each hyperparameter.
        curves: one row per logged value: trial, step, metric, value.
        means: how the names spell the playbook's, as in `tw.Workload(means=...)`.

    >>> from tunewright.design.objective import minimize
    >>> from tunewright.design.ranges import log
    >>> results = frames(
    ...     Round("lr", goal="?", nuisance={"lr": log(1e-3, 1)}, trials_per_study=2),
    ...     minimize("error"),
    ...     {"trial": [0, 1], "status": ["completed"] * 2, "lr": [0.01, 0.1]},
    ...     {"trial": [0, 1], "step": [9, 9], "metric": ["error"] * 2, "value": [0.5, 0.4]},
    ... )
    >>> results.best().configuration
    {'lr': 0.1}
    """
    problems = Problems()
    points = _points(columns_in(curves, "curves"), problems)
    metrics = {metric for trial_points in points.values() for metric in trial_points.points()}
    layout = _layout(round, columns_in(trials, "trials"), metrics, problems)
    if layout is None:  # without the columns, the rows mean nothing
        problems.refuse()
        raise AssertionError("a frame without its columns was not refused")
    numbers = _numbers(layout.identities, problems)
    for identity in points:
        if identity not in numbers:
            problems.add(Message("frames.unknown_trial", {"trial": identity}), "stranger")
    each_trial = []
    for row, identity in enumerate(layout.identities):
        logged = points.get(identity)
        each_trial.append(_trial(round, layout, row, numbers[identity], logged, problems))
    problems.refuse()
    kept = [trial for trial in each_trial if trial is not None]
    meaning = with_guesses(Meaning(means or {}), round.names, sorted(metrics))
    results = Results.from_parts(round, objective, kept, meaning=meaning)
    notes = tuple(note.text for note in guess_note(meaning))
    return replace(results, notes=(*results.notes, *notes))


@dataclass(frozen=True)
class _Layout:
    """Which column of the trials' frame is what."""

    identities: list[Any]
    settings: Mapping[str, list[Any]]  # column of the round -> cells
    known: Mapping[str, list[Any]]  # status, reason, seed and so on

    def cell(self, name: str, row: int) -> Any:
        return plain_cell(self.known[name][row]) if name in self.known else None


def _layout(round: Round, frame: Columns, metrics: set[str], problems: Problems) -> _Layout | None:
    """What the columns are; None when one that is needed is not there."""
    dimensions = _dimensions(round)
    columns = {column for column, _ in dimensions} | set(round.scientific)
    identity = "trial" if "trial" in frame and "trial" not in columns else "number"
    needed = {"trial": identity, "status": "status"}
    missing = [name for name, column in needed.items() if column not in frame]
    for name in missing:
        problems.add(
            Message(
                "frames.trials_column_missing", {"name": name, "hint": did_you_mean(name, frame)}
            )
        )
    settings: dict[str, list[Any]] = {}
    used = {identity}
    for column in (*round.scientific, *(c for c, _ in dimensions)):
        name = dict(dimensions).get(column, column)
        # an exported table marks a hyperparameter whose name is that of another column
        candidates = ([f"{column}_"] if column in HEAD else []) + [column, name]
        spelled = next((c for c in candidates if c in frame and c != identity), None)
        if spelled is not None:
            settings[column] = list(frame[spelled])
            used.add(spelled)
    # a conditional one that no trial had has no column; a fixed value is known without one
    needless = {h.column for study in round.studies for h in study.space if h.when}
    needless |= {f.column for study in round.studies for f in study.fixed}
    free = [c for c in frame if c not in used]
    for column in sorted(columns - set(settings) - needless):
        missing.append(column)
        problems.add(
            Message(
                "frames.hyperparameter_column_missing",
                {"column": column, "hint": did_you_mean(column, free)},
            )
        )
    known = {n: list(frame[n]) for n in HEAD if n in frame and n not in used}
    for name in TAIL:
        marked = name
        while marked in columns | metrics:
            marked += "_"
        if marked in frame:
            known[name] = list(frame[marked])
            used.add(marked)
    for name in frame:
        if name not in used | metrics | set(HEAD) and name.rstrip("_") not in metrics:
            near = difflib.get_close_matches(name, sorted(columns - set(settings)), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            problems.add(Message("frames.column_without_role", {"name": name, "hint": hint}))
    if missing:
        return None
    return _Layout([plain_cell(cell) for cell in frame[identity]], settings, known)


def _dimensions(round: Round) -> list[tuple[str, str]]:
    """(column, name) of everything but scientific lists, each once."""
    columns: dict[str, str] = {}
    for study in round.studies:
        dimensions: tuple[Hyperparameter | Fixed, ...] = (*study.space, *study.fixed)
        columns |= {dimension.column: dimension.name for dimension in dimensions}
    return list(columns.items())


def _numbers(identities: list[Any], problems: Problems) -> dict[Any, int]:
    """A number for each trial: its own where all have one, else its row."""
    if None in identities:
        problems.add(Message("frames.row_without_trial", {"row": identities.index(None)}))
    for identity, times in Counter(identities).items():
        if times > 1 and identity is not None:
            problems.add(
                Message("frames.trial_twice", {"trial": identity, "times": times}), "twice"
            )
    whole = [whole_or_none(i) if not isinstance(i, str) else None for i in identities]
    if all(number is not None and number >= 0 for number in whole):
        return {
            i: number for i, number in zip(identities, whole, strict=True) if number is not None
        }
    return {identity: row for row, identity in enumerate(identities)}


def _points(frame: Columns, problems: Problems) -> dict[Any, PointsInOrder]:
    missing = [name for name in POINT if name not in frame]
    for name in missing:
        problems.add(
            Message(
                "frames.curves_column_missing", {"name": name, "hint": did_you_mean(name, frame)}
            )
        )
    points: dict[Any, PointsInOrder] = {}
    if missing:
        return points
    empty = [None] * len(frame["trial"])
    cells = [*(frame[name] for name in POINT), *(frame.get(name, empty) for name in ("sd", "n"))]
    for trial, step, metric, value, sd, n in zip(*cells, strict=True):
        at = whole_or_none(step)
        # null means NaN in files that cannot hold one
        number = math.nan if plain_cell(value) is None else number_or_none(value)
        identity = plain_cell(trial)
        if at is None:
            problems.add(Message("frames.step_not_whole", {"step": step, "trial": trial}), "step")
        elif number is None:
            problems.add(
                Message("frames.value_not_number", {"value": value, "trial": trial}), "value"
            )
        elif not isinstance(metric, str) or not metric:
            problems.add(Message("frames.no_metric", {"metric": metric, "trial": trial}), "metric")
        else:
            trial_points = points.setdefault(identity, PointsInOrder(stepped=True))
            trial_points.add(metric, at, number)
            for suffix, cell in ((SUFFIXES[0], sd), (COUNT, n)):
                if (known := number_or_none(plain_cell(cell))) is not None:
                    trial_points.beside.add(f"{metric}{suffix}", at, known)
    return points


def _spreads(logged: PointsInOrder | None, points: Points) -> Spreads:
    """The uncertainty of each metric that has one: of two columns, or of metrics beside it."""
    if logged is None:
        return {}
    return uncertain({**points, **logged.beside.points()})


def _trial(
    round: Round,
    layout: _Layout,
    row: int,
    number: int,
    logged: PointsInOrder | None,
    problems: Problems,
) -> Trial | None:
    status = layout.cell("status", row)
    if status not in get_args(Status):
        problems.add(
            Message(
                "frames.unknown_status",
                {
                    "trial": number,
                    "status": status,
                    "hint": did_you_mean(str(status), get_args(Status)),
                },
            ),
            f"status {status}",
        )
        return None
    study = _study(round, layout, row, number, status, problems)
    if study is None:
        return None
    try:
        configuration = _configuration(study, layout, row, status)
    except DesignError as error:
        for problem in error.inside("importers.trial", trial=number):
            problems.add(problem, f"{error.code} {error.facts.get('column')}")
        return None
    points = logged.points() if logged is not None else {}
    return Trial(
        number=number,
        study=study.number,
        index=whole_or_none(layout.cell("index", row)),
        configuration=configuration,
        unit=position(study, configuration),
        status=status,
        # judged again on reading, which finds its own reason where the curves have one
        reason=_reason(layout, row),
        curves=Curves([Batch(1, 0, pack(points, _spreads(logged, points)))] if points else []),
        seed=whole_or_none(layout.cell("seed", row)) or 0,
        attempts=whole_or_none(layout.cell("attempts", row)) or 0,
        seconds=duration_or_none(layout.cell("seconds", row)) or 0.0,
        command=storable(str(layout.cell("command", row) or "")),
    )


def _reason(layout: _Layout, row: int) -> Message | None:
    """The row's reason; an export of version 0.1 has the sentence alone."""
    text, code = (str(layout.cell(name, row) or "") for name in ("reason", "reason_code"))
    return (
        reason_of_export(code, text, "a table") if "reason_code" in layout.known else decode(text)
    )


def _study(
    round: Round, layout: _Layout, row: int, number: int, status: str, problems: Problems
) -> Study | None:
    """The study of the row's scientific values."""
    setting = {}
    for name in round.studies[0].scientific:
        cell = plain_cell(layout.settings[name][row])
        setting[name] = as_value(round.scientific[name], cell)
    for study in round.studies:
        if all(
            values is not MISSING and same_value(values, study.scientific[name])
            for name, values in setting.items()
        ):
            return study
    study_number = whole_or_none(layout.cell("study", row))
    if (
        status in ("pending", "running")
        and study_number is not None
        and 0 <= study_number < len(round.studies)
    ):
        return round.studies[study_number]  # an adaptive search has not filled it yet
    text = ", ".join(f"{name} = {layout.settings[name][row]!r}" for name in setting)
    problems.add(Message("frames.no_study", {"trial": number, "setting": text}), f"study {text}")
    return None


def _configuration(study: Study, layout: _Layout, row: int, status: Status) -> dict[str, Value]:
    """The row's values under the names of the training function."""
    cells = {column: plain_cell(values[row]) for column, values in layout.settings.items()}
    settings: dict[str, Value] = dict(study.scientific)
    chosen: dict[str, Value] = {}
    for h in study.space:
        if not h.active(settings):
            continue
        value = as_value(h.range, cells.get(h.column))
        if value is not MISSING:
            settings[h.column] = chosen[h.name] = value
        elif status in ("completed", "infeasible"):
            raise DesignError(
                "importers.value_outside_range",
                column=h.column,
                value=cells.get(h.column),
                range=h.range,
            )
    if study.space and not chosen and status in ("pending", "running"):
        return {}  # an adaptive search has not filled it yet
    for f in study.fixed:
        if not holds(f.when, settings):
            continue
        cell = cells.get(f.column)
        if cell is not None and as_value(f.value, cell) is MISSING:
            raise DesignError(
                "importers.value_not_fixed", column=f.column, value=cell, fixed=f.value
            )
        chosen[f.name] = f.value
    return {**study.scientific, **chosen}
