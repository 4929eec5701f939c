"""What every integration does alike: the library, the handle, numbers, and ranks that agree."""

from __future__ import annotations

import importlib
import numbers
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from tunewright.errors import WorkloadError
from tunewright.execution.current_run import Printing, current_run
from tunewright.execution.handle import Control, Handle
from tunewright.execution.reported_values import plain_values
from tunewright.execution.training_run import Run
from tunewright.measured import Measured, with_uncertainties


def library(name: str, package: str = "") -> Any:
    """A library that this package does not need, imported now; refused if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] != name.partition(".")[0]:
            raise  # a part of the library itself is missing
        raise WorkloadError("integration.missing", package=package or name) from None


def handle(run: Run | None) -> Run:
    """The handle that was given, or that of the current trial."""
    return current_run() if run is None else run


def listen(run: Run) -> None:
    """Take SIGTERM as a request to save again, after a library has replaced the handler."""
    if isinstance(run, Printing):
        run.listen()


def numbers_in(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Those values that are numbers; libraries log text and lists beside them.

    A number whose standard deviation is logged too, as `x_sd` or `x_stderr`, is a `Measured`.

    >>> numbers_in({"loss": 0.5, "note": "warm", "flag": True, "step": 3})
    {'loss': 0.5}
    """
    numeric = {str(n): v for n, v in (values or {}).items() if n != "step" and _is_number(v)}
    return with_uncertainties(numeric)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, Measured):
        return True
    scalar = getattr(value, "shape", None) == () and "bool" not in str(getattr(value, "dtype", ""))
    return isinstance(value, numbers.Real) or scalar


def _group() -> Any:
    """torch.distributed where several ranks train together; None where one trains alone."""
    group = sys.modules.get("torch.distributed")
    if group is None or not group.is_available() or not group.is_initialized():
        return None
    return group if group.get_world_size() > 1 else None


def any_rank(decision: bool) -> bool:
    """Whether any rank decided so; every rank must call it. One rank: its own decision."""
    group = _group()
    if group is None:
        return decision
    torch: Any = sys.modules["torch"]
    on = "cuda" if group.get_backend() == "nccl" else "cpu"
    flag = torch.tensor(int(decision), device=on)
    group.all_reduce(flag, op=group.ReduceOp.MAX)
    return bool(flag.item())


def wait_for_ranks() -> None:
    """Return once every rank has called it."""
    group = _group()
    if group is not None:
        group.barrier()


def from_all_ranks(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of this rank; one that differs between ranks becomes the list of all of them.

    Every rank must call it.
    """
    values = dict(values)
    group = _group()
    if group is None:
        return values
    by_rank: list[Any] = [None] * group.get_world_size()
    group.all_gather_object(by_rank, values)
    different = {
        name: [of_rank.get(name) for of_rank in by_rank]
        for name in values
        if any(of_rank.get(name) != values[name] for of_rank in by_rank)
    }
    return values | different


def stop_here(run: Run) -> bool:
    """Whether the trial was asked to stop on any rank; every rank must call it."""
    stop = any_rank(run.stop_asked)
    if stop and not run.stop_asked:
        ask_stop(run)  # another rank heard of it first
    return stop


def ask_stop(run: Run) -> None:
    """Ask this rank's handle to stop: another rank has received the request."""
    if isinstance(run, Handle):
        Control(run).ask_stop()


def eval_every_of(run: Run) -> int | None:
    """Every how many steps the workload wants an evaluation; None: it does not matter."""
    return Control(run).given[0].eval_every if isinstance(run, Handle) else None


def optimizer_values(optimizers: Iterable[Any]) -> dict[str, Any]:
    """What torch optimizers really use: the options of the first group, and others that differ.

    Ask for it once training has begun, since a program may set its rates in the loop. The first
    optimizer is `optimizer`, the next `optimizer2`; another group of parameters is `group2`.
    """
    values: dict[str, Any] = {}
    for count, optimizer in enumerate(optimizers, 1):
        groups = getattr(optimizer, "param_groups", None) or [{}]
        first = _options(groups[0])
        wrapped = getattr(optimizer, "optimizer", optimizer)  # by Accelerate
        options = {"name": type(wrapped).__name__, **first}
        for number, group in enumerate(groups[1:], 2):
            if other := {n: v for n, v in _options(group).items() if v != first.get(n)}:
                options[f"group{number}"] = other
        values["optimizer" if count == 1 else f"optimizer{count}"] = options
    return plain_values(values)


def _options(group: Mapping[str, Any]) -> dict[str, Any]:
    """A group's options; its rate is that before a schedule scaled it."""
    unscaled = {"lr": group["initial_lr"]} if "initial_lr" in group else {}
    return {n: v for n, v in group.items() if n not in ("params", "initial_lr")} | unscaled
