"""A small network on real images, for probes: handwritten digits, or a part of Fashion-MNIST."""

from __future__ import annotations

from pathlib import Path

FASHION = Path(__file__).parents[2].parent / "shared" / "data" / "fashion-mnist" / "fashion20k.npz"


def digits():
    """1,797 images of 8 x 8 pixels, the first 1,297 to train on."""
    import torch
    from sklearn.datasets import load_digits

    loaded = load_digits()
    return torch.tensor(loaded.data, dtype=torch.float32) / 16, torch.tensor(loaded.target), 1297


def fashion():
    """5,000 images of 28 x 28 pixels, the first 4,000 to train on."""
    import numpy as np
    import torch

    with np.load(FASHION) as loaded:
        images = next(loaded[n] for n in loaded.files if loaded[n].ndim == 3)[:5000]
        labels = next(loaded[n] for n in loaded.files if loaded[n].ndim == 1)[:5000]
    flat = torch.tensor(images.reshape(len(images), -1), dtype=torch.float32) / 255
    return flat, torch.tensor(labels.astype("int64")), 4000


def train_digits(
    run, learning_rate, batch_size=64, dropout=0.3, schedule="linear", max_train_steps=400
):
    """SGD with momentum; the error of the whole training set at every evaluation."""
    _train(run, digits(), learning_rate, batch_size, dropout, schedule, max_train_steps)


def train_fashion(
    run, learning_rate, batch_size=64, dropout=0.3, schedule="linear", max_train_steps=1250
):
    """The same on Fashion-MNIST."""
    _train(run, fashion(), learning_rate, batch_size, dropout, schedule, max_train_steps)


def _train(run, data, learning_rate, batch_size, dropout, schedule, max_train_steps):
    import torch
    from torch import nn

    torch.set_num_threads(1)
    images, labels, split = data
    torch.manual_seed(run.seeds.init)
    model = nn.Sequential(
        nn.Linear(images.shape[1], 128), nn.ReLU(), nn.Dropout(dropout), nn.Linear(128, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
    order = torch.Generator().manual_seed(run.seeds.order)
    for step in run.steps(max_train_steps):
        left = 1.0 if schedule == "constant" else 1 - (step - 1) / max_train_steps
        optimizer.param_groups[0]["lr"] = learning_rate * left
        drawn = torch.randint(split, (batch_size,), generator=order)
        loss = nn.functional.cross_entropy(model(images[drawn]), labels[drawn])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            model.eval()
            with torch.no_grad():
                wrong = (model(images).argmax(1) != labels).float()
            model.train()
            run.log(step, train_error=wrong[:split].mean(), valid_error=wrong[split:].mean())
