"""A round that many workers write while pages watch; case 44 and bench/ui_workers.py share it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import tunewright as tw

NAME = "watched"
OBJECTIVE = tw.minimize("valid_error")


class Told(NamedTuple):
    """A trial that a worker has finished, and what the store took of its time."""

    number: int
    ended: float  # on the clock that all processes share
    waited: float  # seconds inside calls of the store
    cpu: float  # of these, seconds on a processor


def a_round(trials: int) -> tw.Round:
    return tw.Round(
        NAME,
        goal="Does a watcher disturb the workers?",
        nuisance={"rate": tw.log(1e-4, 1.0)},
        trials_per_study=trials,
    )


def work(
    url: str,
    trials: int,
    start: Any,
    answers: Any,
    points: int = 30,
    train: Callable[[], object] = lambda: None,
    over: Any = None,
) -> None:
    """Ask and tell until nothing is left; report what was told, or what went wrong."""
    told: list[Told] = []
    try:
        with tw.open_round(a_round(trials), OBJECTIVE, store=url) as session:
            answers.put("ready")
            start.wait()
            while over is None or not over.is_set():
                began, used = time.monotonic(), time.process_time()
                trial = session.ask()
                if trial is None:
                    break
                for step in range(1, points + 1):
                    trial.log(step, valid_error=trial.configuration["rate"] + 1 / step)
                trial.finish()
                ended = time.monotonic()
                told.append(Told(trial.number, ended, ended - began, time.process_time() - used))
                train()
        answers.put((told, ""))
    except BaseException as error:  # whatever it is, the caller shows it
        answers.put((told, f"{type(error).__name__}: {error}"))
        raise
