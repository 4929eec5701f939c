"""A small project, and what a command answers: for tests that call commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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

    @property
    def envelope(self) -> Any:
        """The envelope of `--json`: the whole of standard output."""
        return json.loads(self.out)

    @property
    def data(self) -> Any:
        """The data of a successful answer."""
        assert self.envelope["ok"], self.envelope
        return self.envelope["data"]

    @property
    def error(self) -> Any:
        """The error of a refusal."""
        assert not self.envelope["ok"] and self.envelope["exit_code"] == self.code
        return self.envelope["error"]


Tunewright = Callable[..., Answer]
