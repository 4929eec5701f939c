"""The models of `gpu_round.py`: an MLP, a character transformer, a small residual network."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    """One layer of the transformer."""

    def __init__(self, width: int) -> None:
        """Four heads."""
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Attention, then the two linear layers."""
        size, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).chunk(3, -1)
        q, k, v = (part.view(size, length, 4, width // 4).transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(size, length, width))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class GPT(nn.Module):
    """A character model of 0.8 million weights."""

    def __init__(self, words: int = 65, width: int = 128, layers: int = 4, length: int = 128):
        """Embeddings, layers, head."""
        super().__init__()
        self.embed, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, x: Tensor) -> Tensor:
        """Logits of each next character."""
        places = self.place(torch.arange(x.shape[1], device=x.device))
        return self.head(self.norm(self.blocks(self.embed(x) + places)))


class Residual(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        """The shortcut is a convolution where shapes differ."""
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inner, outer, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outer),
            nn.ReLU(),
            nn.Conv2d(outer, outer, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outer),
        )
        same = stride == 1 and inner == outer
        self.short = nn.Identity() if same else nn.Conv2d(inner, outer, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Add and rectify."""
        return F.relu(self.body(x) + self.short(x))


def network(model: str) -> nn.Module:
    """A new model."""
    if model == "gpt":
        return GPT()
    if model == "resnet":
        widths = [(16, 16, 1), (16, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1)]
        return nn.Sequential(
            nn.Conv2d(3, 16, 3, 1, 1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            *[Residual(*each) for each in widths],
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(64, 10),
        )
    drop = [nn.Dropout(0.3)] if model == "dropout" else []
    first = [nn.Linear(784, 512), nn.ReLU(), *drop]
    return nn.Sequential(*first, nn.Linear(512, 512), nn.ReLU(), *drop, nn.Linear(512, 10))
