"""Results as tables, as files for other programs, and as a card in a notebook."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tunewright.design.conditions import Fixed, Hyperparameter, holds
from tunewright.design.ranges import Value
from tunewright.design.study import Study
from tunewright.errors import DesignError, StoreError, need
from tunewright.messages import Message, markup, words
from tunewright.store.judge import value_at
from tunewright.store.plain_json import finite
from tunewright.store.trial import Trial

if TYPE_CHECKING:
    import pandas
    import polars

    from tunewright.store.results import Results
Table = Literal["trials", "curves"]
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what makes a spreadsheet run a cell
_MOST_STUDIES = 12
_MOST_SETTINGS = 30  # hyperparameters of the best trial


def columns_of(results: Results, table: Table) -> dict[str, list[Any]]:
    """The columns of a table, by name, all of one length."""
    if table == "trials":
        return _trial_columns(results)
    if table == "curves":
        return _curve_columns(results)
    raise StoreError("results.no_such_table", table=table)


def polars_frame(results: Results, table: Table) -> polars.DataFrame:
    """The table as a polars frame; a column of several kinds of values becomes text."""
    module = need("polars", extra="frames", purpose="to_polars()")
    columns = {name: _one_kind(values) for name, values in columns_of(results, table).items()}
    frame: polars.DataFrame = module.DataFrame(columns, infer_schema_length=None)
    return frame


def pandas_frame(results: Results, table: Table) -> pandas.DataFrame:
    """The table as a pandas frame."""
    module = need("pandas", extra="frames", purpose="to_pandas()")
    frame: pandas.DataFrame = module.DataFrame(columns_of(results, table))
    return frame


def _trial_columns(results: Results) -> dict[str, list[Any]]:
    """What is known of each trial, its hyperparameters by column, and every metric.

    The same name under two values of a conditional is two hyperparameters, so it has two columns;
    a metric's column holds its value at the step the objective was taken from, else its last.
    """
    trials = results.trials
    columns: dict[str, list[Any]] = {
        "number": [t.number for t in trials],
        "study": [t.study for t in trials],
        "status": [t.status for t in trials],
        "value": [t.value for t in trials],
        "best_step": [t.best_step for t in trials],
    }
    if any(t.measured is not None for t in trials):
        columns["value_sd"] = [t.measured.sd if t.measured else None for t in trials]
        columns["value_n"] = [t.measured.n if t.measured else None for t in trials]
    settings = [dict(_settings(results.studies[t.study], t)) for t in trials]
    for name in dict.fromkeys(column for setting in settings for column in setting):
        columns[_free(columns, name)] = [setting.get(name) for setting in settings]
    for metric in results.metrics:
        columns[_free(columns, metric)] = [_metric(t, metric) for t in trials]
    columns[_free(columns, "reason")] = [str(t.reason or "") for t in trials]
    columns[_free(columns, "reason_code")] = [t.reason.code if t.reason else "" for t in trials]
    columns[_free(columns, "index")] = [t.index for t in trials]
    columns[_free(columns, "seed")] = [t.seed for t in trials]
    columns[_free(columns, "attempts")] = [t.attempts for t in trials]
    columns[_free(columns, "seconds")] = [t.seconds for t in trials]
    columns[_free(columns, "command")] = [t.command for t in trials]
    elsewhere = {other.round.name for other in results.earlier if other.imported}
    columns[_free(columns, "imported")] = [
        results.imported if t.origin is None else t.origin[0] in elsewhere for t in trials
    ]
    return columns


def _curve_columns(results: Results) -> dict[str, list[Any]]:
    """One row per logged point, repeats left out."""
    numbers: list[Any] = []
    metrics: list[str] = []
    steps: list[int] = []
    values: list[float] = []
    sds: list[float | None] = []
    ns: list[int | None] = []
    for trial in results.rows:
        for metric, curve in trial.curves.items():
            numbers += [trial.number] * len(curve)
            metrics += [metric] * len(curve)
            steps += curve.steps.tolist()
            values += curve.values.tolist()
            known = (
                [curve.measurement(place) for place in range(len(curve))]
                if curve.sd is not None
                else [None] * len(curve)
            )
            sds += [None if point is None else point.sd for point in known]
            ns += [None if point is None else point.n for point in known]
    columns = {"trial": numbers, "step": steps, "metric": metrics, "value": values}
    uncertain = any(sd is not None for sd in sds)
    return columns | ({"sd": sds, "n": ns} if uncertain else {})


def _settings(study: Study, trial: Trial) -> Iterator[tuple[str, Value]]:
    """The trial's hyperparameters by column; what the study does not declare, by name."""
    configuration = dict(trial.configuration)
    known: dict[str, Value] = dict(study.scientific)
    declared: list[Hyperparameter | Fixed] = [*study.space, *study.fixed]
    for name in study.scientific:
        if name in configuration:
            yield name, configuration.pop(name)
    for dimension in declared:
        if dimension.name in configuration and holds(dimension.when, known):
            value = configuration.pop(dimension.name)
            known[dimension.column] = value
            yield dimension.column, value
    yield from configuration.items()


