"""Trainings whose gain by more steps is known: progress is the sum of learning rates so far."""

from __future__ import annotations

import math
import random

import tunewright as tw

FLOOR = 0.1


def reached(max_train_steps: int, learning_rate: float, slow: float) -> float:
    """The value at the end of a linear decay, without noise."""
    progress = sum(learning_rate * (1 - n / max_train_steps) for n in range(max_train_steps))
    return FLOOR + math.exp(-progress / slow)


def decaying(
    run: tw.protocols.Run, learning_rate: float, max_train_steps: int, slow: float, noise: float
) -> None:
    """Falls exponentially in the sum of its learning rates, which fall linearly to zero."""
    state = run.restored or {"progress": 0.0}
    progress = float(state["progress"])
    chance = random.Random(run.seeds.trial)
    for step in run.steps():
        progress += learning_rate * (1 - (step - 1) / max_train_steps)
        if step % 5 == 0:
            value = FLOOR + math.exp(-progress / slow) + chance.gauss(0.0, noise)
            run.log(step, valid_error=value, learning_rate=learning_rate)
        if step % 20 == 0:
            run.save({"progress": progress}, step)


def forgetful(
    run: tw.protocols.Run, learning_rate: float, max_train_steps: int, slow: float, noise: float
) -> None:
    """The same by a program that reads its state and then starts anew all the same."""
    run.resumed_at(0)
    decaying(run, learning_rate, max_train_steps, slow, noise)
