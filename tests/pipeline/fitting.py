"""A small network to fit, and a trial's handle with everything written down."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from tunewright import snapshot
from tunewright.pipeline import FitConfig, hosts

X = torch.randn(100, 6, generator=torch.Generator().manual_seed(1))
Y = (X[:, 0] * X[:, 1] > 0).long()


def mlp(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))


def loss(model: nn.Module, batch) -> torch.Tensor:
    return nn.functional.cross_entropy(model(batch[0]), batch[1])


def losses(model: nn.Module, batch) -> torch.Tensor:
    return nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="none")


def metrics(model: nn.Module, batch) -> dict[str, torch.Tensor]:
    return {"valid_error": (model(batch[0]).argmax(1) != batch[1]).float()}


def config(**changes) -> FitConfig:
    settings = {"max_train_steps": 50, "batch_size": 16, "base_learning_rate": 0.1}
    return FitConfig(**{**settings, **changes})


def same(one: nn.Module, other: nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


class Handle:
    """A trial's handle as fit sees it, with everything written down."""

    def __init__(self, folder: Path, restored=None, start_step: int = 0, stop_at: int = 0) -> None:
        self.folder, self.restored, self.start_step = folder, restored, start_step
        self.seeds, self.stop_at = hosts.seeds(0), stop_at
        self.logged: list[tuple[int, dict]] = []
        self.saved: list[tuple[int, object]] = []

    def steps(self, total: int):
        self.total = total
        for step in range(self.start_step + 1, total + 1):
            self.step = step
            yield step

    def log(self, step: int, metrics: dict) -> None:
        self.logged.append((step, dict(metrics)))

    def eval_due(self, step: int) -> bool:
        return step % 10 == 0 or step == self.total

    def save_due(self, step: int) -> bool:
        return step == self.stop_at

    def save(self, state: object) -> None:
        kept = snapshot.save(self.folder / "s", state, step=self.step)  # now: training goes on
        self.saved.append((self.step, snapshot.load(kept)))
