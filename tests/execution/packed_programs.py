"""Training functions for packs: small models that `fit` trains, and some that misbehave."""

from __future__ import annotations

import os
import random
import time

import numpy as np
import torch
from torch import Tensor, nn

from tunewright.execution.training_run import Run
from tunewright.pipeline import FitConfig, Validation, fit

GENERATOR = torch.Generator().manual_seed(0)
X = torch.randn(256, 6, generator=GENERATOR)
Y = X[:, :3].argmax(1)


def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return nn.functional.cross_entropy(model(batch[0]), batch[1])


def each(model: nn.Module, batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
    return {"valid_error": nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="none")}


def train(run: Run, learning_rate: float = 0.01, steps: int = 40, dropout: float = 0.3) -> None:
    torch.manual_seed(run.seeds.init)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(dropout), nn.Linear(8, 3))
    config = FitConfig(
        max_train_steps=steps,
        batch_size=16,
        base_learning_rate=learning_rate,
        capture=True,
        log_every=7,
    )
    fit(net, loss, (X, Y), config, valid=Validation((X, Y), each), run=run)


def eager(run: Run, learning_rate: float = 0.01) -> None:
    config = FitConfig(
        max_train_steps=20, batch_size=16, base_learning_rate=learning_rate, log_every=5
    )
    fit(nn.Linear(6, 3), loss, (X, Y), config, valid=Validation((X, Y), each), run=run)


def draws(run: Run, seed: int) -> None:
    """Draws from every generator around a training: another trial must not change what comes."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    train(run, steps=30)
    drawn = random.random() + float(np.random.rand()) + float(torch.rand(()))
    run.log(31, drawn=drawn)


def one_misbehaves(run: Run, how: str = "fine") -> None:
    if how == "exits":
        time.sleep(0.2)  # the others are under way
        os._exit(3)
    if how == "raises":
        raise ValueError("a bug")
    if how == "diverges":
        train(run, learning_rate=1e30)
    train(run)
