"""Weights & Biases: the table of runs that its web page exports, and folders of offline runs.

The exported table has final values alone and mixes settings with metrics, so these are separated
by name. An offline run's `.wandb` file has its whole history. Where only the files beside it are
left, `config.yaml` and `wandb-summary.json` give the settings and the final values.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

from tunewright.design.objective import Objective
from tunewright.errors import DesignError, MissingExtra, NotFound, Unreadable
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.columns import is_row_index
from tunewright.importers.files import csv_columns, existing, files_below, reading, text_in
from tunewright.importers.foreign import (
    ForeignTrial,
    PointsInOrder,
    Source,
    first_non_finite,
    flattened,
    no_reason,
    number_or_none,
    parsed,
    plain_name,
    whole_or_none,
)
from tunewright.importers.metric_names import looks_like_metric
from tunewright.importers.nearest import did_you_mean
from tunewright.importers.wandb_file import OfflineRun, read_run
from tunewright.messages import Message
from tunewright.store import plain_json
from tunewright.store.results import Results
from tunewright.store.trial import Status

# columns of the exported table that are about the run itself
ABOUT = {
    *("Name", "ID", "State", "Notes", "User", "Tags", "Created", "Runtime", "Sweep", "Group"),
    *("Job Type", "Hostname", "Host", "Description", "Commit", "GitHub", "GPU Count", "GPU Type"),
    *("Updated", "End Time", "Start Time", "Sweep Name", "Project", "Entity", "Agent"),
}
LARGEST_YAML = 2**24  # bytes of a config.yaml
MOST_NODES = 100_000  # of a YAML document, every alias followed
DEEPEST_YAML = 100
ENDED = {"finished": "completed", "crashed": "failed", "failed": "failed", "killed": "failed"}


def wandb(
    path: str | os.PathLike[str],
    *,
    objective: Objective,
    metrics: Sequence[str] = (),
    **options: Unpack[Options],
) -> Results:
    """Results of W&B runs: an exported `.csv` file, or a folder with offline runs.

        tw.importers.wandb("wandb", objective=tw.minimize("val_loss"))

    Args:
        path: the exported file, or the folder with offline runs.
        objective: the metric that judges the runs.
        metrics: columns of a table that are metrics, besides those that read like one.
        options: of every importer: name, round, roles, ranges, means, search.
    """
    found = existing(path, "W&B export")
    with reading(found, "an export or a folder of offline runs of W&B"):
        if found.is_dir():
            trials, notes = _offline(found, objective.metric)
        else:
            trials, notes = _exported(found, objective, metrics)
    name = plain_name(found.resolve().stem)
    origin = f"the W&B {'folder' if found.is_dir() else 'export'} {plain_name(found.name)}"
    source = Source(origin, name, tuple(trials), notes=tuple(notes))
    return take_over(source, objective, options)


# the exported table


def _exported(
    path: Path, objective: Objective, metrics: Sequence[str]
) -> tuple[list[ForeignTrial], list[Message]]:
    table = csv_columns(path)
    named = {objective.metric, *objective.subject_to, *metrics}
    for name in sorted(named - set(table)):
        raise DesignError(
            "importers.wandb_column_missing", name=name, hint=did_you_mean(name, table)
        )
    measured = [n for n in table if n in named or (looks_like_metric(n) and n not in ABOUT)]
    not_set = {*ABOUT, *measured, *(n for n in table if n.startswith("_"))}
    settings = [n for n in table if n not in not_set and not is_row_index(n, table[n])]
    trials, unfinished = [], 0
    for row in range(len(next(iter(table.values())))):
        state = table["State"][row].lower() if "State" in table else "finished"
        if state not in ENDED:
            unfinished += 1
            continue
        step = whole_or_none(table["_step"][row]) if "_step" in table else None
        points = PointsInOrder()
        for name in measured:
            number = number_or_none(table[name][row])
            if number is not None:
                points.add(name, 1 if step is None else step, number)
        configuration = {n: parsed(table[n][row]) for n in settings if table[n][row].strip()}
        label = table["Name"][row] if "Name" in table else str(row)
        seconds = number_or_none(table["Runtime"][row]) if "Runtime" in table else None
        trials.append(_trial(label, configuration, state, points, seconds or 0.0, objective.metric))
    notes = [Message("imported.final_values")]
    if unfinished:
        notes.append(Message("imported.unfinished", {"count": unfinished}))
    return trials, notes


def _trial(
    name: str,
    configuration: dict[str, Any],
    state: str,
    points: PointsInOrder,
    seconds: float,
    metric: str,
) -> ForeignTrial:
    status: Status = "completed" if ENDED[state] == "completed" else "failed"
    reason: Message | None = None
    if status == "failed":
        diverged = first_non_finite(points.points(), [metric])
        reason = diverged or no_reason("W&B", state)
        status = "infeasible" if diverged else status
    return ForeignTrial(
        name, flattened(configuration), status, reason, points.points(), max(seconds, 0.0)
    )


# folders of offline runs


def _offline(root: Path, metric: str) -> tuple[list[ForeignTrial], list[Message]]:
    files = list(files_below(root))
    logs = [path for path in files if path.suffix == ".wandb"]
    covered = {path.parent for path in logs}
    bare = [
        path.parent
        for path in files
        if path.name == "wandb-summary.json" and path.parent.parent not in covered
    ]
    if not logs and not bare:
        raise NotFound("importers.wandb_no_run", folder=root)
    trials, torn = [], 0
    for path in logs:
        run = read_run(path)
        torn += run.torn
        # what the sink of this package wrote of a trial is no metric of it
        logged = {n: v for n, v in run.summary.items() if not n.startswith("tunewright.")}
        run.points.add_at_end(logged.items())
        trials.append(
            _trial(
                run.name or path.stem, run.config, _state(run), run.points, run.runtime_s, metric
            )
        )
    for folder in bare:
        trials.append(_from_files(folder, metric))
    return trials, list(_notes(torn, len(bare)))


def _state(run: OfflineRun) -> str:
    if run.exit_code is None:
        return "crashed"  # killed, or still running: W&B shows it so too
    return "finished" if run.exit_code == 0 else "failed"


def _from_files(folder: Path, metric: str) -> ForeignTrial:
    """The settings and final values, where the history is gone."""
    points = PointsInOrder()
    summary = plain_json.read_object(folder / "wandb-summary.json")
    step = whole_or_none(summary.get("_step")) or 1
    for name, value in summary.items():
        number = number_or_none(value)
        if number is not None and not name.startswith("_"):
            points.add(name, step, number)
    config = folder / "config.yaml"
    settings = read_yaml(config) if config.is_file() else {}
    plain = {
        name: own["value"] if isinstance(own, dict) and "value" in own else own
        for name, own in settings.items()
        if name not in ("wandb_version", "_wandb")
    }
    seconds = number_or_none(summary.get("_runtime")) or 0.0
    return _trial(folder.parent.name, plain, "finished", points, seconds, metric)


def read_yaml(path: Path) -> dict[str, Any]:
    """A small YAML file of settings; Unreadable where it is no such file, or endless."""
    try:
        import yaml
    except ImportError as error:
        raise MissingExtra("importers.yaml_missing", path=path) from error
    try:
        loader = yaml.SafeLoader(text_in(path, LARGEST_YAML))
        root = loader.get_single_node()
        _refuse_aliases(root, path)
        found = loader.construct_document(root) if root is not None else {}
    except (yaml.YAMLError, ArithmeticError, LookupError, RecursionError, TypeError) as error:
        raise Unreadable("importers.not_yaml", line=_line(error), path=str(path)) from None
    except (AttributeError, ValueError) as error:  # dates and numbers that are none
        raise Unreadable("importers.not_yaml", line=_line(error), path=str(path)) from None
    return found if isinstance(found, dict) else {}


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _refuse_aliases(root: Any, path: Path) -> None:
    """Refuse a document that aliases make endless, or far larger than its text."""
    waiting = [(root, 0)]
    for _ in range(MOST_NODES):
        if not waiting:
            return
        node, depth = waiting.pop()
        if depth > DEEPEST_YAML:
            break
        for part in node.value if isinstance(getattr(node, "value", None), list) else ():
            own = part if isinstance(part, tuple) else (part,)
            waiting += [(inner, depth + 1) for inner in own]
    raise Unreadable(
        "importers.yaml_too_large",
        most_nodes=MOST_NODES,
        deepest_yaml=DEEPEST_YAML,
        path=str(path),
    )


def _notes(torn: int, bare: int) -> Iterator[Message]:
    if torn:
        yield Message("imported.torn_files", {"count": torn})
    if bare:
        yield Message("imported.no_curves", {"count": bare})
