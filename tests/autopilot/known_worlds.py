"""Training programs with a known best configuration, quick enough for whole campaigns."""

from __future__ import annotations

import math
import random
from pathlib import Path

import tunewright as tw

BEST = 0.05  # the error of the best configuration
RATE, DROPOUT = 0.02, 0.25  # where it is
WALL = 0.3  # learning rates above it diverge


def error_of(learning_rate: float, dropout: float = DROPOUT) -> float:
    """What a configuration is worth, without noise."""
    distance = 0.05 * math.log10(learning_rate / RATE) ** 2
    return BEST + distance + 0.3 * (dropout - DROPOUT) ** 2


def train(run, learning_rate, dropout=DROPOUT, noise=0.003, max_train_steps=12, diverges=True):
    luck = random.Random(run.seeds.trial)
    reached = error_of(learning_rate, dropout) + noise * luck.gauss(0, 1)
    for step in run.steps(max_train_steps):
        if diverges and learning_rate > WALL and step > max_train_steps // 2:
            run.log(step, train_loss=math.nan)
        fall = 1 - step / max_train_steps
        run.log(step, train_loss=2 * reached + fall, valid_error=reached + 0.8 * fall**2)


def train_from_today(run, learning_rate=1e-4, dropout=0.0, noise=0.003, max_train_steps=12):
    """The same with a default for everything: what people have today is far from the best."""
    train(run, learning_rate, dropout, noise, max_train_steps)


def workload(folder: Path, function=train, **more) -> tw.Workload:
    return tw.Workload(
        function,
        tw.minimize("valid_error"),
        store=folder / "tuning.db",
        executor=tw.Inline(),
        **more,
    )


SPACE = {"learning_rate": tw.log(1e-5, 1.0), "dropout": tw.linear(0.0, 0.6)}
