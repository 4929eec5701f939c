"""Input pipelines with a planted fault each, and one without, for bench/probes.py.

All feed a small ResNet from a DataLoader of pinned batches, except the one whose whole batches of
pictures are large and not pinned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from pipeline_models import ResNet, classification
from probe_steps import CUDA
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

BATCH = 256 if CUDA else 32
WIDTH = 128 if CUDA else 4  # wide enough for the loader to keep up with
WORKERS = 8 if CUDA else 0
EXAMPLES = 16_384 if CUDA else 256
DECODE_S = 1e-3  # planted, per example
LARGE = (3, 128, 128) if CUDA else (3, 64, 64)
PIPELINES = {
    "healthy": "nothing",
    "slow": f"a transform of {DECODE_S * 1e3:g} ms per example, `decode`",
    "item": "`loss.item()` in every step",
    "copy": "large batches that are not pinned",
}


def decode(x: Tensor) -> Tensor:
    """A transform that takes its time."""
    time.sleep(DECODE_S)
    return x


def flip(x: Tensor) -> Tensor:
    """One that does not."""
    return x.flip(-1)


class Chain:
    """Transforms one after the other, as torchvision composes them."""

    def __init__(self, *transforms: Callable[[Tensor], Tensor]) -> None:
        self.transforms = transforms

    def __call__(self, x: Tensor) -> Tensor:
        for each in self.transforms:
            x = each(x)
        return x


class Pictures(Dataset[Any]):
    """Small pictures in memory."""

    def __init__(self, transform: Chain) -> None:
        self.data = torch.randn(EXAMPLES, 3, 32, 32)
        self.labels = torch.randint(10, (EXAMPLES,))
        self.transform = transform

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        return self.transform(self.data[place]), self.labels[place]


class WholeBatches(Dataset[Any]):
    """Large batches that are ready."""

    def __init__(self) -> None:
        self.batches = [torch.randn(BATCH, *LARGE) for _ in range(4)]
        self.labels = torch.randint(10, (BATCH,))

    def __len__(self) -> int:
        return 1000

    def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
        return self.batches[place % len(self.batches)], self.labels


def loader(pipeline: str) -> DataLoader[Any]:
    if pipeline == "copy":
        return DataLoader(WholeBatches(), batch_size=None)
    chain = Chain(decode, flip) if pipeline == "slow" else Chain(flip)
    return DataLoader(
        Pictures(chain),
        BATCH,
        shuffle=True,
        drop_last=True,
        num_workers=WORKERS,
        pin_memory=CUDA,
        persistent_workers=WORKERS > 0,
    )


def make_step(batch_size: int, pipeline: str) -> Callable[[], None]:
    """One whole step on the next batch of a pipeline."""
    torch.manual_seed(0)
    device = "cuda" if CUDA else "cpu"
    net = _small() if pipeline == "copy" else ResNet(WIDTH)
    net = net.to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    source = loader(pipeline)

    def forever() -> Iterator[Any]:
        while True:
            yield from source

    batches = forever()

    def step() -> None:
        batch = tuple(part.to(device, non_blocking=True) for part in next(batches))
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=CUDA):
            loss = classification(net, batch)
        loss.backward()
        optimizer.step()
        if pipeline == "item":
            loss.item()

    return step


def _small() -> nn.Module:
    """A few strided convolutions: little work for large pictures."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 8, stride=8),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )
