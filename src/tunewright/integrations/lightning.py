"""Lightning reports to the current trial: a callback that logs, saves, stops and resumes.

    report = tunewright.integrations.lightning.callback()
    trainer = lightning.Trainer(callbacks=[report], ...)
    trainer.fit(model, data, ckpt_path=report.checkpoint)

It adds a logger to the trainer, so everything that `self.log` logs reaches the trial, by the
number of updates. Without a trial it does nothing.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tunewright.errors import Ended
from tunewright.execution.reported_values import plain_values
from tunewright.execution.training_run import Run
from tunewright.integrations._checkpoints import Checkpoints, save_due
from tunewright.integrations._library import (
    ask_stop,
    from_all_ranks,
    handle,
    library,
    listen,
    numbers_in,
    optimizer_values,
)

FOLDER = "lightning"  # of checkpoints, in the folder of the trial
_USERS_FOLDER = "checkpoints"  # of the user's ModelCheckpoint, where it names no folder


def callback(run: Run | None = None) -> Any:
    """A `lightning.Callback` for the trial of this program, or of the handle `run`."""
    kind = type("Tunewright", (_Reports, library("lightning").Callback), {})
    return kind(handle(run))


def logger(run: Run | None = None) -> Any:
    """A `Logger` alone: metrics and hyperparameters reach the trial, nothing is saved."""
    base = library("lightning.pytorch.loggers").Logger
    return type("TunewrightLogger", (_Logs, base), {})(handle(run))


class _Logs:
    """The methods of a Lightning logger."""

    name = "tunewright"

    def __init__(self, run: Run) -> None:
        """`trainer` counts updates once a callback has set it; Lightning counts from 0."""
        super().__init__()
        self.run = run
        self.trainer: Any = None

    @property
    def version(self) -> str:
        """The trial's number."""
        return "" if self.run.number is None else str(self.run.number)

    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Log metrics at the number of updates done."""
        trainer = self.trainer
        if trainer is None:
            self.run.log((step or 0) + 1, numbers_in(metrics))
        elif trainer.is_global_zero and not trainer.sanity_checking and trainer.state.fn == "fit":
            self.run.log(trainer.global_step, numbers_in(metrics))

    def log_hyperparams(self, params: Any, *args: Any, **more: Any) -> None:
        """Report the module's hyperparameters as the values that it used."""
        given = vars(params) if isinstance(params, Namespace) else params
        if isinstance(given, Mapping):
            self.run.applied(given)


class _Reports:
    """The hooks of a Lightning callback."""

    def __init__(self, run: Run) -> None:
        """Nothing is looked up before Lightning calls a hook."""
        super().__init__()
        self.run = run
        self._checkpoints = Checkpoints(run, FOLDER)
        self._reported = False

    @property
    def checkpoint(self) -> str | None:
        """The checkpoint to resume from, for `fit(ckpt_path=...)`; None at a fresh start."""
        latest = self._checkpoints.latest
        return None if latest is None else str(latest)

    def setup(self, trainer: Any, module: Any, stage: str) -> None:
        """Add the logger, unless one is there; give each trial's ModelCheckpoint its own folder."""
        if not self.run.alone:
            for saver in trainer.checkpoint_callbacks:
                # else trials write into one folder, and a resumed one forgets its best checkpoint
                if getattr(saver, "dirpath", "") is None:
                    saver.dirpath = str(self.run.folder / _USERS_FOLDER)
        loggers = [each for each in trainer.loggers if isinstance(each, _Logs)]
        if not loggers and not self.run.alone:
            loggers = [logger(self.run)]
            trainer.loggers = [*trainer.loggers, *loggers]
        for each in loggers:
            each.trainer = trainer

    def on_train_start(self, trainer: Any, module: Any) -> None:
        """Report the module's values; Lightning has replaced the handler of SIGTERM."""
        listen(self.run)
        if not self.run.alone:
            self.run.applied(from_all_ranks(plain_values(dict(module.hparams))))

    def on_before_optimizer_step(self, trainer: Any, module: Any, optimizer: Any) -> None:
        """Report the optimizers' values once, and log the gradient norm before clipping."""
        if self.run.alone:
            return
        if not self._reported:
            self._reported = True
            self.run.applied(from_all_ranks(optimizer_values(trainer.optimizers)))
        step = trainer.global_step + 1
        if not trainer.is_global_zero or step % trainer.log_every_n_steps:
            return
        torch = library("torch")
        gradients = [p.grad for p in module.parameters() if p.grad is not None]
        if gradients:
            norms = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients])
            self.run.log(step, grad_norm=torch.linalg.vector_norm(norms))

    def on_train_batch_end(
        self, trainer: Any, module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Save when it is due or a stop is requested, on every rank at the same step."""
        if self.run.alone:
            return
        step = trainer.global_step
        stop = trainer.strategy.reduce_boolean_decision(self.run.stop_asked, all=False)
        if stop and not self.run.stop_asked:
            ask_stop(self.run)
        if stop or save_due(step, self._total(trainer)):
            self._checkpoints.write(
                step,
                trainer.save_checkpoint,
                first=trainer.is_global_zero,
                wait=trainer.strategy.barrier,
            )

    def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, batch_idx: int) -> None:
        """Register the last checkpoint: by now Lightning has logged and validated its step."""
        self._register(trainer)

    def on_train_end(self, trainer: Any, module: Any) -> None:
        """Register the checkpoint of the last step."""
        self._register(trainer)

    def _register(self, trainer: Any) -> None:
        first, wait = trainer.is_global_zero, trainer.strategy.barrier
        self._checkpoints.register(first=first, wait=wait)

    def on_exception(self, trainer: Any, module: Any, exception: BaseException) -> None:
        """Report what was logged before the exception."""
        with suppress(Ended):
            self.run.flush()

    def _total(self, trainer: Any) -> int | None:
        steps = trainer.estimated_stepping_batches
        return int(steps) if 0 < steps < float("inf") else self.run.total
