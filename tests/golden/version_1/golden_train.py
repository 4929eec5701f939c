"""The training program of the golden store: a formula that falls to a known floor, in milliseconds.

`make_version_1.py` runs it. The floor depends on the learning rate, the
optimizer and the dropout; chance comes from the seeds of the run alone. The argument `what` makes a
trial end in each way that a trial can end.
"""

from __future__ import annotations

import math
import os
import random
import signal
import sys
import time
from typing import Any

BEST_RATE = {"sgd": 0.1, "adam": 0.003}  # the learning rate of the lowest floor
LIMIT = {"sgd": 0.6, "adam": 0.05}  # training diverges above it
EXTRA = {"sgd": 0.02, "adam": 0.0}  # what the optimizer adds to the floor
EXAMPLES = 40  # of the validation set


def floor_of(
    optimizer: str, learning_rate: float, dropout: float, momentum: float, beta1: float
) -> float:
    """The validation error that a configuration falls to, without chance."""
    away = math.log10(learning_rate / BEST_RATE[optimizer])
    inertia = momentum if optimizer == "sgd" else beta1
    return (
        0.1
        + EXTRA[optimizer]
        + 0.02 * away**2
        + 0.15 * (dropout - 0.2) ** 2
        + 0.1 * (inertia - 0.9) ** 2
    )


def train(
    run: Any,
    learning_rate: float = 0.03,
    optimizer: str = "sgd",
    momentum: float = 0.9,
    beta1: float = 0.9,
    dropout: float = 0.2,
    schedule: str = "linear",
    max_train_steps: int = 40,
    what: str = "",
    norms: bool = False,
    keep: bool = False,
) -> None:
    """Fall to the floor exponentially; diverge half-way above the limit of the optimizer."""
    chance = random.Random(run.seeds.trial)
    luck = chance.gauss(0.0, 0.004) + random.Random(run.seeds.split).gauss(0.0, 0.003)
    floor = floor_of(optimizer, learning_rate, dropout, momentum, beta1) + luck
    ratio = learning_rate / BEST_RATE[optimizer]
    speed = 0.25 * min(ratio, 1 / ratio) ** 0.5 * (1 - dropout / 2)
    misbehave(run, what)
    for step in run.steps(max_train_steps):
        left = math.exp(-speed * step)
        if learning_rate > LIMIT[optimizer] and step > max_train_steps / 2:
            run.log(step, train_loss=math.nan)
        loss = 2 * left * math.exp(chance.gauss(0.0, 0.01)) + 0.02 * dropout
        fades = 1.0 if schedule == "constant" else 1 - step / max_train_steps
        rises = 0.06 * max(0.0, step / max_train_steps - 0.5) if dropout < 0.08 else 0.0
        error = floor + 0.8 * left + rises + chance.gauss(0.0, 0.001 + 0.002 * fades)
        if what == "silent":
            continue
        run.log(step, train_loss=loss)
        if run.eval_due(step) and what != "unlogged":
            run.log(step, valid_error=math.nan if what == "nan" and step > 5 else error)
        if norms:
            norm = (0.2 + left) * math.exp(chance.gauss(0.0, 0.3))
            run.log(step, gradient_norm=norm, gradient_norm_small=norm + chance.uniform(0.1, 0.3))
        if what in SLOWNESS:
            run.log(step, latency_ms=SLOWNESS[what])
        if keep and (run.save_due(step) or step == max_train_steps):
            run.save({"floor": floor, "step": step})
    if keep:
        keep_examples(run, floor, chance)


def keep_examples(run: Any, floor: float, chance: random.Random) -> None:
    """Leave one number for each validation example, as `variance` reads them."""
    import numpy as np

    noisy = [floor + chance.gauss(0.0, 0.02) for _ in range(EXAMPLES)]
    np.save(run.folder / "per_example.npy", np.array(noisy))


# `latency_ms` under the constraint latency_ms <= 20
SLOWNESS = {
    "fine": 10.0,
    "nan": 10.0,
    "unlogged": 10.0,
    "slow": 35.0,
    "dies once": 12.0,
    "stops": 10.0,
}


def misbehave(run: Any, what: str) -> None:
    """End the trial, or this process, in the way that is asked for; most ways come here."""
    if what == "infeasible":
        from tunewright import Infeasible

        raise Infeasible("width 30 is no multiple of 4 heads")
    if what == "raises":
        raise ValueError("the labels of the data set are not sorted")
    if what == "exits":
        sys.exit(2)
    if what == "text":
        run.log(1, valid_error="low")
    if what == "back":
        run.log(9, train_loss=1.0)
        run.log(3, train_loss=1.0)
    if what == "memory":
        raise MemoryError
    if what == "large":
        held = bytearray(600 * 2**20)
        time.sleep(20.0 + len(held) * 0.0)
    if what == "hangs":
        time.sleep(20.0)
    if what == "killed" or (what == "dies once" and run.attempt == 1):
        run.log(1, train_loss=2.0)
        run.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "stops":
        wait_for_a_stop(run)


def wait_for_a_stop(run: Any) -> None:
    """Wait at a step until somebody asks this trial to stop, which ends it once it has saved."""
    for step in run.steps(100):
        run.log(step, train_loss=2.0 + 1 / step)
        while step == 10 and not run.stop_asked:
            time.sleep(0.02)
        if run.save_due(step):
            run.save({"step": step})


def full(checkpoint: Any) -> dict[str, float]:
    """The validation error on the whole validation set."""
    chance = random.Random(checkpoint.seeds.eval)
    return {"full_valid_error": checkpoint.state["floor"] + 0.002 + chance.gauss(0.0, 0.0005)}


def on_test_set(checkpoint: Any) -> dict[str, float]:
    """The error on the test set; it needs no snapshot."""
    settings = {
        "optimizer": "sgd",
        "dropout": 0.2,
        "momentum": 0.9,
        "beta1": 0.9,
        **checkpoint.configuration,
    }
    names = ("optimizer", "learning_rate", "dropout", "momentum", "beta1")
    return {"test_error": floor_of(*(settings[name] for name in names)) + 0.006}
