"""The Hugging Face Trainer reports to the current trial: a callback, and arguments made for it.

    arguments = tunewright.integrations.transformers.training_arguments(eval_strategy="steps")
    report = tunewright.integrations.transformers.callback()
    trainer = Trainer(model, arguments, ..., callbacks=[report])
    trainer.train(resume_from_checkpoint=report.checkpoint)

Trainers that build on it (TRL, for one) take the same callback. Without a trial it does nothing.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from tunewright.errors import Stopped
from tunewright.execution import cadence
from tunewright.execution.reported_values import plain_values
from tunewright.execution.training_run import Run
from tunewright.integrations._checkpoints import Checkpoints
from tunewright.integrations._library import (
    eval_every_of,
    from_all_ranks,
    handle,
    library,
    listen,
    numbers_in,
    optimizer_values,
    stop_here,
    wait_for_ranks,
)
from tunewright.messages import Message

FOLDER = "transformers"  # of checkpoints, in the folder of the trial
_SUMMARY = "train_runtime"  # in what the Trainer logs last: means over all of training
# of TrainingArguments: what changes what is learned
_USED = (
    *("learning_rate", "weight_decay", "adam_beta1", "adam_beta2", "adam_epsilon", "optim"),
    *("lr_scheduler_type", "warmup_steps", "max_steps", "num_train_epochs", "max_grad_norm"),
    *("per_device_train_batch_size", "gradient_accumulation_steps", "seed", "data_seed"),
    *("label_smoothing_factor", "bf16", "fp16"),
)


def callback(run: Run | None = None) -> Any:
    """A `TrainerCallback` for the trial of this program, or of the handle `run`."""
    base = library("transformers").TrainerCallback
    return type("Tunewright", (_Reports, base), {})(handle(run))


def training_arguments(run: Run | None = None, kind: Any = None, **given: Any) -> Any:
    """`TrainingArguments` of the trial: its hyperparameters, folder, seed, and when to save.

    Hyperparameters with the name of an argument are taken over; whatever is given wins. `kind` is
    another class of arguments, such as TRL's `SFTConfig`.
    """
    run = handle(run)
    kind = kind or library("transformers").TrainingArguments
    names = {field.name for field in dataclasses.fields(kind)}
    settings = {name: value for name, value in run.configuration.items() if name in names}
    folder = run.folder / FOLDER
    proposed: dict[str, Any] = {"output_dir": str(folder), "report_to": "none"}
    if not run.alone:
        proposed["seed"] = run.seeds.init % 2**32
        steps = int(given.get("max_steps", settings.get("max_steps", run.total or 0)) or 0)
        if steps > 0:
            period = cadence.period(steps, cadence.EVALUATIONS)
            proposed |= {
                "max_steps": steps,
                "save_strategy": "steps",
                "save_steps": cadence.period(steps, cadence.SNAPSHOTS),
                "eval_steps": eval_every_of(run) or period,
                "logging_steps": period,
            }
    return kind(**{**proposed, **settings, **given})


class _Reports:
    """The hooks of a Trainer callback."""

    def __init__(self, run: Run) -> None:
        """Nothing is looked up before the Trainer calls a hook."""
        super().__init__()
        self.run = run
        self._checkpoints = Checkpoints(run, FOLDER)
        self._stop_at: int | None = None

    @property
    def checkpoint(self) -> str | None:
        """The checkpoint to resume from; None at a fresh start."""
        latest = self._checkpoints.latest
        return None if latest is None else str(latest)

    def on_init_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Give each trial its own output folder: those of several trials would be mixed in one."""
        if not self.run.alone and not Path(args.output_dir).is_relative_to(self.run.folder):
            args.output_dir = str(self.run.folder / FOLDER)

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Report the arguments that are really used, and where training begins."""
        if self.run.alone:
            return
        self.on_init_end(args, state, control)  # a callback that was added after the Trainer
        listen(self.run)
        if state.global_step != self.run.start_step:  # from a checkpoint that we did not save
            self.run.resumed_at(state.global_step)
        names = dict.fromkeys((*self.run.configuration, *_USED))
        used = {name: getattr(args, name) for name in names if hasattr(args, name)}
        optimizer = more.get("optimizer")
        held = optimizer_values([] if optimizer is None else [optimizer])
        self.run.applied(from_all_ranks(plain_values(used) | held))

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
        """Log losses, gradient norm, learning rate and evaluations at the number of updates."""
        if state.is_world_process_zero and logs and _SUMMARY not in logs:
            self.run.log(state.global_step, numbers_in(logs))

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> Any:
        """Save and stop when it is requested, on every rank at the same step."""
        if not self.run.alone and stop_here(self.run):
            self._stop_at = state.global_step
            control.should_save = control.should_training_stop = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """Save a snapshot that names the checkpoint, once every rank has written its part."""
        if self.run.alone:
            return
        path = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        wait_for_ranks()
        if state.is_world_process_zero:
            best = Path(state.best_model_checkpoint or path).name  # loaded at the end, on request
            self._checkpoints.keep(state.global_step, path, [best])  # a stop ends the trial below

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        """End a trial that was asked to stop; the Trainer has left its loop on every rank."""
        self.run.flush()
        if self._stop_at is not None:
            wait_for_ranks()
            raise Stopped(Message("stopped.after_saving", {"step": self._stop_at}))
