"""Schedules as training uses them: each update's rate, read off the weights, by own formulas."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import nn

from tunewright.design import schedule as schedules
from tunewright.pipeline import SGD, FitConfig, fit

LENGTH, BASE = 60, 0.5


def rates_used(schedule) -> list[float]:
    """The loss is the sum of the weights, so SGD moves each by exactly the learning rate."""
    model = nn.Linear(1, 1, bias=False).double()
    nn.init.zeros_(model.weight)
    path: list[float] = []  # before every update

    def loss(net: nn.Module, batch: torch.Tensor) -> torch.Tensor:
        path.append(float(net.weight.detach()))
        return net.weight.sum()

    settings = {} if schedule is None else {"schedule": schedule}
    config = FitConfig(
        max_train_steps=LENGTH, batch_size=1, base_learning_rate=BASE, optimizer=SGD(), **settings
    )
    fit(model, loss, torch.zeros(4, 1), config)
    path.append(float(model.weight.detach()))
    return [before - after for before, after in itertools.pairwise(path)]


def line(step: int) -> float:
    return 1 - (step - 1) / LENGTH


def cosine(step: int) -> float:
    return 0.5 * (1 + math.cos(math.pi * (step - 1) / LENGTH))


FORMULAS = {
    "the default": (None, lambda k: 1.0, LENGTH),
    "constant": (schedules.Constant(), lambda k: 1.0, LENGTH),
    "linear": (schedules.Linear(), line, LENGTH),
    "linear, last 20 steps to 0.1": (
        schedules.Linear(20, 0.1),
        lambda k: 1.0 if k <= 40 else 0.1 + 0.9 * (1 - (k - 41) / 20),
        LENGTH,
    ),
    "cosine": (schedules.Cosine(), cosine, LENGTH),
    "cosine to 0.2": (schedules.Cosine(0.2), lambda k: 0.2 + 0.8 * cosine(k), LENGTH),
    "rsqrt": (schedules.Rsqrt(16), lambda k: min(1.0, math.sqrt(16 / k)), LENGTH),
    "piecewise": (
        schedules.Piecewise((20, 40), (1.0, 0.1, 0.01)),
        lambda k: 1.0 if k <= 20 else 0.1 if k <= 40 else 0.01,
        LENGTH,
    ),
    "warm-up within": (
        schedules.Warmup(10, schedules.Constant()),
        lambda k: min(1.0, k / 10),
        LENGTH,
    ),
    "warm-up before": (
        schedules.Warmup(10, schedules.Linear(), mode="prepend"),
        lambda k: k / 10 if k <= 10 else line(k - 10),
        LENGTH + 10,
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_every_update_uses_the_rate_of_its_formula(name: str) -> None:
    schedule, factor, total = FORMULAS[name]
    used = rates_used(schedule)
    assert len(used) == total
    assert used == pytest.approx([BASE * factor(k) for k in range(1, total + 1)], abs=1e-12)
