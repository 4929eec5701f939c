"""The handle of the trial that this very program trains, found without being handed over.

A function finds the handle that it also receives. A program started by a command gets one that
prints the lines of docs/command_protocol.md. A program that runs alone gets one that does nothing.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.errors import Ended, Infeasible, WorkloadError
from tunewright.execution.executors.executor import (
    Applied,
    Assignment,
    Began,
    Event,
    Logged,
    Saved,
    as_assignment,
    as_fields,
)
from tunewright.execution.handle import Control, Handle
from tunewright.execution.processes.frames import write_all
from tunewright.execution.training_run import Run
from tunewright.store.curves import unpack
from tunewright.store.plain_json import meaning_data, meaning_from, objective_data, objective_from

VARIABLE = "TUNEWRIGHT_RUN"  # of the environment of a command: the trial, as JSON
_TELL_S = 0.2  # points wait this long for company
_of_function: list[Run] = []  # trials that train in this process, innermost last
_of_program: list[Run] = []  # the one handle of a program that a command started, or runs alone


def current_run() -> Run:
    """The handle of the trial that this program trains; one that does nothing when it runs alone.

        run = tw.current_run()
        lr = run.configuration.get("lr", 0.1)
        for step in run.steps(1000):
            run.log(step, valid_error=error)

    A program that is started by hand then trains as ever: nothing is logged or saved, `folder` is
    the working folder, `configuration` is empty and `alone` is true.

    >>> import tempfile, tunewright as tw
    >>> def report(step: int, error: float) -> None:  # deep inside the program
    ...     tw.current_run().log(step, valid_error=error)
    >>> def train(run: tw.protocols.Run, lr: float) -> None:
    ...     report(1, round(abs(lr - 0.1), 3))
    >>> rates = tw.Round("rates", goal="Which?", nuisance={"lr": [0.1, 0.3]}, trials_per_study=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     inline, store = tw.executors.Inline(), f"{folder}/tuning.db"
    ...     workload = tw.Workload(
    ...         train, tw.minimize("valid_error"), store=store, executor=inline
    ...     )
    ...     sorted(trial.value for trial in tw.run(rates, workload, progress="off").trials)
    [0.0, 0.2]
    """
    if _of_function:
        return _of_function[-1]
    if not _of_program:
        given = os.environ.get(VARIABLE)
        _of_program.append(Alone() if given is None else Printing(given))
    return _of_program[0]


@contextmanager
def bound(run: Run) -> Iterator[None]:
    """While the block trains, `current_run()` is this handle."""
    _of_function.append(run)
    try:
        yield
    finally:
        _of_function.remove(run)


def describe(
    assignment: Assignment, objective: Objective, meaning: Meaning, devices: tuple[str, ...]
) -> str:
    """A trial as the environment of its program holds it."""
    placed = replace(assignment, folder=Path(assignment.folder).absolute())
    return json.dumps(
        {
            "assignment": as_fields(placed),
            "objective": objective_data(objective),
            "meaning": meaning_data(meaning),
            "devices": devices,
        }
    )


class Alone(Handle):
    """The handle of a program that no trial trains: it counts steps, and records nothing."""

    def __init__(self) -> None:
        """Rank 0 is as silent as the others."""
        assignment = Assignment(
            trial=0,
            attempt=1,
            number=None,
            round="",
            configuration={},
            seed=0,
            split_seed=0,
            folder=Path.cwd(),
        )
        super().__init__(assignment, Objective("objective", True), Meaning(), lambda event: None)
        self._speaks = self._plain = False

    @property
    def alone(self) -> bool:
        """No trial is behind it."""
        return True

    def save(self, state: object, step: int | None = None, *, best: int | None = None) -> None:
        """Nothing is saved."""

    def save_due(self, step: int) -> bool:
        """Nothing is to be saved."""
        return False


class Printing(Handle):
    """The handle of a program that a command started: what it reports, it prints."""

    def __init__(self, given: str) -> None:
        """`given` is what `describe` wrote."""
        try:
            data = json.loads(given)
            assignment = as_assignment(data["assignment"])
            objective, meaning = objective_from(data["objective"]), meaning_from(data["meaning"])
            devices = tuple(data["devices"])
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise WorkloadError("run.bad_environment", name=VARIABLE, error=error) from None
        super().__init__(assignment, objective, meaning, _print_event, devices)
        self._process = os.getpid()
        if self.start_step:
            Control(self).announce()  # else it is taken to start from nothing
        threading.Thread(target=self._keep_printing, name="tunewright", daemon=True).start()
        atexit.register(self._last_words)
        self.listen()
        sys.excepthook = _quiet(sys.excepthook)

    def listen(self) -> None:
        """Take SIGTERM, by which a trial is stopped, as a request to save; from the main thread.

        A library that replaces the handler would end the program without saving: call it again.
        """
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, lambda *_: Control(self).ask_stop())

    def _keep_printing(self) -> None:
        while True:
            time.sleep(_TELL_S)
            with suppress(OSError):
                Control(self).tell_points()

    def _last_words(self) -> None:
        if os.getpid() == self._process:  # not in a child that was forked
            with suppress(Ended, OSError):
                self.flush()


def _print_event(event: Event) -> None:
    """Print an event as lines of the protocol; one that has no line is not for the supervisor."""
    match event:
        case Logged():
            lines = _measurements(event.points)
        case Applied():
            lines = [{"applied": dict(event.values)}]
        case Began():
            lines = [{"resumed_at": event.start_step}]
        case Saved():
            about = {"step": event.step, "path": event.path, "sha256": event.sha256}
            lines = [{"saved": about}]
        case _:
            return
    # a line end first: the program may have printed half a line, such as a progress bar
    text = "".join(f"\n{json.dumps(line)}\n" for line in lines)
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    write_all(1, text.encode("utf-8", "backslashreplace"))


def _measurements(points: bytes) -> list[dict[str, Any]]:
    """The points of a batch, one line a step, in order."""
    by_step: dict[int, dict[str, Any]] = {}
    for name, curve in unpack(points).items():
        pairs = zip(curve.steps.tolist(), curve.values.tolist(), strict=True)
        for place, (step, value) in enumerate(pairs):
            known = curve.measurement(place)
            by_step.setdefault(step, {})[name] = value if known is None else known.to_data()
    return [{**by_step[step], "step": step} for step in sorted(by_step)]


def _quiet(
    before: Callable[[type[BaseException], BaseException, TracebackType | None], Any],
) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    """A hook that prints what ended the trial in one line, and anything else as before."""

    def hook(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, Infeasible):
            _write_line({"infeasible": str(error)})
        if isinstance(error, Ended):
            print(f"tunewright: {error}", file=sys.stderr)
        else:
            before(kind, error, traceback)

    return hook


def _write_line(line: Mapping[str, Any]) -> None:
    os.write(1, f"\n{json.dumps(line)}\n".encode())
