"""What a throughput probe drives: a factory of steps, or a workload's own training function.

    def make_step(batch_size):            # builds model, optimizer and data, and returns ...
        def step(): ...                   # ... a function that does one whole training step
        return step

A factory that takes `synthetic` too is asked for steps without its input pipeline. A training
function is stopped and timed between the steps of `run.steps`; `pipeline.fit` with `run=` is one. A
command is timed from outside, by the step lines it prints.
`batch_size` counts the examples of all processes together, here as everywhere.
"""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tunewright.design.ranges import Value
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.command import CONFIG, Command
from tunewright.execution.processes.surroundings import rank
from tunewright.execution.workload import Workload
from tunewright.nearest import nearest
from tunewright.seeds import seeds

MANY_STEPS = 1_000_000  # given to a training function, which is stopped long before
EXAMPLE = "def make_step(batch_size): ...; return step"


@dataclass(frozen=True)
class Subject:
    """Something whose steps can be done and timed at any batch size."""

    function: Callable[..., Any] | Command
    kind: Literal["factory", "training", "command"]
    name: str  # its name for readers
    batch_name: str = "batch_size"  # as it spells it
    configuration: Mapping[str, Value] = field(default_factory=dict)  # every other hyperparameter
    takes_synthetic: bool = False  # a factory that can leave its input pipeline out
    eval_every: int | None = None  # steps, where a command's workload has it


def subject_of(
    what: Workload | Callable[..., Any], fixed: Mapping[str, Value] | None = None
) -> Subject:
    """What to drive, or a refusal that explains how to write it."""
    if isinstance(what, Workload):
        return _of_workload(what, dict(fixed or {}))
    if not callable(what):
        raise WorkloadError("throughput.not_a_subject", given=what, example=EXAMPLE)
    return _of_factory(what, dict(fixed or {}))


def _of_factory(make_step: Callable[..., Any], fixed: dict[str, Value]) -> Subject:
    factory_name = _full_name(make_step)
    try:
        parameters = inspect.signature(make_step).parameters
    except (TypeError, ValueError) as error:
        raise WorkloadError(
            "throughput.signature_unreadable", shown=factory_name, error=error, example=EXAMPLE
        ) from error
    names = list(parameters)
    if names[:1] == ["run"]:
        raise WorkloadError(
            "throughput.training_function", shown=factory_name, names=list(names), example=EXAMPLE
        )
    anything = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if "batch_size" not in names and not anything:
        raise WorkloadError(
            "throughput.no_batch_size_argument",
            shown=factory_name,
            names=list(names),
            example=EXAMPLE,
        )
    given = {"batch_size", *fixed}
    lacking = [
        name
        for name, p in parameters.items()
        if p.default is p.empty
        and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        and name not in given | {"synthetic"}
    ]
    if lacking:
        raise WorkloadError(
            "throughput.factory_lacks", shown=factory_name, lacking=list(lacking), first=lacking[0]
        )
    unknown = [name for name in fixed if name not in names and not anything]
    if unknown:
        raise _unknown(unknown[0], factory_name, names)
    return Subject(
        make_step,
        "factory",
        factory_name,
        "batch_size",
        fixed,
        takes_synthetic="synthetic" in names,
    )


def _of_workload(workload: Workload, fixed: dict[str, Value]) -> Subject:
    accepts, meaning = workload.accepts, workload.meaning
    name, steps_name = meaning.name("batch_size"), meaning.name("max_train_steps")
    shown_name = workload.name
    if name not in accepts.names and not accepts.takes_anything:
        near = nearest(name, accepts.names)
        which = near if near else "bs"
        raise DesignError(
            "throughput.workload_without_batch_size", shown=shown_name, name=name, which=which
        )
    unknown = [n for n in fixed if n not in accepts.names and not accepts.takes_anything]
    if unknown:
        raise _unknown(unknown[0], shown_name, sorted(accepts.names))
    if steps_name in accepts.names or _reads_steps(workload):
        fixed.setdefault(steps_name, MANY_STEPS)
    lacking = sorted(accepts.required - {name, *fixed})
    if lacking:
        raise DesignError(
            "throughput.workload_lacks", shown=shown_name, lacking=list(lacking), first=lacking[0]
        )
    if isinstance(workload.train, Command):
        fixed = {**{n: v for n, v in accepts.defaults.items() if n != name}, **fixed}
        return Subject(
            workload.train, "command", shown_name, name, fixed, eval_every=workload.eval_every
        )
    return Subject(workload.train, "training", shown_name, name, fixed)


def _reads_steps(workload: Workload) -> bool:
    """Whether a command that takes the whole configuration may receive the number of steps.

    A file may hold more than is read; of `{overrides}` every name must be known to the program.
    """
    if not isinstance(workload.train, Command):
        return False
    return CONFIG in workload.train.fields or (
        workload.train.takes_anything and "max_train_steps" in (workload.means or {})
    )


def _unknown(name: str, subject: str, names: list[str]) -> DesignError:
    return DesignError(
        "throughput.unknown_argument",
        subject=subject,
        name=name,
        near=nearest(name, names),
        known=names,
    )


def _full_name(function: Callable[..., Any]) -> str:
    module = getattr(function, "__module__", None) or "?"
    return f"{module}.{getattr(function, '__qualname__', type(function).__name__)}"


# ---- the handle that a training function gets from a probe: steps that stop in between.
#
# It answers what the handle of a trial answers; nothing is evaluated, saved or recorded.


class ProbeHandle:
    """One training as a probe drives it; `pace` is called before each step and may end it."""

    endless = True  # however many steps the program asks for

    def __init__(
        self, configuration: Mapping[str, Value], folder: Path, pace: Callable[[], None]
    ) -> None:
        """`pace` waits between steps as the probe wishes; `folder` goes when the probe ends."""
        self.configuration = dict(configuration)
        self.number: int | None = None
        self.total: int | None = None  # the probe decides
        self.stop_asked = False
        self.alone = False
        self.seeds = seeds(0, rank=rank())
        self.devices: tuple[str, ...] = ()
        self.attempt = 1
        self.start_step = self.step = 0
        self.restored: Any = None
        self.folder = folder
        self.eval_every = sys.maxsize
        self.drove = False  # whether the function ever asked for steps
        self._pace = pace

    def steps(self, max_train_steps: int | None = None) -> Iterator[int]:
        """Steps without an end: the probe stops when it has seen enough."""
        self.drove = True
        for step in itertools.count(1):
            self._pace()
            self.step = step
            yield step

    def log(self, step: int, metrics: Mapping[str, Any] | None = None, **named: Any) -> None:
        """Nothing is kept."""

    def applied(self, values: Mapping[str, Any] | None = None, **named: Any) -> None:
        """A probe checks no values."""

    def flush(self) -> None:
        """Nothing is kept."""

    def eval_due(self, step: int) -> bool:
        """Never: an evaluation is no part of a training step."""
        return False

    def save_due(self, step: int) -> bool:
        """Never."""
        return False

    def save(self, state: object, step: int | None = None, *, best: int | None = None) -> None:
        """Nothing is kept."""

    def resumed_at(self, step: int) -> None:
        """A probe begins anew."""
