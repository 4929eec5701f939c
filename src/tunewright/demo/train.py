"""A small network on scikit-learn's handwritten digits: the training function of the demo.

`tunewright demo` copies this file into its project; change it there and see what happens. The
signature is the list of hyperparameters, `run` is what tunewright hands to every trial.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tunewright as tw


def train(
    run: tw.protocols.Run,
    learning_rate: float = 0.01,
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    hidden_layers: int = 1,
    width: int = 64,
    batch_size: int = 64,
    max_train_steps: int = 500,
    schedule: str = "linear",
) -> None:
    """Nesterov momentum on the squared error, with a learning rate that decays linearly to zero."""
    import torch

    digits = Digits(run.seeds.split)
    torch.manual_seed(run.seeds.init)
    model = network(hidden_layers, width)
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=learning_rate,
        momentum=momentum,
        nesterov=momentum > 0,
        weight_decay=weight_decay,
    )
    if run.restored is not None:  # the trial was interrupted: resume where it was saved
        model.load_state_dict(run.restored["model"])
        optimizer.load_state_dict(run.restored["optimizer"])

    for step in run.steps(max_train_steps):
        left = 1 - (step - 1) / max_train_steps if schedule == "linear" else 1.0
        optimizer.param_groups[0]["lr"] = learning_rate * left
        images, labels = digits.batch(batch_size, run.seeds.order + step)
        loss = squared_error(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(step, train_loss=loss)  # read later, so that no step waits for it
        if run.eval_due(step):
            valid_loss, valid_error = measure(model, digits.valid_images, digits.valid_labels)
            _, train_error = measure(model, digits.train_images, digits.train_labels)
            run.log(step, valid_error=valid_error, valid_loss=valid_loss, train_error=train_error)
        if run.save_due(step):
            run.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})


def test(checkpoint: tw.trials.Checkpoint) -> dict[str, float]:
    """The error on images that neither trained nor chose anything: `tunewright final` looks here.

    The checkpoint is the one of the trial's best step, or the nearest that was kept.
    """
    digits = Digits(checkpoint.seeds.split)
    settings: Any = checkpoint.configuration
    model = network(settings["hidden_layers"], settings["width"])
    model.load_state_dict(checkpoint.state["model"])
    _, error = measure(model, digits.test_images, digits.test_labels)
    return {"test_error": float(error)}


class Digits:
    """1,797 images of 8 x 8 pixels, split by a seed: 897 to train on, 400 to validate, 500 to test.

    The test images are the same for every seed.
    """

    def __init__(self, split_seed: int) -> None:
        """Load the images (they come with scikit-learn) and split them."""
        import torch
        from sklearn.datasets import load_digits

        digits = load_digits()
        shuffled = torch.randperm(len(digits.target), generator=torch.Generator().manual_seed(0))
        images = torch.tensor(digits.data, dtype=torch.float32)[shuffled] / 16
        labels = torch.tensor(digits.target)[shuffled]
        self.test_images, self.test_labels = images[-500:], labels[-500:]
        drawn = torch.randperm(
            len(labels) - 500, generator=torch.Generator().manual_seed(split_seed)
        )
        self.valid_images, self.valid_labels = images[drawn[:400]], labels[drawn[:400]]
        self.train_images, self.train_labels = images[drawn[400:]], labels[drawn[400:]]

    def batch(self, size: int, seed: int) -> tuple[Any, Any]:
        """A random batch that depends on the seed alone, so a resumed trial draws the same ones."""
        import torch

        generator = torch.Generator().manual_seed(seed % 2**63)
        drawn = torch.randint(len(self.train_labels), (size,), generator=generator)
        return self.train_images[drawn], self.train_labels[drawn]


def network(hidden_layers: int, width: int) -> Any:
    """Fully connected layers with a GELU after each hidden one."""
    import torch

    sizes = [64] + [width] * hidden_layers
    layers: list[Any] = []
    for wide, narrow in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(wide, narrow), torch.nn.GELU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], 10))


def measure(model: Any, images: Any, labels: Any) -> tuple[Any, Any]:
    """The loss and the share of wrong answers on some images."""
    import torch

    with torch.no_grad():
        outputs = model(images)
    wrong = (outputs.argmax(dim=1) != labels).float().mean()
    return squared_error(outputs, labels), wrong


def squared_error(outputs: Any, labels: Any) -> Any:
    """Against one-hot labels. Unlike the cross-entropy it diverges when learning goes too fast."""
    import torch

    return (outputs - torch.nn.functional.one_hot(labels, 10)).square().sum(dim=1).mean()
