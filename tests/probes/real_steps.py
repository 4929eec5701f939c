"""Steps on real images through a DataLoader, importable by the processes of a probe."""

from __future__ import annotations

from typing import Any

from tests.probes import digits_network as network


def make_digits_step(batch_size: int) -> Any:
    """A small network on the handwritten digits."""
    return _step(network.digits(), batch_size, width=64)


def make_fashion_step(batch_size: int) -> Any:
    """A wider one on a part of Fashion-MNIST."""
    return _step(network.fashion(), batch_size, width=512)


def _step(data: Any, batch_size: int, width: int) -> Any:
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.set_num_threads(1)
    inputs, targets, train = data
    dataset = TensorDataset(inputs[:train], targets[:train])
    model = nn.Sequential(nn.Linear(inputs.shape[1], width), nn.ReLU(), nn.Linear(width, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def forever() -> Any:
        while True:
            yield from DataLoader(dataset, batch_size, shuffle=True, drop_last=True)

    batches = iter(forever())

    def step() -> None:
        images, labels = next(batches)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step
