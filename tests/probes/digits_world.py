"""Scikit-learn's handwritten digits, and the demo's network with warm-up, schedule and clipping."""

from __future__ import annotations

from typing import Any


def train(
    run: Any,
    learning_rate: float,
    momentum: float = 0.9,
    warmup_steps: int = 0,
    clip_norm: float | None = None,
    schedule: str = "linear",
    max_train_steps: int = 1000,
) -> None:
    """Nesterov momentum on the squared error; warm-up lies within max_train_steps."""
    import torch

    from tunewright.demo.train import Digits, network, squared_error

    digits = Digits(run.seeds.split)
    torch.manual_seed(run.seeds.init)
    model = network(2, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=momentum, nesterov=True)
    for step in run.steps(max_train_steps):
        factor = min(1.0, step / warmup_steps) if warmup_steps else 1.0
        if schedule == "linear" and step > warmup_steps:
            factor = 1 - (step - warmup_steps - 1) / (max_train_steps - warmup_steps)
        optimizer.param_groups[0]["lr"] = learning_rate * factor
        images, labels = digits.batch(64, run.seeds.order + step)
        loss = squared_error(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        limit = float("inf") if clip_norm is None else clip_norm
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), limit)
        optimizer.step()
        run.log(step, train_loss=loss, gradient_norm=norm)
        if run.eval_due(step):
            with torch.no_grad():
                wrong = model(digits.valid_images).argmax(dim=1) != digits.valid_labels
            run.log(step, valid_error=wrong.float().mean())
