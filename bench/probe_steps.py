"""Training steps of the small ResNet and the small GPT at any batch size, for bench/probes.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from pipeline_models import GPT, ResNet, classification, next_character
from torch import Tensor, nn

CUDA = torch.cuda.is_available()


def resnet() -> nn.Module:
    return ResNet(64 if CUDA else 4).to(memory_format=torch.channels_last)


def gpt() -> nn.Module:
    return GPT(65, 256, 6, 256) if CUDA else GPT(65, 16, 1, 16)


def images(size: int, device: str) -> tuple[Tensor, ...]:
    x = torch.randn(size, 3, 32, 32, device=device).to(memory_format=torch.channels_last)
    return x, torch.randint(10, (size,), device=device)


def text(size: int, device: str) -> tuple[Tensor, ...]:
    return (torch.randint(65, (size, 257 if CUDA else 17), device=device),)


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[..., Any], Callable[..., Any]]] = {
    "resnet": (resnet, images, classification),
    "gpt": (gpt, text, next_character),
}
NAMES = {"resnet": "ResNet-14 width 64, 32x32, bf16", "gpt": "GPT d256 L6 T256, bf16"}


def make_step(batch_size: int, model: str = "resnet") -> Callable[[], None]:
    """A factory as a user would write it: one whole step on a batch that lies on the device."""
    device = "cuda" if CUDA else "cpu"
    build, batch_of, loss_of = MODELS[model]
    torch.manual_seed(0)
    net = build().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    batch = batch_of(batch_size, device)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, torch.bfloat16, enabled=CUDA):
            loss = loss_of(net, batch)
        loss.backward()
        optimizer.step()

    return step
