"""Ray Tune's result folders: `params.json`, `result.json` (or `progress.csv`) and `error.txt`.

The pickled files beside them are never opened. Whether trials ran to their end is read from the
experiment's state; a scheduler's early stop leaves no other trace than a short curve.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Unpack

from tunewright.design.objective import Objective
from tunewright.errors import DesignError, NotFound
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.files import (
    csv_columns,
    did_you_mean,
    existing,
    files_below,
    json_lines,
    reading,
    text_in,
)
from tunewright.importers.foreign import (
    ForeignTrial,
    PointsInOrder,
    Source,
    first_non_finite,
    flat_settings,
    no_reason,
    number_or_none,
    plain_name,
    whole_or_none,
)
from tunewright.messages import Message
from tunewright.store import plain_json
from tunewright.store.outcome import foreign
from tunewright.store.results import Results

_STEP = "training_iteration"
# what Ray adds to every result
_BOOKKEEPING = {
    *("timestamp", "checkpoint_dir_name", "done", "training_iteration", "trial_id", "date"),
    *("time_this_iter_s", "time_total_s", "pid", "hostname", "node_ip", "config"),
    *("time_since_restore", "iterations_since_restore", "experiment_tag", "should_checkpoint"),
    *("warmup_time", "experiment_id", "timesteps_since_restore"),
}
_LAID_OUT = "basic-variant-state-"  # the file of Ray's own generator: random draws and grids
_DEEPEST = 20  # of nested results


def ray_tune(
    folder: str | os.PathLike[str],
    *,
    objective: Objective,
    step: str = _STEP,
    **options: Unpack[Options],
) -> Results:
    """Results of a Ray Tune experiment: the folder that holds the trials' folders.

        tw.importers.ray_tune("ray_results/mnist", objective=tw.minimize("val_loss"))

    Args:
        folder: the folder of the experiment.
        objective: the metric that judges the trials.
        step: the reported number to use as step in place of Ray's count of reports.
        options: of every importer: name, round, roles, ranges, means, search.
    """
    root = existing(folder, "folder")
    files = list(files_below(root))
    folders = sorted(
        {path.parent for path in files if path.name in ("result.json", "progress.csv")}
    )
    if not folders:
        raise NotFound("importers.ray_tune_no_trials", folder=root)
    with reading(root, "the folder of a Ray Tune experiment"):
        states = dict(_states(path for path in files if path.name.startswith("experiment_state")))
    trials, unfinished = [], 0
    for trial_folder in folders:
        with reading(trial_folder, "the folder of a trial of Ray Tune"):
            trial, status = _trial(trial_folder, states, objective.metric, step)
        if status in ("RUNNING", "PENDING", "PAUSED"):
            unfinished += 1
        else:
            trials.append(trial)
    known = any(path.name.startswith(_LAID_OUT) for path in files)
    source = Source(
        origin=f"the Ray Tune experiment {plain_name(root.resolve().name)}",
        name=plain_name(root.resolve().name),
        trials=tuple(trials),
        search="random" if known else "ray",
        notes=tuple(_notes(trials, unfinished, known or "search" in options)),
    )
    return take_over(source, objective, options)


def _states(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """The status of each trial, as the experiment's newest state has it."""
    for path in sorted(paths):
        for entry in plain_json.read_object(path).get("trial_data") or ():
            first = entry[0] if isinstance(entry, list) and entry else entry
            try:
                data = json.loads(first) if isinstance(first, str) else first
            except (ValueError, RecursionError):
                continue
            if isinstance(data, dict) and "trial_id" in data:
                yield str(data["trial_id"]), str(data.get("status", ""))


def _trial(
    folder: Path, states: Mapping[str, str], metric: str, step: str
) -> tuple[ForeignTrial, str]:
    points, last = PointsInOrder(), {}
    configuration: Any = {}
    for place, result in enumerate(_results(folder), start=1):
        last = result
        configuration = result.get("config") or configuration
        flat = dict(_numbers(result))
        if step != _STEP and step not in flat:
            raise DesignError(
                "importers.ray_tune_no_step",
                folder=folder.name,
                step=step,
                hint=did_you_mean(step, flat),
            )
        at = whole_or_none(flat[step] if step != _STEP else result.get(_STEP, place))
        for name, value in flat.items():
            if name != step:
                points.add(name, place if at is None else at, value)
    if (folder / "params.json").is_file():
        configuration = plain_json.read_object(folder / "params.json")
    identity = str(last.get("trial_id") or folder.name)
    status = states.get(identity, "")
    error = folder / "error.txt"
    broken = error.is_file() or status == "ERROR"
    detail = text_in(error) if error.is_file() else ""
    diverged = first_non_finite(points.points(), [metric]) if broken else None
    reason = diverged or (_last_line(detail) if broken else None)
    trial = ForeignTrial(
        name=folder.name,
        configuration=flat_settings(configuration if isinstance(configuration, dict) else {}),
        status=("infeasible" if diverged else "failed") if broken else "completed",
        reason=reason,
        points=points.points(),
        seconds=number_or_none(last.get("time_total_s")) or 0.0,
        number=whole_or_none(identity.rsplit("_", 1)[-1]),
        detail=detail,
    )
    return trial, "ERROR" if broken else status


def _results(folder: Path) -> Iterator[dict[str, Any]]:
    """What the trial reported, in order."""
    lines = folder / "result.json"
    if lines.is_file() and lines.stat().st_size:
        yield from json_lines(lines)
    elif (folder / "progress.csv").is_file() and (folder / "progress.csv").stat().st_size:
        columns = csv_columns(folder / "progress.csv")
        for row in zip(*columns.values(), strict=True):
            yield {name: cell for name, cell in zip(columns, row, strict=True) if cell != ""}


def _numbers(result: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Every number that was reported, nested ones under a path as Ray writes it."""
    if prefix.count("/") > _DEEPEST:
        return
    for name, value in result.items():
        if not prefix and name in _BOOKKEEPING:
            continue
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{prefix}{name}/")
        elif (number := number_or_none(value)) is not None:
            yield f"{prefix}{name}", number


def _last_line(text: str) -> Message | None:
    """The reason in an error file: the last line of a traceback names the exception."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return foreign("Ray Tune", lines[-1]) if lines else no_reason("Ray Tune", "failed")


def _notes(trials: list[ForeignTrial], unfinished: int, known: bool) -> Iterator[Message]:
    if unfinished:
        yield Message("imported.unfinished", {"count": unfinished})
    ends = [
        max((max(steps) for steps, _ in trial.points.values()), default=0)
        for trial in trials
        if trial.status == "completed"
    ]
    short = sum(end < max(ends) for end in ends) if ends else 0
    if short:
        facts = {"count": short, "of": len(ends), "step": max(ends)}
        yield Message("imported.ended_early", facts)
    if not known:
        yield Message("imported.search_not_rays")
