"""Keras 3 reports to the current trial: a callback that logs, saves, stops and resumes.

    report = tunewright.integrations.keras.callback()
    model.fit(x, y, epochs=epochs, validation_data=(xv, yv), callbacks=[report])

Steps are updates of the optimizer (`optimizer.iterations`), not epochs. A resumed `fit` loads the
weights and the optimizer's state and continues in the same epoch. Without a trial it does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tunewright.execution.training_run import Run
from tunewright.integrations._checkpoints import Checkpoints, save_due
from tunewright.integrations._library import handle, library, listen, numbers_in

FOLDER = "keras"  # of checkpoints, in the folder of the trial
_WEIGHTS = "state.weights.h5"  # the name by which Keras knows the form; with the optimizer's state


def callback(run: Run | None = None) -> Any:
    """A `keras.callbacks.Callback` for the trial of this program, or of the handle `run`."""
    base = library("keras").callbacks.Callback
    return type("Tunewright", (_Reports, base), {})(handle(run))


class _Reports:
    """The hooks of a Keras callback."""

    model: Any
    params: Any

    def __init__(self, run: Run) -> None:
        """Nothing is looked up before Keras calls a hook."""
        super().__init__()
        self.run = run
        self._checkpoints = Checkpoints(run, FOLDER)
        self._reported = False

    def on_train_begin(self, logs: Any = None) -> None:
        """Report what `fit` received, and load the state of an earlier attempt."""
        if self.run.alone:
            return
        listen(self.run)
        self.run.applied(dict(self.params or {}))
        if (latest := self._checkpoints.latest) is not None:
            self.model.optimizer.build(self.model.trainable_variables)
            self.model.load_weights(str(latest / _WEIGHTS))
            if steps := self._steps_per_epoch():
                # as keras.callbacks.BackupAndRestore does
                self.model._initial_epoch = self.run.start_step // steps

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Log the means of the epoch so far; end where the last epoch would have ended."""
        if self.run.alone:
            return
        if not self._reported:  # by now callbacks have set the learning rate
            self._reported = True
            self.run.applied({"optimizer": self.model.optimizer.get_config()})
        step = self._step()
        self.run.log(step, numbers_in(logs))
        total = self._total()
        if total is not None and step >= total:
            self.model.stop_training = True
        if self.run.stop_asked:
            self._save(step)

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Log the validation of this epoch, and save when it is due."""
        if self.run.alone:
            return
        step, before = self._step(), self._step() - (self._steps_per_epoch() or 1)
        validated = {name: v for name, v in numbers_in(logs).items() if name.startswith("val_")}
        self.run.log(step, validated)
        total = self._total()
        # a checkpoint that was due during the epoch is saved at its end
        if any(save_due(earlier, total) for earlier in range(max(before, 0) + 1, step + 1)):
            self._save(step)

    def on_train_end(self, logs: Any = None) -> None:
        """Report what is still held."""
        self.run.flush()

    def _save(self, step: int) -> None:
        def write(folder: Path) -> None:
            folder.mkdir(parents=True)
            self.model.save_weights(str(folder / _WEIGHTS))

        self._checkpoints.write(step, write, first=True, wait=_nothing)
        self._checkpoints.register(first=True, wait=_nothing)

    def _step(self) -> int:
        return int(self.model.optimizer.iterations)

    def _steps_per_epoch(self) -> int | None:
        steps = (self.params or {}).get("steps")
        return int(steps) if steps else None

    def _total(self) -> int | None:
        steps, epochs = self._steps_per_epoch(), (self.params or {}).get("epochs")
        return steps * int(epochs) if steps and epochs else self.run.total


def _nothing() -> None:
    """One rank has nobody to wait for."""
