"""Optuna studies: SQLite and other databases by URL, and journal files, read by Optuna itself.

How states are taken over: COMPLETE is completed; PRUNED is pruned, with the step it was pruned at,
since a trial that was cut short has no value to compare; FAIL is infeasible where a reported value
was not finite, else failed; trials that run or wait are left out.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from tunewright.design.objective import At, Objective
from tunewright.design.ranges import Choice, Integers, Linear, Log, Range, Value
from tunewright.errors import DesignError, MissingExtra, NotFound
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.files import did_you_mean, read_only_database, reading
from tunewright.importers.foreign import (
    NO_REASON,
    ForeignTrial,
    PointsInOrder,
    Source,
    first_non_finite,
    no_reason,
    number_or_none,
    plain_name,
    plain_value,
    whole_or_none,
)
from tunewright.messages import Message
from tunewright.store.outcome import foreign
from tunewright.store.results import Results
from tunewright.store.trial import Status

_INTERMEDIATE = "intermediate_value"  # the curve's name where it is not the objective's own
_MOST_STEPS = 24  # a grid of fewer points is a choice of them
SEARCH = "optuna"  # the sampler is not recorded: TPE unless somebody chose another


def optuna(
    url: str, study: str | None = None, *, objective: Objective | None = None,
    **options: Unpack[Options],
) -> Results:  # fmt: skip
    """Results of an Optuna study: `sqlite:///a.db`, `a.db`, `journal.log`, `postgresql://...`.

    Distributions become ranges, intermediate values curves, numeric user attributes metrics.

    Args:
        url: the storage: a file, or an address that Optuna takes.
        study: its name; may be left out where the storage has one study.
        objective: the metric that judges the trials; None: the study's own value.
        options: of every importer: name, round, roles, ranges, means, search.
    """
    optuna = _optuna()
    with reading(_without_password(url), "a storage of Optuna"):
        with _storage(optuna, url) as storage:
            name = _choose_study(storage, study, url)
            with _quietly(optuna):
                loaded = optuna.load_study(study_name=name, storage=storage)
            metrics = loaded.metric_names or _value_names(len(loaded.directions))
            trials = loaded.get_trials(deepcopy=False)
            minimized = [d == optuna.study.StudyDirection.MINIMIZE for d in loaded.directions]
            unnamed = not loaded.metric_names and len(metrics) == 1
        metrics = [plain_name(metric) for metric in metrics]
        ended = [t for t in trials if t.state.is_finished()]
        if objective is not None and unnamed and _names_it(objective, ended):
            _refuse_direction(objective, minimized[0], name)
            metrics = [objective.metric]
        judged_at = _step_of_values(ended) if len(metrics) == 1 else None
        taken = tuple(_trial(trial, metrics, judged_at) for trial in ended)
        grid = bool(ended) and all("grid_id" in trial.system_attrs for trial in ended)
        source = Source(
            origin=f"the Optuna study {plain_name(name)!r}",
            name=plain_name(name),
            trials=taken,
            ranges=_ranges(ended),
            search="grid" if grid else SEARCH,
            notes=tuple(_notes(trials, taken, metrics, grid or "search" in options)),
        )
        if objective is None:
            objective = Objective(metrics[0], minimized[0], judged_at or "last")
        elif (
            unnamed and objective.metric == metrics[0]
        ):  # a value of Optuna's is what its study has
            objective = replace(objective, at=judged_at or "last")
    return take_over(source, objective, options)


def _names_it(objective: Objective, trials: Sequence[Any]) -> bool:
    """Whether the objective is a name for the study's only value, which has no name there."""
    others = {_INTERMEDIATE} | {name for trial in trials for name in trial.user_attrs}
    others |= {name for trial in trials for name in _constraints(trial.system_attrs)}
    return objective.metric not in others


def _refuse_direction(objective: Objective, minimized: bool, study: str) -> None:
    if objective.minimize != minimized:
        was, declared = ("minimize", "maximize") if minimized else ("maximize", "minimize")
        raise DesignError(
            "importers.direction_differs",
            said=declared,
            plain_name=plain_name(study),
            metric=objective.metric,
            study_direction=was,
        )


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise MissingExtra("importers.optuna_missing") from error
    return optuna


@contextmanager
def _quietly(optuna: Any) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        yield


