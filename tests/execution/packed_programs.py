"""Training functions for packs: small models that `fit` trains, and some that misbehave."""

from __future__ import annotations

import os
import random
import signal
import time

import numpy as np
import torch
from torch import Tensor, nn

from tunewright.execution.training_run import Run
from tunewright.pipeline import FitConfig, Validation, captured_step, fit

GENERATOR = torch.Generator().manual_seed(0)
X = torch.randn(256, 6, generator=GENERATOR)
Y = X[:, :3].argmax(1)


def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return nn.functional.cross_entropy(model(batch[0]), batch[1])


def each(model: nn.Module, batch: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
    return {"valid_error": nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="none")}


def train(run: Run, learning_rate: float = 0.01, steps: int = 40, dropout: float = 0.3) -> None:
    torch.manual_seed(run.seeds.init)
    net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(dropout), nn.Linear(8, 3))
    config = FitConfig(
        max_train_steps=steps,
        batch_size=16,
        base_learning_rate=learning_rate,
        capture=True,
        log_every=7,
    )
    fit(net, loss, (X, Y), config, valid=Validation((X, Y), each), run=run)


def eager(run: Run, learning_rate: float = 0.01) -> None:
    config = FitConfig(
        max_train_steps=20, batch_size=16, base_learning_rate=learning_rate, log_every=5
    )
    fit(nn.Linear(6, 3), loss, (X, Y), config, valid=Validation((X, Y), each), run=run)


def draws(run: Run, seed: int) -> None:
    """Draws from every generator around a training: another trial must not change what comes."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    run.applied(seed=seed)
    train(run, steps=30)
    drawn = random.random() + float(np.random.rand()) + float(torch.rand(()))
    run.log(31, drawn=drawn)


def on_gpu(
    run: Run, learning_rate: float = 0.003, steps: int = 300, precision: str = "fp32", share=0.0
) -> None:
    """A training on the GPU with dropout; `share` of the card's memory is held meanwhile."""
    torch.manual_seed(run.seeds.init)
    size = int(share * torch.cuda.mem_get_info()[1])
    held = torch.empty(size, dtype=torch.uint8, device="cuda")
    make = torch.Generator().manual_seed(0)
    x = torch.randn(2048, 64, generator=make).cuda()
    layers = [nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 256), nn.Dropout(0.1)]
    net = nn.Sequential(*layers, nn.Linear(256, 3)).cuda()
    config = FitConfig(
        max_train_steps=steps,
        batch_size=64,
        base_learning_rate=learning_rate,
        capture=True,
        precision=precision,  # type: ignore[arg-type]
        log_every=50,
    )
    data = (x, x[:, :3].argmax(1))
    fit(net, loss, data, config, valid=Validation(data, each), run=run)
    del held


def one_misbehaves(run: Run, how: str = "fine", device: str = "cpu") -> None:
    """How it misbehaves decides; every fault comes when the others are under way."""
    if how in ("exits", "killed", "hangs", "crowded", "broken"):
        time.sleep(0.2)
    if how == "exits":
        os._exit(3)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "hangs":
        time.sleep(1_000)
    if how == "raises":
        raise ValueError("a bug")
    if how == "crowded" and run.attempt == 1:  # it fits beside fewer
        raise torch.OutOfMemoryError("CUDA out of memory")
    if how == "broken":  # an assertion on the device: every later call fails, in all trials
        torch.zeros(3, device="cuda")[torch.tensor([99], device="cuda")].cpu()
    rate = 1e30 if how == "diverges" else 0.01
    if device == "cpu":
        train(run, learning_rate=rate)
    else:
        on_gpu(run, learning_rate=rate)


def own_loop(
    run: Run, learning_rate: float = 0.01, steps: int = 60, device: str = "cpu", dropout=0.3
) -> None:
    """A loop that is not `fit`: one update, and rows of ids."""
    torch.manual_seed(run.seeds.init)
    net = nn.Sequential(nn.Linear(6, 8), nn.Dropout(dropout), nn.Linear(8, 3)).to(device)
    x, y = X.to(device), Y.to(device)
    rate = torch.tensor(learning_rate, device=device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=rate, capturable=device != "cpu")
    if run.restored is not None:
        net.load_state_dict(run.restored["net"])
        optimizer.load_state_dict(run.restored["optimizer"])
        torch.set_rng_state(run.restored["random"])
    order = torch.Generator().manual_seed(run.seeds.order)
    ids = torch.randint(len(X), (steps, 16), generator=order).to(device)

    def update(batch: Tensor) -> Tensor:
        found = loss(net, (x[batch], y[batch]))
        optimizer.zero_grad()
        found.backward()
        optimizer.step()
        return found

    def rows(first: int, count: int) -> tuple[Tensor]:
        return (ids[first - 1 : first - 1 + count],)

    for step in captured_step(update, rows, run=run, max_train_steps=steps, optimizer=optimizer):
        if run.eval_due(step):
            net.eval()
            with torch.no_grad():
                run.log(step, valid_error=float(loss(net, (x, y))))
            net.train()
        if run.save_due(step):
            state = {"net": net.state_dict(), "optimizer": optimizer.state_dict()}
            run.save({**state, "random": torch.get_rng_state()})
