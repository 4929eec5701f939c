"""Training programs for the executor contract; importable, so that any executor can ship them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from tunewright.errors import Infeasible
from tunewright.execution.training_run import Run

POINTS = 5  # evaluations of a program that comes to its end


def descend(run: Run, manner: str, sleep_s: float = 0.0) -> None:
    """Log a falling error, and on the way behave in one of several manners."""
    for step in run.steps(POINTS):
        run.log(step, valid_error=1.0 / step, train_loss=2.0 / step)
        if step == 3:
            _MANNERS[manner](run)
        time.sleep(sleep_s)


def tick(run: Run, steps: int, sleep_s: float) -> None:
    """Run for a while, leaving a mark in the folder at every step, and saving when asked to."""
    for step in run.steps(steps):
        with (run.folder / "ticks").open("a", encoding="utf-8") as marks:
            marks.write(f"{step}\n")
        run.log(step, valid_error=1.0 / step)
        if run.save_due(step):
            run.save({"step": step})
        time.sleep(sleep_s)


def _go_on(run: Run) -> None:
    del run


def _say_so(run: Run) -> None:
    del run
    raise Infeasible("heads do not divide width")


def _diverge(run: Run) -> None:
    run.log(4, valid_error=math.nan)


def _raise(run: Run) -> None:
    del run
    raise ValueError("a bug of the training program")


_MANNERS: dict[str, Callable[[Run], None]] = {
    "completed": _go_on,
    "says infeasible": _say_so,
    "diverges": _diverge,
    "raises": _raise,
}
