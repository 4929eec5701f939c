"""A small project, and what a command answers: for tests that call commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

TRAIN = '''
import math


def train(run, learning_rate, layers=1, max_train_steps=20):
    """Best at learning_rate 0.1, better with more layers, diverges above 0.5."""
    for step in run.steps(max_train_steps):
        loss = abs(math.log10(learning_rate) + 1) + 1 / step
        if learning_rate > 0.5:
            loss = float("nan")
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            run.log(step, valid_error=loss / layers)
'''
ROUND = """
goal = "Do more layers help?"
trials_per_study = 4
[scientific]
layers = [1, 2]
[nuisance]
learning_rate = { log = [1e-3, 1.0] }
[fixed]
max_train_steps = 20
"""


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Tunewright = Callable[..., Answer]
