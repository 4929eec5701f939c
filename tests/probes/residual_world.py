"""A residual network that is unstable on purpose: large residual branches, no normalisation.

At `residual_scale` 6 the first steps blow up far below the learning rates that training could use
later on: warm-up and clipping both mend that. At 0.3 it is stable.
"""

from __future__ import annotations

from typing import Any

STEPS = 1000


def train(
    run: Any,
    learning_rate: float,
    residual_scale: float = 6.0,
    warmup_steps: int = 0,
    clip_norm: float | None = None,
    schedule: str = "linear",
    max_train_steps: int = STEPS,
) -> None:
    """Momentum on a small classification task; warm-up lies within max_train_steps."""
    import torch
    from torch import nn
    from torch.nn.functional import cross_entropy

    task = torch.Generator().manual_seed(1)
    inputs = torch.randn(512, 16, generator=task)
    labels = (torch.tanh(inputs) @ torch.randn(16, 4, generator=task)).argmax(1)
    torch.manual_seed(run.seeds.init)
    first, last = nn.Linear(16, 24), nn.Linear(24, 4)
    branches = nn.ModuleList(nn.Linear(24, 24) for _ in range(6))
    everything = nn.ModuleList([first, branches, last])

    def loss_of(chosen: Any) -> Any:
        x = first(inputs[chosen])
        for branch in branches:
            x = x + residual_scale * torch.relu(branch(x))
        return cross_entropy(last(x), labels[chosen])

    optimizer = torch.optim.SGD(everything.parameters(), lr=learning_rate, momentum=0.9)
    order = torch.Generator().manual_seed(run.seeds.order % 2**63)
    for step in run.steps(max_train_steps):
        factor = min(1.0, step / warmup_steps) if warmup_steps else 1.0
        if schedule == "linear" and step > warmup_steps:
            factor = 1 - (step - warmup_steps - 1) / (max_train_steps - warmup_steps)
        optimizer.param_groups[0]["lr"] = learning_rate * factor
        loss = loss_of(torch.randint(512, (64,), generator=order))
        optimizer.zero_grad()
        loss.backward()
        limit = float("inf") if clip_norm is None else clip_norm
        norm = nn.utils.clip_grad_norm_(everything.parameters(), limit)
        optimizer.step()
        run.log(step, train_loss=loss, gradient_norm=norm)
        if run.eval_due(step):
            with torch.no_grad():
                run.log(step, valid_loss=loss_of(slice(0, 128)))
