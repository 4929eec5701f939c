"""Training functions whose steps to a goal follow S_min (1 + B_crit / B), and studies drawn so."""

from __future__ import annotations

import math

import numpy as np

CRITICAL, SMALLEST = 64, 40.0  # examples; steps by which the error falls to 1/e at any batch size


def slowness(batch_size, learning_rate, momentum, seed):
    """Steps by which the error falls to 1/e; best at a rate that grows with the batch."""
    place = math.log10(learning_rate) + 2.0 - 0.25 * math.log2(batch_size / 64)
    away = place**2 + (8 * (momentum - 0.9)) ** 2
    luck = np.random.default_rng([seed % 2**32, batch_size]).normal(0, 0.05)
    return SMALLEST * (1 + CRITICAL / batch_size) * math.exp(0.8 * away + luck)


def train(run, learning_rate, batch_size, momentum=0.9, max_train_steps=1500):
    """The validation error falls exponentially, as fast as the batch size allows."""
    slow = slowness(batch_size, learning_rate, momentum, run.seeds.init)
    for step in run.steps(max_train_steps):
        if run.eval_due(step):
            run.log(step, valid_error=math.exp(-step / slow))


def diverges(run, learning_rate, batch_size, max_train_steps=100):
    """Nothing can be trained."""
    run.log(1, valid_error=math.nan)


def in_epochs(run, learning_rate, batch_size, epochs=10):
    """Counts its budget in epochs."""
    run.log(1, valid_error=0.5)


def studies(
    random, sizes, critical, trials, surface=3.0, noise=0.1, reach=0.5, smallest=1000.0
) -> list[np.ndarray]:
    """Steps to the goal of every trial at every size; infinite for those that miss it."""
    found = []
    for size in sizes:
        away = surface * ((random.random((trials, 2)) - random.uniform(0.2, 0.8, 2)) ** 2).sum(1)
        logs = math.log(smallest * (1 + critical / size)) + away
        logs = logs + noise * random.normal(size=trials)
        missed = np.argsort(away)[max(3, round(reach * trials)) :]
        steps = np.exp(logs)
        steps[missed] = math.inf
        found.append(steps)
    return found
