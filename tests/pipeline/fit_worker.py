"""One training for the tests that kill it, resume it, or run it on several processes."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch
from torch import nn

from tunewright.design.schedule import Cosine, Warmup
from tunewright.pipeline import AdamW, FitConfig, GhostBatchNorm, Keep, Validation, fit, hosts

STEPS = 40


class Noisy(torch.utils.data.Dataset):
    """A dataset that draws at random for every example, slowly enough to be killed in between."""

    def __init__(self, pause_s: float) -> None:
        generator = torch.Generator().manual_seed(0)
        self.x, self.pause_s = torch.randn(96, 8, generator=generator), pause_s

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int):
        time.sleep(self.pause_s / 16)
        noisy = self.x[index] + 0.1 * torch.randn(8)
        return noisy, (self.x[index].sum() > 0).long()


def loss(model: nn.Module, batch) -> torch.Tensor:
    return nn.functional.cross_entropy(model(batch[0]), batch[1])


def metrics(model: nn.Module, batch) -> dict[str, torch.Tensor]:
    wrong = model(batch[0]).argmax(1) != batch[1]
    return {"valid_error": wrong.float()}


def model() -> nn.Module:
    torch.manual_seed(hosts.seeds(3).init)
    return nn.Sequential(
        nn.Linear(8, 16),
        GhostBatchNorm(16, virtual_batch_size=4),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(16, 2),
    )


def train(folder: Path | None, *, pause_s: float = 0.0, precision: str = "fp32", **changes):
    data = Noisy(pause_s)
    settings = {
        "max_train_steps": STEPS,
        "batch_size": 16,
        "base_learning_rate": 0.01,
        "optimizer": AdamW(form="playbook"),
        "schedule": Warmup(5, Cosine()),
        "clip_norm": 0.5,
        "accumulate": 2,
        "average_decay": 0.9,
        "log_every": 3,
        "precision": precision,
    }
    made = model()
    fitted = fit(
        made,
        loss,
        data,
        FitConfig(**{**settings, **changes}),
        valid=Validation((data.x, (data.x.sum(1) > 0).long()), metrics),
        keep=Keep("valid_error", best=2) if folder else None,
        folder=folder,
        seed=3,
    )
    return made, fitted


if __name__ == "__main__":
    train(Path(sys.argv[1]), pause_s=float(sys.argv[2]))