@contextmanager
def _storage(optuna: Any, url: str) -> Iterator[Any]:
    """An Optuna storage of something that exists; nothing is created in its place.

    A file is read as a copy, since Optuna adds what it misses in one to the file itself; the
    session with a server may not write.
    """
    path, is_journal = _file(str(url))
    with tempfile.TemporaryDirectory(prefix="tunewright-") as folder:
        copy = Path(folder, "copy")
        if path is not None and is_journal:
            shutil.copyfile(path, copy)
            backend = optuna.storages.journal.JournalFileBackend(str(copy))
            with _quietly(optuna):
                yield optuna.storages.JournalStorage(backend)
            return
        if path is not None:
            with read_only_database(path) as database, closing(sqlite3.connect(copy)) as own_copy:
                database.backup(own_copy)
        address = f"sqlite:///{copy}" if path is not None else _with_driver(str(url))
        with _quietly(optuna):
            storage = optuna.storages.RDBStorage(
                address, engine_kwargs=_session(address), skip_table_creation=True
            )
        try:
            yield storage
        finally:
            storage.remove_session()
            storage.engine.dispose()


def _session(address: str) -> dict[str, Any]:
    """What keeps a session with a database server from writing to it."""
    if not address.startswith("postgresql"):
        return {}
    return {"connect_args": {"options": "-c default_transaction_read_only=on"}}


def _without_password(url: str) -> str:
    return str(url).split("@")[-1]  # never a password


def _file(url: str) -> tuple[Path | None, bool]:
    """The file a URL means and whether it is a journal; no file for a database server."""
    if "://" in url and not url.startswith("sqlite"):
        return None, False
    path = Path(url.split(":///", 1)[-1]).expanduser()
    if not path.is_file():
        raise NotFound("importers.optuna_no_storage", path=path)
    with path.open("rb") as file:
        if file.read(15) != b"SQLite format 3":
            return path, True
    with read_only_database(path) as database:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    if not {"studies", "trials", "trial_params"} <= tables:  # Optuna would add its own to it
        raise NotFound("importers.optuna_other_database", path=path)
    return path, False


def _with_driver(url: str) -> str:
    """The address with the driver this package brings, where none is named."""
    scheme, divider, rest = url.partition("://")
    return f"postgresql+psycopg{divider}{rest}" if scheme in ("postgresql", "postgres") else url


def _choose_study(storage: Any, study: str | None, url: str) -> str:
    names = [str(stored.study_name) for stored in storage.get_all_studies()]
    place = _without_password(url)
    if study is None:
        if len(names) == 1:
            return names[0]
        raise (
            NotFound(
                "importers.optuna_several_studies",
                shown=place,
                count=len(names),
                hint=did_you_mean("", names),
            )
            if names
            else NotFound("importers.optuna_no_studies", shown=place)
        )
    if study not in names:
        raise NotFound(
            "importers.optuna_no_study", shown=place, study=study, hint=did_you_mean(study, names)
        )
    return study


def _value_names(count: int) -> list[str]:
    return ["value"] if count == 1 else [f"value_{place}" for place in range(count)]


def _step_of_values(trials: Sequence[Any]) -> At | None:
    """Whether the value of a trial is the last or the best of its intermediate ones; else None."""
    ends: list[set[str]] = []
    for trial in trials:
        reported = trial.intermediate_values
        if trial.state.name != "COMPLETE" or not reported:
            continue
        same = set()
        if trial.value == reported[max(reported)]:
            same.add("last")
        if trial.value in (min(reported.values()), max(reported.values())):
            same.add("best")
        ends.append(same)
    if not ends:
        return None
    if all("last" in same for same in ends):
        return "last"
    return "best" if all("best" in same for same in ends) else None


def _trial(trial: Any, metrics: Sequence[str], judged_at: At | None) -> ForeignTrial:
    points = PointsInOrder()
    curve = metrics[0] if judged_at is not None else _INTERMEDIATE
    for step, value in sorted(trial.intermediate_values.items()):
        points.add(curve, int(step), float(value))  # a damaged database may hold anything
    complete = trial.state.name == "COMPLETE"
    values = [float(value) for value in trial.values or ()] if complete else []
    final = zip(metrics, values, strict=False)
    attributes = [
        (str(name), number)
        for name, value in trial.user_attrs.items()
        if not isinstance(value, str) and (number := number_or_none(value)) is not None
    ]
    constraints = _constraints(trial.system_attrs)
    attributes += constraints.items()
    points.add_at_end([*final, *attributes])
    status, reason = _status(trial, points, curve, constraints)
    duration = trial.duration
    return ForeignTrial(
        name=str(trial.number),
        configuration={plain_name(n): plain_value(v) for n, v in trial.params.items()},
        status=status,
        reason=reason,
        points=points.points(),
        seconds=duration.total_seconds() if duration is not None else 0.0,
        number=whole_or_none(trial.number),
    )


