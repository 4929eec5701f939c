"""Training programs with a known best configuration, quick enough for whole campaigns."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np

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
        executor=tw.executors.Inline(),
        **more,
    )


SPACE = {"learning_rate": tw.log(1e-5, 1.0), "dropout": tw.linear(0.0, 0.6)}

UNSTABLE, CURED = 0.01, 1.0  # learning rates above these diverge, without and with warm-up


def train_unstable(run, learning_rate, dropout=0.0, warmup_steps=0, max_train_steps=100):
    """Best at a learning rate that diverges at once, unless it is warmed up for ten steps."""
    limit = CURED if warmup_steps >= 10 else UNSTABLE
    luck = random.Random(run.seeds.trial)
    reached = BEST + 0.05 * math.log10(learning_rate / 0.2) ** 2 + 0.01 * dropout
    reached += 0.001 * luck.gauss(0, 1)
    for step in run.steps(max_train_steps):
        fall = 1 - step / max_train_steps
        if learning_rate > limit and step > 3:
            run.log(step, train_loss=math.nan)
        run.log(step, train_loss=2 * reached + fall + 0.01 * luck.gauss(0, 1))
        if run.eval_due(step):
            run.log(step, valid_error=reached + 0.2 * fall**4)


def train_longer(run, learning_rate, dropout=0.0, max_train_steps=100, schedule="cosine"):
    """What short training ranks first is best at full length too, and longer training pays."""
    del schedule
    luck = random.Random(run.seeds.trial)
    reached = error_of(learning_rate, dropout) + 0.2 / math.sqrt(max_train_steps)
    run.log(1, train_loss=2.0, valid_error=0.9)
    value = reached + 0.0005 * luck.gauss(0, 1)
    run.log(max_train_steps, train_loss=2 * value, valid_error=value)


def train_nameless(run, rate=0.01):
    """A program of which nothing is known but its one hyperparameter."""
    luck = random.Random(run.seeds.trial)
    run.log(1, error=error_of(rate) + 0.001 * luck.gauss(0, 1))


def train_overfits(run, learning_rate, width=1.0, dropout=0.0, max_train_steps=60):
    """Training goes on falling, validation rises from the middle on, unless dropout holds it."""
    luck = random.Random(run.seeds.trial)
    reached = BEST + 0.05 * math.log10(learning_rate / 0.02) ** 2 + 0.001 * width
    for step in run.steps(max_train_steps):
        done = step / max_train_steps
        excess = max(0.0, done - 0.4) * 0.3 * max(0.0, 1 - dropout / 0.3)
        run.log(step, train_loss=1.2 - done + 0.001 * luck.gauss(0, 1))
        error = reached + 0.5 * math.exp(-12 * done) + excess
        run.log(step, valid_error=error + 0.0005 * luck.gauss(0, 1))


def train_stepping(run, learning_rate, batch_size=16, max_train_steps=40):
    """Steps that take time, more of it for larger batches."""
    chance = np.random.default_rng(run.seeds.init)
    weights = 0.1 * chance.normal(size=(64, 64))
    for step in run.steps(max_train_steps):
        images = chance.normal(size=(batch_size, 64))
        for _ in range(8):
            images = np.tanh(images @ weights)
        run.log(step, train_loss=1 / step, valid_error=error_of(learning_rate) + 1 / step)


def train_without_steps(run, learning_rate, batch_size=16, max_train_steps=40):
    """It never asks the run for its steps, so that they cannot be timed."""
    del batch_size
    run.log(max_train_steps, train_loss=1.0, valid_error=error_of(learning_rate))
