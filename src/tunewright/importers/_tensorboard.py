"""TensorBoard folders: every folder with event files is a trial.

Hyperparameters come from the hparams plugin, or from `configurations=`, by folder; without either
the trials have curves alone. Two habits of writers are known: PyTorch's `add_hparams` and
`add_scalars` write into folders below the trial's own, and Keras writes `train` and `validation`
folders, which are one trial with tags such as `validation/epoch_loss`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.errors import DesignError, NotFound
from tunewright.formats.event_file import EVENTS, Events, read_events, tag_prefix
from tunewright.importers.build_round import Options, take_over
from tunewright.importers.files import did_you_mean, existing, files_below, reading
from tunewright.importers.foreign import (
    ForeignTrial,
    PointsInOrder,
    Source,
    first_non_finite,
    flat_settings,
    no_reason,
    plain_name,
)
from tunewright.messages import Message
from tunewright.store.results import Results
from tunewright.store.trial import Status


def tensorboard(
    folder: str | os.PathLike[str],
    *,
    objective: Objective,
    configurations: Mapping[str, Mapping[str, Any]] | None = None,
    **options: Unpack[Options],
) -> Results:
    """Results of the event files below a folder, one trial for each folder that has some.

        tw.importers.tensorboard("runs", objective=tw.minimize("val_loss"))

    Args:
        folder: the folder below which the event files are.
        objective: the metric that judges the runs.
        configurations: hyperparameters by folder ("run_1"), where none were logged.
        options: of every importer: name, round, roles, ranges, means, search.
    """
    root = existing(folder, "folder")
    with reading(root, "a folder of TensorBoard's event files"):
        read = _read(root)
    if not read:
        raise NotFound("importers.tensorboard_no_events", folder=root, events=EVENTS)
    torn = [
        name for name, trial_folder in read.items() if any(e.torn for _, e in trial_folder.events)
    ]
    trials = _merge_sessions(read)
    for name, settings in (configurations or {}).items():
        if name not in trials:
            raise DesignError(
                "importers.tensorboard_no_trial", name=name, hint=did_you_mean(name, trials)
            )
        trials[name].configuration |= flat_settings(settings)
    notes = []
    if torn:
        notes.append(Message("imported.torn_events", {"count": len(torn)}))
    without = [name for name, trial_folder in trials.items() if not trial_folder.configuration]
    if without:
        facts = {"count": len(without), "of": len(trials)}
        notes.append(Message("imported.no_hyperparameters", facts))
    source = Source(
        origin=f"the TensorBoard folder {plain_name(root.resolve().name)}",
        name=plain_name(root.resolve().name),
        trials=tuple(
            _trial(name, trial_folder, objective.metric) for name, trial_folder in trials.items()
        ),
        notes=tuple(notes),
    )
    return take_over(source, objective, options)


@dataclass
class _Folder:
    events: list[tuple[str, Events]] = field(default_factory=list)  # with the prefix of its tags
    configuration: dict[str, Value] = field(default_factory=dict)

    @property
    def speaks(self) -> bool:
        """Whether there is anything of a trial in it."""
        return bool(self.configuration) or any(e.scalars for _, e in self.events)


def _read(root: Path) -> dict[str, _Folder]:
    folders: dict[str, _Folder] = {}
    for path in files_below(root):
        if EVENTS in path.name:
            folder = path.parent.relative_to(root)
            prefix = tag_prefix(folder.name)
            folder_read = folders.setdefault(str(folder.parent if prefix else folder), _Folder())
            events = read_events(path)
            folder_read.events.append((prefix, events))
            folder_read.configuration |= flat_settings(events.hyperparameters)
    return folders


def _merge_sessions(folders: Mapping[str, _Folder]) -> dict[str, _Folder]:
    """Trials: folders below one that has events itself are parts of it.

    Unless several of them have hyperparameters: then each is a trial.
    """
    sessions = Counter(_parent(name) for name, folder in folders.items() if folder.configuration)
    trials: dict[str, _Folder] = {}
    for name in sorted(folders, key=lambda n: (n != ".", n.count(os.sep), n)):
        folder, parent = folders[name], _parent(name)
        if parent == ".":  # trials stand side by side there; one session is the folder's own
            joins = name != "." and parent in trials and sessions[parent] == 1
            joins = joins and bool(folder.configuration)
        else:
            joins = parent in trials and sessions[parent] <= 1
        if joins:
            trials[parent].events += folder.events
            trials[parent].configuration |= folder.configuration
        else:
            trials[name] = folder
    return {name: folder for name, folder in trials.items() if folder.speaks}


def _parent(name: str) -> str:
    return str(Path(name).parent)


def _trial(name: str, folder: _Folder, metric: str) -> ForeignTrial:
    points = PointsInOrder()
    for prefix, events in folder.events:
        for tag, step, value in events.scalars:
            points.add(prefix + tag, step, value)
    starts = [e.first_s for _, e in folder.events if e.first_s is not None]
    ends = [e.last_s for _, e in folder.events if e.last_s is not None]
    status: Status = "failed" if any(e.failed for _, e in folder.events) else "completed"
    reason: Message | None = None
    if status == "failed":
        diverged = first_non_finite(points.points(), [metric])
        status = "infeasible" if diverged else status
        reason = diverged or no_reason("TensorBoard", "failed")
    return ForeignTrial(
        name=name,
        configuration=folder.configuration,
        status=status,
        reason=reason,
        points=points.points(),
        seconds=max(max(ends) - min(starts), 0.0) if starts and ends else 0.0,
    )
