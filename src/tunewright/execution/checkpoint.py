"""What an offline evaluation receives: the selected checkpoint of one trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tunewright import snapshot
from tunewright.design.ranges import Value
from tunewright.errors import BadValue, SnapshotError
from tunewright.execution.reported_values import short_text
from tunewright.execution.training_run import Run
from tunewright.messages import Message
from tunewright.seeds import Seeds

# how the place of a checkpoint travels beside the configuration; no argument can be called so
PLACE = "run.checkpoint"
STEP = "run.step"
FOLDER = "run.trial_folder"


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A trial as an evaluation function sees it: configuration, state, and where things are.

    >>> from tunewright.seeds import seeds
    >>> point = Checkpoint(number=3, configuration={"width": 64}, step=900, folder=Path("trial_3"),
    ...                    path=None, seeds=seeds(7))
    >>> point.configuration["width"], point.step
    (64, 900)
    """

    number: int | None  # the trial's number in its round; None for a repeat
    configuration: Mapping[str, Value]  # of the trial
    step: int  # updates the checkpoint has had
    folder: Path  # the trial's own, with whatever the training program left there
    path: Path | None  # the snapshot; None where the program keeps its own checkpoints
    seeds: Seeds = field(repr=False)  # the trial's: `seeds.split` finds its data split again
    devices: tuple[str, ...] = ()  # that the evaluation may use

    @property
    def state(self) -> Any:
        """What `run.save` was given, on the CPU."""
        if self.path is None:
            raise SnapshotError("checkpoint.no_snapshot", trial=self.number)
        return snapshot.load(self.path)


@dataclass(frozen=True)
class Measuring:
    """An evaluation function in the place of a training function, so that any executor runs it."""

    measure: Callable[[Checkpoint], Mapping[str, Any]]

    def __call__(self, run: Run, **given: Value) -> None:
        """Measure one checkpoint and log what came of it at its step."""
        place, step, folder = (given.pop(name) for name in (PLACE, STEP, FOLDER))
        assert isinstance(step, int)
        checkpoint = Checkpoint(
            number=run.number,
            configuration=given,
            step=step,
            folder=Path(str(folder)),
            path=None if place is None else Path(str(place)),
            seeds=run.seeds,
            devices=run.devices,
        )
        metrics = self.measure(checkpoint)
        if not isinstance(metrics, Mapping) or not metrics:
            raise BadValue(Message("evaluation.no_metrics", {"value": short_text(metrics)}))
        run.log(step, metrics)