def _constraints(attributes: Mapping[str, Any]) -> dict[str, float]:
    """The constraints of a trial: a list before Optuna 5, an entry each since."""
    numbered = enumerate(attributes.get("constraints") or ())
    values = {f"constraint_{place}": float(value) for place, value in numbered}
    for key, value in attributes.items():
        if key.startswith("constraints:"):
            values[f"constraint_{key.removeprefix('constraints:')}"] = float(value)
    return values


def _status(
    trial: Any, points: PointsInOrder, curve: str, constraints: Mapping[str, float]
) -> tuple[Status, Message | None]:
    if trial.state.name == "COMPLETE":
        for name, value in constraints.items():
            if value > 0:  # Optuna's rule
                facts = {"metric": name, "value": value, "relation": "<=", "limit": 0.0}
                return "infeasible", Message("constraint.broken", facts)
        return "completed", None
    diverged = first_non_finite(points.points(), [curve])
    if diverged is not None:
        return "infeasible", diverged
    if trial.state.name == "PRUNED":
        last = trial.last_step
        return "pruned", Message("trial.pruned", {} if last is None else {"step": last})
    fail_reason = trial.system_attrs.get("fail_reason")
    return "failed", foreign("Optuna", str(fail_reason)) if fail_reason else no_reason(
        "Optuna", "failed"
    )


def _ranges(trials: Sequence[Any]) -> dict[str, Range]:
    """One range for each hyperparameter, wide enough for every distribution it was drawn from."""
    declared: dict[str, list[Any]] = {}
    seen: dict[str, set[Value]] = {}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            known = declared.setdefault(plain_name(name), [])
            if distribution not in known:
                known.append(distribution)
            seen.setdefault(plain_name(name), set()).add(plain_value(trial.params[name]))
    ranges = {}
    for name, distributions in declared.items():
        try:
            ranges[name] = _range(distributions, seen[name])
        except DesignError:  # a range of one value: what the trials have decides
            continue
    return ranges


def _range(distributions: Sequence[Any], seen: set[Value]) -> Range:
    kinds = {type(d).__name__ for d in distributions}
    if kinds == {"CategoricalDistribution"}:
        values = [plain_value(v) for d in distributions for v in d.choices]
        return Choice(tuple({(isinstance(v, bool), v): v for v in values}.values()))
    if "CategoricalDistribution" in kinds:
        raise DesignError("importers.values_and_range")
    low, high = min(d.low for d in distributions), max(d.high for d in distributions)
    on_log = all(d.log for d in distributions)
    grid = _grid(distributions, seen)
    if grid is not None:
        return Choice(grid)
    if kinds == {"IntDistribution"}:
        return Integers(low, high, log=on_log)
    return Log(low, high) if on_log else Linear(low, high)


def _grid(distributions: Sequence[Any], seen: set[Value]) -> tuple[Value, ...] | None:
    """The points of a range with a step, as the trials have them to the last digit."""
    (first, *others) = distributions
    step = first.step
    if others or step is None or (step == 1 and isinstance(step, int)):
        return None
    count = round((first.high - first.low) / step) + 1
    if count > _MOST_STEPS:
        return None
    points: list[Value] = []
    for place in range(count):
        exact = first.low + place * step
        close = [v for v in seen if abs(float(v or 0) - exact) < 1e-6 * step]
        points.append(close[0] if close else exact)
    return tuple(points)


def _notes(
    trials: Sequence[Any], taken: Sequence[ForeignTrial], metrics: Sequence[str], known: bool
) -> Iterator[Message]:
    if len(taken) < len(trials):
        yield Message("imported.unfinished", {"count": len(trials) - len(taken)})
    counts: Mapping[str, int] = {
        state: sum(t.state.name == state for t in trials) for state in ("PRUNED", "FAIL")
    }
    if counts["PRUNED"]:
        yield Message("imported.pruned", {"count": counts["PRUNED"]})
    unclear = sum(t.reason is not None and t.reason.code == NO_REASON for t in taken)
    if unclear:
        yield Message("imported.no_reason", {"count": unclear})
    if len(metrics) > 1:
        yield Message("imported.several_objectives", {"metrics": list(metrics)})
    if not known:
        yield Message("imported.sampler_unknown")
