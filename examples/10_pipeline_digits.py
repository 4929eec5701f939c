"""Train a network on handwritten digits with `fit`: alone, and then inside a round.

    python examples/10_pipeline_digits.py

Alone it saves to a folder: kill it, run it again, and it resumes where it was.
"""

import itertools
import os

import torch
import torch.nn.functional as F
from torch import nn

import tunewright as tw
from tunewright.pipeline import FitConfig, Keep, Validation, fit, hosts, named

SHORT = bool(os.environ.get("TUNEWRIGHT_SHORT"))
STEPS = 100 if SHORT else 500


def digits(seed):
    """1,797 pictures of 8 x 8, split by the seed; noise of that shape without scikit-learn."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        print("scikit-learn is not installed: training on noise")
        x, y = torch.randn(1797, 64), torch.randint(10, (1797,))
    else:
        x, y = (torch.from_numpy(part) for part in load_digits(return_X_y=True))
        x, y = x.float() / 16, y.long()
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    train, valid = order[:1400], order[1400:]
    return (x[train], y[train]), (x[valid], y[valid])


def network(hidden_layers, seed, width=64):
    torch.manual_seed(seed)
    sizes = [64, *[width] * hidden_layers]
    layers = [
        layer
        for inputs, outputs in itertools.pairwise(sizes)
        for layer in (nn.Linear(inputs, outputs), nn.ReLU())
    ]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], 10))


def loss(model, batch):
    return F.cross_entropy(model(batch[0]), batch[1])


def metrics(model, batch):
    """One value per example: partial batches and several hosts then cannot bias the mean."""
    logits = model(batch[0])
    return {
        "valid_error": (logits.argmax(1) != batch[1]).float(),
        "valid_loss": F.cross_entropy(logits, batch[1], reduction="none"),
    }


def train(run, learning_rate, optimizer="adamw", hidden_layers=1, max_train_steps=STEPS):
    """A training function for a round: the pipeline is its one line."""
    data, valid = digits(run.seeds.split)
    model = network(hidden_layers, run.seeds.init)
    config = FitConfig(
        max_train_steps=max_train_steps,
        batch_size=128,
        base_learning_rate=learning_rate,
        optimizer=named(optimizer),
    )
    fit(model, loss, data, config, valid=Validation(valid, metrics), run=run)


# 1. Alone: the best three checkpoints are kept and the choice is made at the end.
data, valid = digits(seed=0)
fitted = fit(
    network(hidden_layers=2, seed=hosts.seeds(0).init),
    loss,
    data,
    FitConfig(max_train_steps=STEPS, batch_size=128, base_learning_rate=3e-3, clip_norm=1.0),
    valid=Validation(valid, metrics),
    keep=Keep("valid_error"),
    folder="digits",
)
print(f"trained to step {fitted.steps}, from step {fitted.start_step}")
print(f"best checkpoint: {fitted.selected.says}")
print(fitted.throughput)

# 2. In a round: which optimizer, each with its own best learning rate?
choice = tw.Round(
    "optimizer",
    goal="Is NAdamW better than AdamW here?",
    scientific={"optimizer": ["adamw", "nadamw"]},
    nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
    fixed={"hidden_layers": 1, "max_train_steps": STEPS},
    trials_per_study=2 if SHORT else 8,
)
workload = tw.Workload(
    train, tw.minimize("valid_error"), store="digits.db", executor=tw.executors.Inline()
)
results = tw.run(choice, workload)
for name in ("adamw", "nadamw"):
    best = results.best(optimizer=name)
    rate = best.configuration["learning_rate"]
    print(f"{name}: valid_error {best.value:.4f} at learning_rate {rate:.2g}")
