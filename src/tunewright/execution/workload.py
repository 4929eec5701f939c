"""A workload: what is trained, what its names mean, the objective, where it runs and is stored."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tunewright.design.guards import meaning_problems
from tunewright.design.names import Meaning, with_guesses
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value, check_plain
from tunewright.design.workload_file import Sink, sinks_from
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.command import Command
from tunewright.messages import Message

if TYPE_CHECKING:  # the executor protocol speaks of workloads in its turn
    from tunewright.execution.executors.executor import Executor

Train = Callable[..., object]


@dataclass(frozen=True)
class Accepts:
    """Which hyperparameters a training function or a command takes."""

    names: frozenset[str]
    required: frozenset[str]  # without a default: the round must give them
    takes_anything: bool  # **kwargs, {config} or {overrides}
    defaults: Mapping[str, Value] = field(default_factory=dict)  # plain ones, of the signature
    drops_inactive: bool = False  # a command leaves out the words of what is not active
    handle: str = ""  # the name under which a function receives its run

    def names_needed(self, given: Collection[str]) -> frozenset[str]:
        """What every configuration of a round must have, when the round gives these names at all.

        >>> accepts = Accepts(frozenset("ab"), frozenset("ab"), False, drops_inactive=True)
        >>> accepts.names_needed(["a"])
        frozenset({'b'})
        """
        return self.required.difference(given) if self.drops_inactive else self.required


@dataclass(frozen=True)
class Purpose:
    """What rounds and probes of a workload are for, when a campaign runs them."""

    campaign: str  # its name
    kind: str  # the step they are: explore, exploit, probe ...


@dataclass(frozen=True)
class Workload:
    """What is trained and how it is judged; everything `run` needs beside the round.

    `train` is a function whose first argument is the `Run` handle and whose other arguments are its
    hyperparameters, or a `command(...)`.
    """

    train: Train | Command  # the function, or a `command(...)`
    objective: Objective  # the metric that judges a trial
    _: KW_ONLY
    store: str | Path = "tuning.db"  # a path or a URL
    executor: Executor | None = None  # None: Local()
    means: Mapping[str, Any] | None = None  # how it spells the playbook's names
    off: Mapping[str, Value] | None = None  # the values that switch features off
    folder: str | Path | None = None  # where trial folders stand; None: beside the store
    eval_every: int | None = None  # steps between evaluations; None: a hundredth of training
    purpose: Purpose | None = None  # set by `tune`: the campaign that its rounds belong to
    deterministic: bool = False  # it gives the same value under every seed, and is meant to
    budget: str | Path | None = None  # the budget's file; None: the project's, or beside the store
    # trackers that receive a copy of every trial: "mlflow", "tensorboard:runs", `sinks.Sink(...)`
    sinks: Sequence[str | Sink] | str | Sink = ()
    # set by `run`: what a round gives to a program that takes any name
    given_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be trained or judged, every problem at once."""
        problems: list[Message] = []
        for check in (lambda: self.accepts, self._declaration, self._check_declared, self._sinks):
            try:
                check()
            except (WorkloadError, DesignError) as error:
                problems.extend(problem for problem in error.problems if problem not in problems)
        if not isinstance(self.objective, Objective):
            problems.append(Message("workload.bad_objective", {"objective": self.objective}))
        if self.eval_every is not None and (
            type(self.eval_every) is not int or self.eval_every < 1
        ):
            problems.append(Message("workload.bad_eval_every", {"eval_every": self.eval_every}))
        if problems:
            raise WorkloadError.several(problems)

    @cached_property
    def meaning(self) -> Meaning:
        """How this workload spells the playbook's names: as declared, else as usually spelled."""
        names = [*sorted(self.accepts.names), *self.given_names]
        metric = getattr(self.objective, "metric", None)
        return with_guesses(self._declaration(), names, () if metric is None else (metric,))

    def _declaration(self) -> Meaning:
        return Meaning(self.means or {}, self.off or {}, self.deterministic)

    def _sinks(self) -> tuple[Sink, ...]:
        return sinks_from(self.sinks)

    def placed_sinks(self) -> tuple[Sink, ...]:
        """The sinks with their addresses; refuses one whose package is not installed."""
        placed = tuple(sink.with_address() for sink in self._sinks())
        for sink in placed:
            sink.need()
        return placed

    def _check_declared(self) -> None:
        """Refuse meanings of names that the program does not take."""
        if self.accepts.takes_anything:
            return  # its names are not known here: `guards.refuse` compares with the round's
        problems = list(meaning_problems(self.meaning, self.accepts.names))
        if problems:
            raise DesignError.several(problems)

    def given(self, names: Iterable[str]) -> Workload:
        """This workload as it reads a round's names, where it takes whatever it is given."""
        if not self.accepts.takes_anything:
            return self
        return replace(self, given_names=tuple(names))

    @cached_property
    def accepts(self) -> Accepts:
        """The hyperparameters of the function's signature or of the command's template."""
        if isinstance(self.train, Command):
            defaults = self.train.default_values
            names = frozenset({*self.train.hyperparameters, *defaults})
            required = names.difference(defaults)
            anything = self.train.takes_anything
            return Accepts(names, required, anything, defaults, drops_inactive=True)
        return _of_function(self.train)

    @property
    def name(self) -> str:
        """The name of what is trained: `module.function`, or the command."""
        if isinstance(self.train, Command):
            return self.train.template
        module = getattr(self.train, "__module__", None) or "?"
        return f"{module}.{getattr(self.train, '__qualname__', type(self.train).__name__)}"


def _of_function(train: Train) -> Accepts:
    if not callable(train):
        raise WorkloadError("workload.not_trainable", train=train)
    try:
        parameters = list(inspect.signature(train).parameters.values())
    except (TypeError, ValueError) as error:
        raise WorkloadError("workload.signature_unreadable", train=train, error=error) from error
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    title = getattr(train, "__qualname__", type(train).__name__)
    if not parameters or parameters[0].kind not in named:
        raise WorkloadError("workload.no_handle", function=title)
    names, required, defaults, anything = set[str](), set[str](), dict[str, Value](), False
    for parameter in parameters[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            anything = True
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            raise WorkloadError(
                "workload.positional_only", function=title, parameter=parameter.name
            )
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            names.add(parameter.name)
            if parameter.default is parameter.empty:
                required.add(parameter.name)
            elif _is_plain(parameter.default):
                defaults[parameter.name] = parameter.default
    # by position only it leaves its name to a hyperparameter
    handle = "" if parameters[0].kind is inspect.Parameter.POSITIONAL_ONLY else parameters[0].name
    return Accepts(frozenset(names), frozenset(required), anything, defaults, handle=handle)


def _is_plain(value: object) -> bool:
    try:
        check_plain(value, "default")
    except DesignError:
        return False
    return True
