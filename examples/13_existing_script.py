"""A plain PyTorch script with its own loop, made tunable by five lines, marked (1) to (5).

    python examples/13_existing_script.py

Nothing of the pipeline is needed for that. What the script gains: its trials are recorded with
their curves, resume after a kill, and can be compared fairly.
"""

import os

import torch
import torch.nn.functional as F
from torch import nn

import tunewright as tw

STEPS = 50 if os.environ.get("TUNEWRIGHT_SHORT") else 400

generator = torch.Generator().manual_seed(0)
x = torch.randn(600, 10, generator=generator)
y = (x[:, :3].prod(1) + 0.1 * torch.randn(600, generator=generator) > 0).long()
train_x, train_y, valid_x, valid_y = x[:500], y[:500], x[500:], y[500:]


def main(run, learning_rate=1e-2, dropout=0.0):  # (1) it was: def main(learning_rate=1e-2, ...)
    torch.manual_seed(run.seeds.init)  # (2) it was: torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(dropout), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), learning_rate)
    for step in run.steps(STEPS):  # (3) it was: for step in range(1, STEPS + 1)
        batch = torch.randint(500, (64,))
        loss = F.cross_entropy(model(train_x[batch]), train_y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(step, train_loss=loss)  # (4) it was: print(step, loss.item())
        if run.eval_due(step):
            model.eval()
            with torch.no_grad():
                error = (model(valid_x).argmax(1) != valid_y).float().mean()
            model.train()
            run.log(step, valid_error=error)  # (5) it was: print(step, error.item())


round_1 = tw.Round(
    "dropout",
    goal="Does dropout lower the validation error?",
    scientific={"dropout": [0.0, 0.3]},
    nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
    fixed={},
    trials_per_study=2 if os.environ.get("TUNEWRIGHT_SHORT") else 8,
)
workload = tw.Workload(
    main, tw.minimize("valid_error"), store="script.db", executor=tw.executors.Inline()
)
results = tw.run(round_1, workload)
for dropout in (0.0, 0.3):
    best = results.best(dropout=dropout)
    print(f"dropout {dropout}: valid_error {best.value:.3f} after {best.best_step} steps")
