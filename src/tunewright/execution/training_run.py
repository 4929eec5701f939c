"""The protocol of `run`, the first argument of a training function: steps, metrics, snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from tunewright.design.ranges import Value
from tunewright.seeds import Seeds


class Run(Protocol):
    """One attempt at one trial, as the training function sees it.

    Annotate a training function with it. Executors make the object; a class of your own with these
    members can drive the same function in a test.

    >>> import tempfile, tunewright as tw
    >>> def train(run: tw.protocols.Run, learning_rate: float) -> None:
    ...     for step in run.steps(10):
    ...         run.log(step, valid_error=abs(learning_rate - 0.1) + 1 / step)
    >>> rates = tw.Round(
    ...     "rates", goal="Which rate?", nuisance={"learning_rate": [0.1, 0.3]}, trials_per_study=2
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     workload = tw.Workload(
    ...         train,
    ...         tw.minimize("valid_error"),
    ...         store=f"{folder}/tuning.db",
    ...         executor=tw.executors.Inline(),
    ...     )
    ...     [trial.status for trial in tw.run(rates, workload, progress="off").trials]
    ['completed', 'completed']
    """

    @property
    def configuration(self) -> Mapping[str, Value]:
        """Every hyperparameter of this trial, the fixed ones included."""
        ...

    @property
    def number(self) -> int | None:
        """The trial's number in its round; None for a repeat."""
        ...

    @property
    def folder(self) -> Path:
        """The trial's folder, the same for every attempt."""
        ...

    @property
    def seeds(self) -> Seeds:
        """Seeds for initialisation, order of the examples, augmentation, split and evaluation."""
        ...

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices this trial may use, as in CUDA_VISIBLE_DEVICES."""
        ...

    @property
    def attempt(self) -> int:
        """Which attempt at this trial, from 1."""
        ...

    def steps(self, max_train_steps: int | None = None) -> Iterator[int]:
        """The steps still to do: start_step + 1 up to and including the last.

        Args:
            max_train_steps: the last step; None: the configuration's number of steps.
        """
        ...

    @property
    def step(self) -> int:
        """The current step of `run.steps`, else the last one logged, else the start."""
        ...

    @property
    def total(self) -> int | None:
        """The number of steps: the argument of `run.steps`, else the configuration's."""
        ...

    @property
    def alone(self) -> bool:
        """Whether no trial is behind it: `tw.current_run()` of a program started by hand."""
        ...

    @property
    def start_step(self) -> int:
        """The updates that an earlier attempt did; 0 at a fresh start."""
        ...

    def resumed_at(self, step: int) -> None:
        """Report that the program resumes from a checkpoint that it wrote itself.

        Args:
            step: the updates that the checkpoint has had.
        """
        ...

    def log(self, step: int, metrics: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Record metrics at a step: `run.log(step, loss=x)`, or a dictionary for any name.

        Args:
            step: the updates done; steps may repeat and may not go back.
            metrics: name -> number, for names that are no Python identifiers.
            named: name=number; numbers of Python, NumPy, torch and JAX are accepted, and
                `tw.Measured(value, sd=..., n=...)` where the uncertainty of a value is known.
        """
        ...

    def applied(self, values: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Report the values that the program really uses; read back as `trial.applied`.

        Args:
            values: name -> value, for names that are no Python identifiers.
            named: name=value; a later call adds to an earlier one.
        """
        ...

    def flush(self) -> None:
        """Send everything logged so far, also what is still on a device."""
        ...

    def eval_due(self, step: int) -> bool:
        """Whether to evaluate at this step: about 100 times, always at the last.

        Args:
            step: the current step.
        """
        ...

    @property
    def eval_every(self) -> int:
        """Every how many steps `eval_due` is true."""
        ...

    def save_due(self, step: int) -> bool:
        """Whether to save at this step: about 10 times, always at the last, and before a stop.

        Args:
            step: the current step.
        """
        ...

    def save(self, state: object, step: int | None = None, *, best: int | None = None) -> None:
        """Write the state from which this trial can resume, whole or not at all.

        Args:
            state: dictionaries, lists, numbers, text, arrays and tensors.
            step: the updates it has had; None: the current step of `run.steps`.
            best: keep this many snapshots, those with the best objective.
        """
        ...

    @property
    def restored(self) -> Any:
        """The state that an earlier attempt saved, on the CPU; None at a fresh start."""
        ...

    @property
    def stop_asked(self) -> bool:
        """Whether somebody has asked this trial to stop."""
        ...
