"""Training functions whose step of perfect fit is known: the error falls exponentially, exactly."""

from __future__ import annotations

import math

FASTEST = 0.1  # the learning rate at which the error falls quickest
DIVERGES = 0.5


def speed(learning_rate: float, fastest: float = FASTEST) -> float:
    """How fast the error falls: in proportion to the learning rate up to the fastest, then less."""
    ratio = learning_rate / fastest
    return 0.02 * (ratio if ratio <= 1 else ratio**-0.5)


def fit_step(learning_rate: float) -> float:
    """The exact step at which the error of `fits` is 0.1 %."""
    return math.log(900) / speed(learning_rate)


def fits(run, learning_rate, dropout=0.2, schedule="cosine", max_train_steps=1000):
    """Training error 0.9 exp(-speed x step); slower with dropout; diverges above 0.5."""
    for step in run.steps(max_train_steps):
        if learning_rate > DIVERGES:
            run.log(step, train_loss=math.nan)
        if run.eval_due(step):
            left = 1.0 if schedule == "constant" else 1 - step / max_train_steps
            error = 0.9 * math.exp(-speed(learning_rate) * step * (1 - dropout) * left)
            run.log(step, train_error=error, valid_error=0.05 + error)


def fits_at_large_rates(run, learning_rate, max_train_steps=1000):
    """The fastest learning rate is 30, far above where anyone would begin."""
    for step in run.steps(max_train_steps):
        if run.eval_due(step):
            error = 0.9 * math.exp(-speed(learning_rate, fastest=30.0) * step)
            run.log(step, train_error=error, valid_error=error)


def never_ends(run, learning_rate, max_train_steps=1000):
    """The larger the faster, without end."""
    for step in run.steps(max_train_steps):
        if run.eval_due(step):
            error = 0.9 * math.exp(-0.0001 * step * learning_rate)
            run.log(step, train_error=error, valid_error=error)


def too_slow(run, learning_rate, max_train_steps=100):
    """A power law that would need a million steps."""
    for step in run.steps(max_train_steps):
        if run.eval_due(step):
            error = 0.9 * (1 + step * speed(learning_rate)) ** -0.5
            run.log(step, train_error=error, valid_error=error)


def stuck(run, learning_rate, max_train_steps=200):
    """A model too small: a twentieth of the examples stays wrong."""
    for step in run.steps(max_train_steps):
        if run.eval_due(step):
            error = 0.05 + 0.85 * math.exp(-10 * speed(learning_rate) * step)
            run.log(step, train_error=error, valid_error=error)


def in_epochs(run, lr, epochs=20):
    """Counts its length in epochs of 50 steps, and logs steps."""
    for step in range(1, 50 * epochs + 1):
        if step % 10 == 0:
            error = 0.9 * math.exp(-speed(lr) * step)
            run.log(step, {"train/accuracy": 100 * (1 - error), "val_error": error})


def with_a_floor(run, learning_rate, max_train_steps=1000):
    """A loss that falls from 3 to 1, judged by its floor, with no error logged."""
    for step in run.steps(max_train_steps):
        loss = 1.0 + 2.0 * math.exp(-speed(learning_rate) * step)
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            run.log(step, valid_error=loss)


def decays(run, learning_rate, max_train_steps=1000):
    """Lets its learning rate decay and says so."""
    for step in run.steps(max_train_steps):
        if run.eval_due(step):
            rate = learning_rate * (1 - step / max_train_steps)
            run.log(step, learning_rate=rate, train_error=0.5, valid_error=0.5)


def raises(run, learning_rate, max_train_steps=1000):
    """A program with a mistake in it."""
    raise RuntimeError("no such file: data.npz")


def interrupted_once(run, learning_rate, folder, max_train_steps=100):
    """At the third training somebody presses Ctrl-C; every training leaves a line behind."""
    import os
    import signal
    from pathlib import Path

    began = Path(folder) / "began"
    with began.open("a") as told:
        told.write(f"{learning_rate} {max_train_steps}\n")
    if len(began.read_text().splitlines()) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    for step in run.steps(max_train_steps):
        if run.eval_due(step):
            error = 0.9 * math.exp(-10 * speed(learning_rate) * step)
            run.log(step, train_error=error, valid_error=error)


def mended_later(run, learning_rate, folder, max_train_steps=100):
    """Fails until its data is there."""
    from pathlib import Path

    if not (Path(folder) / "data").exists():
        raise RuntimeError("no such file: data")
    for step in run.steps(max_train_steps):
        if run.eval_due(step):
            error = 0.9 * math.exp(-10 * speed(learning_rate) * step)
            run.log(step, train_error=error, valid_error=error)


PROGRAM = """
import argparse, json, math
parser = argparse.ArgumentParser()
for name in ("--lr", "--wd", "--steps", "--width"):
    parser.add_argument(name, type=float)
parser.add_argument("--sched")
args = parser.parse_args()
ratio = args.lr / 0.1
speed = 0.2 * (ratio if ratio <= 1 else ratio**-0.5) * (1 - args.wd)
for step in range(1, int(args.steps) + 1):
    left = 1.0 if args.sched == "flat" else 0.0
    error = 0.9 * math.exp(-speed * step * left)
    print(json.dumps({"step": step, "train_error": error, "valid_error": error}))
"""
