"""The three models that bench/pipeline.py trains: an MLP, a small ResNet and a small GPT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Workload:
    name: str
    model: Callable[[], nn.Module]
    data: tuple[Tensor, ...]
    loss: Callable[[nn.Module, Any], Tensor]
    batch_size: int
    precision: str
    window: int  # steps per timed window


def workloads(device: torch.device, small: bool) -> dict[str, Workload]:
    """The models on a GPU; toy sizes of the same shapes elsewhere."""
    return {
        "mlp": _mlp(device, small),
        "resnet": _resnet(device, small, 32),
        "wide_resnet": _resnet(device, small, 64),
        "gpt": _gpt(device, small),
    }


def _mlp(device: torch.device, small: bool) -> Workload:
    width, inputs, examples = (64, 64, 2_000) if small else (512, 784, 20_000)

    def model() -> nn.Module:
        return nn.Sequential(
            nn.Linear(inputs, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, 10),
        )

    x, y = torch.randn(examples, inputs), torch.randint(10, (examples,))
    return Workload(
        f"MLP {inputs}-{width}-{width}-10, batch 128, tf32",
        model,
        (x.to(device), y.to(device)),
        classification,
        128,
        "tf32",
        50 if small else 200,
    )


def _resnet(device: torch.device, small: bool, width: int) -> Workload:
    width, examples, batch = (width // 4, 500, 16) if small else (width, 20_000, 128)
    precision = "fp32" if small else "bf16"
    x = torch.randn(examples, 3, 32, 32).to(device, memory_format=torch.channels_last)
    return Workload(
        f"ResNet-14 width {width}, 32x32, batch {batch}, {precision}, channels_last",
        lambda: ResNet(width).to(memory_format=torch.channels_last),
        (x, torch.randint(10, (examples,)).to(device)),
        classification,
        batch,
        precision,
        5 if small else 100,
    )


def _gpt(device: torch.device, small: bool) -> Workload:
    width, layers, length, batch = (32, 2, 32, 4) if small else (256, 6, 256, 16)
    precision = "fp32" if small else "bf16"
    text = torch.randint(65, (20_000 if small else 1_000_000,))
    windows = text.unfold(0, length + 1, length // 4).contiguous().to(device)
    return Workload(
        f"GPT d{width} L{layers} T{length}, batch {batch}, {precision}",
        lambda: GPT(65, width, layers, length),
        (windows,),
        next_character,
        batch,
        precision,
        10 if small else 100,
    )


def classification(model: nn.Module, batch: Any) -> Tensor:
    return F.cross_entropy(model(batch[0]), batch[1])


def next_character(model: nn.Module, batch: Any) -> Tensor:
    logits = model(batch[0][:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), batch[0][:, 1:].flatten())


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)])
        same = inputs == outputs and stride == 1
        self.around = nn.Identity() if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        inner = F.relu(self.norms[0](self.first(x)))
        return F.relu(self.norms[1](self.second(inner)) + self.around(x))


class ResNet(nn.Module):
    """Six blocks: 14 layers with the first and the last."""

    def __init__(self, width: int) -> None:
        super().__init__()
        widths = [width, width, 2 * width, 2 * width, 4 * width, 4 * width]
        self.stem = nn.Conv2d(3, width, 3, 1, 1, bias=False)
        before = [width, *widths[:-1]]
        self.blocks = nn.Sequential(
            *[Block(i, o, 2 if o > i else 1) for i, o in zip(before, widths, strict=True)]
        )
        self.head = nn.Linear(4 * width, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(F.relu(self.stem(x))).mean((2, 3)))


class Layer(nn.Module):
    """Causal attention and an MLP, each added to what came in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.norms[0](x)).chunk(3, dim=-1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


class GPT(nn.Module):
    """A character GPT."""

    def __init__(self, characters: int, width: int, layers: int, length: int) -> None:
        super().__init__()
        self.token = nn.Embedding(characters, width)
        self.place = nn.Parameter(torch.zeros(length, width))
        self.layers = nn.Sequential(*[Layer(width, max(1, width // 64)) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, characters, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.norm(self.layers(self.token(ids) + self.place[: ids.shape[1]])))
