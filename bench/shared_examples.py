"""How alike are the measurement errors of trials that are evaluated on the same examples?

    python bench/shared_examples.py FOLDER_WITH_fashion20k.npz

Small networks of random settings are trained on Fashion-MNIST, and each is evaluated on the same
examples. The sampling error of the difference of two error rates, against that of two independent
samples, shows which share of a measurement's variance two trials have in common.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

TRIALS = 24
STEPS = 600
BATCH = 128


def trained(
    x: torch.Tensor, y: torch.Tensor, seed: int, look: Callable[[nn.Module], None]
) -> tuple[nn.Module, dict[str, float]]:
    """A network of random settings; `look` sees it six times in the last fifth of training."""
    random = np.random.default_rng(seed)
    width, rate = int(2 ** random.uniform(4, 8)), float(10 ** random.uniform(-2, -0.3))
    decay = float(10 ** random.uniform(-5, -2))
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(784, width), nn.ReLU(), nn.Linear(width, 10))
    optimizer = torch.optim.SGD(model.parameters(), rate, momentum=0.9, weight_decay=decay)
    order = torch.Generator().manual_seed(seed)
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 - step / STEPS)
        ids = torch.randint(len(x), (BATCH,), generator=order)
        loss = nn.functional.cross_entropy(model(x[ids]), y[ids])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step >= 0.8 * STEPS - 1 and (step + 1) % (STEPS // 30) == 0:
            look(model)
    return model, {"width": width, "rate": rate, "decay": decay}


def main(folder: str) -> None:
    data = np.load(Path(folder) / "fashion20k.npz")
    names = list(data.files)
    images = next(n for n in names if data[n].ndim > 1 and len(data[n]) >= 10_000)
    labels = next(n for n in names if data[n].ndim == 1 and len(data[n]) == len(data[images]))
    x = torch.tensor(data[images].reshape(len(data[images]), -1).astype(np.float32) / 255)
    y = torch.tensor(data[labels].astype(np.int64))
    train_x, train_y, x, y = x[:10_000], y[:10_000], x[10_000:], y[10_000:]
    wrong, losses, neighbours = [], [], []
    for seed in range(TRIALS):
        late: list[np.ndarray] = []

        def look(model: nn.Module, late: list[np.ndarray] = late) -> None:
            with torch.no_grad():
                late.append((model(x).argmax(1) != y).double().numpy())

        model, settings = trained(train_x, train_y, seed, look)
        neighbours += [shared_by(a, b) for a, b in itertools.pairwise(late)]
        with torch.no_grad():
            out = model(x)
            wrong.append((out.argmax(1) != y).double().numpy())
            losses.append(nn.functional.cross_entropy(out, y, reduction="none").double().numpy())
        row = {"seed": seed, **settings, "error": wrong[-1].mean(), "loss": losses[-1].mean()}
        print(json.dumps(row), flush=True)
    for name, rows in (("error", wrong), ("loss", losses)):
        order = np.argsort([row.mean() for row in rows])
        for which, some in (("all", order), ("better half", order[: TRIALS // 2])):
            shared = [shared_by(rows[a], rows[b]) for a, b in itertools.combinations(some, 2)]
            report({"metric": name, "trials": which, "examples": len(y)}, shared)
    report({"metric": "error", "trials": "neighbouring evaluations of one"}, neighbours)


def shared_by(one: np.ndarray, other: np.ndarray) -> float:
    """The share of their sampling variance that two rows of examples have in common."""
    return float(1 - np.var(one - other) / (np.var(one) + np.var(other)))


def report(about: dict[str, object], shared: list[float]) -> None:
    """A line with the median and the middle 80 %."""
    low, middle, high = np.quantile(shared, [0.1, 0.5, 0.9])
    found = {"pairs": len(shared), "shared": middle, "p10": low, "p90": high}
    print(json.dumps({**about, **found}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
