"""Fashion-MNIST, a small network: the training function of the worked example.

`fashion20k.npz` (images uint8 (n, 28, 28), labels uint8 (n,)) stands where FASHION_MNIST says:
10,000 images to train on, 4,000 to validate, 6,000 to test.
"""

import os

import numpy as np
import torch
from torch.nn import functional

TRAIN, VALID = 10_000, 4_000
EVERYTHING = os.environ.get("FASHION_MNIST", "fashion20k.npz")
torch.set_num_threads(1)


def train(
    run,
    learning_rate=0.01,
    momentum=0.9,
    weight_decay=0.0,
    dropout=0.0,
    label_smoothing=0.0,
    width=128,
    batch_size=128,
    max_train_steps=800,
    schedule="linear",
):
    """Nesterov momentum on the cross-entropy, the learning rate decaying linearly to zero."""
    images, labels = images_and_labels()
    torch.manual_seed(run.seeds.init)
    order = torch.Generator().manual_seed(run.seeds.order)
    model = network(width, dropout)
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=learning_rate,
        momentum=momentum,
        nesterov=momentum > 0,
        weight_decay=weight_decay,
    )
    for step in run.steps(max_train_steps):
        left = 1 - (step - 1) / max_train_steps if schedule == "linear" else 1.0
        optimizer.param_groups[0]["lr"] = learning_rate * left
        drawn = torch.randint(TRAIN, (batch_size,), generator=order)
        outputs = model(images[drawn])
        loss = functional.cross_entropy(outputs, labels[drawn], label_smoothing=label_smoothing)
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
        optimizer.step()
        run.log(step, train_loss=loss, gradient_norm=norm)
        if step % (max_train_steps // 25) == 0:
            error, valid_loss = measure(model, images[TRAIN:][:VALID], labels[TRAIN:][:VALID])
            run.log(step, valid_error=error, valid_loss=valid_loss)
        if run.save_due(step):
            run.save({"model": model.state_dict()})


def test(checkpoint):
    """The 6,000 images that neither trained nor chose anything."""
    images, labels = images_and_labels()
    model = network(checkpoint.configuration["width"], checkpoint.configuration["dropout"])
    model.load_state_dict(checkpoint.state["model"])
    error, _ = measure(model, images[TRAIN + VALID :], labels[TRAIN + VALID :])
    return {"test_error": error}


def network(width, dropout):
    """Two hidden layers."""
    return torch.nn.Sequential(
        torch.nn.Linear(784, width),
        torch.nn.ReLU(),
        torch.nn.Dropout(dropout),
        torch.nn.Linear(width, width),
        torch.nn.ReLU(),
        torch.nn.Dropout(dropout),
        torch.nn.Linear(width, 10),
    )


def images_and_labels():
    """All of it, centred."""
    with np.load(EVERYTHING) as file:
        images = torch.tensor(file["images"].reshape(-1, 784), dtype=torch.float32) / 255
        return (images - 0.286) / 0.353, torch.tensor(file["labels"].astype(np.int64))


def measure(model, images, labels):
    """The share of wrong answers, and the loss."""
    model.eval()
    with torch.no_grad():
        outputs = model(images)
    model.train()
    wrong = (outputs.argmax(dim=1) != labels).float().mean()
    return float(wrong), float(functional.cross_entropy(outputs, labels))