def _metric(trial: Trial, metric: str) -> float | None:
    curve = trial.curves.only(metric)
    if curve is None or not len(curve):
        return None
    if trial.best_step is None:
        return float(curve.values[-1])
    return value_at(curve, trial.best_step)


def _free(columns: dict[str, list[Any]], name: str) -> str:
    """The name, marked when another column has it already."""
    while name in columns:
        name += "_"
    return name


def _one_kind(values: list[Any]) -> list[Any]:
    """The values as one type: mixed numbers as fractions, any other mixture as text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]


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


def quote_formula(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: text that looks like one gets a quote mark.

    >>> [quote_formula(cell) for cell in ("=HYPERLINK(...)", -0.5, "-0.5", "adam")]
    ["'=HYPERLINK(...)", -0.5, '-0.5', 'adam']
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
        writer.writerow([quote_formula(name) for name in columns])
        for row in zip(*columns.values(), strict=True):
            writer.writerow([quote_formula(value) for value in row])


def _write_json(columns: dict[str, list[Any]], path: Path) -> None:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text(json.dumps(finite(rows), indent=1, allow_nan=False), encoding="utf-8")


def card(results: Results) -> str:
    """A small HTML card that survives a saved or untrusted notebook."""
    facts = {"counts": dict(results.counts), "trials": results.size}
    lines = [results.round.asks, Message("card.results", facts).text, *_best(results)]
    lines += [
        Message(
            "card.limits",
            {"text": "; ".join(caveat.text for caveat in results.round.caveats)[:400]},
        ).text
    ] * bool(results.round.caveats)
    return markup.card(results.round.name, lines, table=_studies(results))


def _best(results: Results) -> list[str]:
    objective = results.objective
    if not (top := results.top(1)):
        return [Message("card.none_completed", {"objective": str(objective)}).text]
    best = top[0]
    settings = dict(list(best.configuration.items())[:_MOST_SETTINGS])
    facts = {"metric": objective.metric, "value": best.value, "step": best.best_step}
    return [Message("answer.best", {**facts, "trial": best.number, "settings": settings}).text]


def _studies(results: Results) -> markup.Table | None:
    """The best of each study, where there are several."""
    if len(results.studies) < 2:
        return None
    rows = []
    for study in results.studies[:_MOST_STUDIES]:
        ranked = [t for t in results.rows_of(study) if t.value is not None]
        sign = results.objective.sign
        best: Trial | None = max(ranked, key=lambda t: sign * (t.value or 0.0), default=None)
        value = "-" if best is None else words.number(best.value)
        rows.append((study.label, value, "-" if best is None else best.number))
    names = ("study", "best", "trial")
    columns = tuple(Message(f"card.label.{name}").text for name in names)
    return markup.Table(columns, tuple(rows))
