"""Steps and training functions for tests that start real processes; importable by them."""

from __future__ import annotations

import os
from typing import Any


def make_ranked_step(batch_size: int) -> Any:
    """DDP under torchrun's variables: each process takes its share of the batch."""
    import torch
    from torch import nn

    from tunewright.pipeline import hosts

    torch.set_num_threads(1)
    host = hosts.start()
    assert batch_size % host.world == 0
    torch.manual_seed(0)
    model = hosts.parallel(nn.Linear(32, 32), host)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(batch_size // host.world, 32)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step


def train(run: Any, batch_size: int, width: int, learning_rate: float = 0.1) -> None:
    """A pipeline fit on the digits, or on noise of their shape."""
    import torch
    from torch import nn

    from tunewright.pipeline import SGD, FitConfig, fit

    torch.set_num_threads(1)
    data = torch.randn(1797, 64), torch.randint(10, (1797,))
    model = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))
    config = FitConfig(
        max_train_steps=1_000_000,
        batch_size=batch_size,
        base_learning_rate=learning_rate,
        optimizer=SGD(),
    )
    fit(
        model,
        lambda net, batch: nn.functional.cross_entropy(net(batch[0]), batch[1]),
        data,
        config,
        run=run,
    )


def train_alone(run: Any, batch_size: int) -> None:
    """Never asks for its steps."""


def train_short(run: Any, batch_size: int) -> None:
    """Leaves its loop."""
    for step in run.steps(100):
        if step == 3:
            break


def raises(batch_size: int) -> Any:
    raise ValueError("no data here")


def raises_in_step(batch_size: int) -> Any:
    def step() -> None:
        raise KeyError("label")

    return step


def returns_nothing(batch_size: int) -> Any:
    pass


def does_nothing(batch_size: int) -> Any:
    return lambda: None


def dies(batch_size: int) -> Any:
    print("about to go", flush=True)
    os._exit(7)


def hoards(batch_size: int) -> Any:
    """Takes memory that no line predicts: 40 MB more with every step."""
    taken: list[bytearray] = []

    def step() -> None:
        taken.append(bytearray(b"x") * (40 * 2**20))

    return step
