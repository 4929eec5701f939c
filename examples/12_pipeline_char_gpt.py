"""A character GPT on Tiny Shakespeare: per-token losses, warm-up, clipping, and a sample.

    python examples/12_pipeline_char_gpt.py

Reads ../shared/data/tinyshakespeare/input.txt beside the repository if it is there.
"""

import os
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from tunewright.design.schedule import Cosine, Warmup
from tunewright.pipeline import AdamW, FitConfig, Validation, fit, hosts
from tunewright.pipeline.gradient import clipped_share

SHORT = bool(os.environ.get("TUNEWRIGHT_SHORT"))
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
FILE = Path(__file__).resolve().parents[2] / "shared/data/tinyshakespeare/input.txt"
WIDTH, LAYERS, LENGTH = (32, 2, 32) if SHORT or DEVICE.type == "cpu" else (256, 6, 256)


def text():
    if FILE.exists():
        return FILE.read_text(encoding="utf-8")
    print(f"{FILE.name} is not there: training on a sentence")
    return "The quick brown fox jumps over the lazy dog; the dog sleeps on. " * 5000


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.norm_1(x)).chunk(3, dim=-1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm_2(x))


class GPT(nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.token = nn.Embedding(characters, WIDTH)
        nn.init.normal_(self.token.weight, std=0.02)
        self.place = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.layers = nn.Sequential(*[Layer(WIDTH, max(1, WIDTH // 64)) for _ in range(LAYERS)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, characters, bias=False)
        self.head.weight = self.token.weight  # tied; checkpoints keep it once

    def forward(self, ids):
        return self.head(self.norm(self.layers(self.token(ids) + self.place[: ids.shape[1]])))


def token_losses(model, windows):
    """(examples, positions): the loss of every next character."""
    logits = model(windows[:, :-1])
    each = F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten(), reduction="none")
    return each.view(len(windows), -1)


def windows(ids):
    """Overlapping windows of the text; the pipeline shuffles them anew in every epoch."""
    return ids.unfold(0, LENGTH + 1, LENGTH // 2).contiguous().to(DEVICE)


everything = text()
characters = sorted(set(everything))
ids = torch.tensor([characters.index(c) for c in everything])
cut = len(ids) * 9 // 10
train, valid = windows(ids[:cut]), windows(ids[cut:])
if SHORT:
    valid = valid[:64]

torch.manual_seed(hosts.seeds(0).init)
model = GPT(len(characters)).to(DEVICE)
config = FitConfig(
    max_train_steps=40 if SHORT else 1000,
    batch_size=16,
    base_learning_rate=3e-3,
    optimizer=AdamW(beta2=0.99, weight_decay=0.1),
    schedule=Warmup(10 if SHORT else 100, Cosine(end_factor=0.1)),
    clip_norm=1.0,
    precision="bf16" if DEVICE.type == "cuda" else "fp32",
    capture=DEVICE.type == "cuda",
)
fitted = fit(
    model,
    token_losses,
    train,
    config,
    valid=Validation(
        valid, lambda model, batch: {"valid_loss": token_losses(model, batch).mean(1)}
    ),
)
first, last = (fitted.curves["valid_loss"][i][1] for i in (0, -1))
print(f"valid_loss {first:.3f} -> {last:.3f} nats per character")
norms = [norm for _, norm in fitted.curves["gradient_norm"]]
print(
    f"{clipped_share(norms, config.clip_norm):.0%} of the steps were clipped at {config.clip_norm}"
)
print(fitted.throughput, *fitted.notes, sep="\n")

model.eval()
said = torch.tensor([[characters.index("T")]], device=DEVICE)
with torch.no_grad():
    for _ in range(20 if SHORT else 200):
        odds = model(said[:, -LENGTH:])[:, -1].softmax(-1)
        said = torch.cat([said, torch.multinomial(odds, 1)], dim=1)
print("".join(characters[i] for i in said[0].tolist()))
