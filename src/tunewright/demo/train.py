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
    run: tw.Run,
    learning_rate: float,
    momentum: float = 0.9,
    hidden_layers: int = 1,
    width: int = 64,
    batch_size: int = 64,
    max_train_steps: int = 500,
) -> None:
    """Nesterov momentum on the squared error, with a learning rate that decays linearly to zero."""
    import torch

    digits = Digits(run.seeds.split)
    torch.manual_seed(run.seeds.init)
    model = network(hidden_layers, width)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=learning_rate, momentum=momentum, nesterov=momentum > 0
    )
    if run.restored is not None:  # the trial was interrupted: go on where it was saved
        model.load_state_dict(run.restored["model"])
        optimizer.load_state_dict(run.restored["optimizer"])

    for step in run.steps(max_train_steps):
        optimizer.param_groups[0]["lr"] = learning_rate * (1 - (step - 1) / max_train_steps)
        images, labels = digits.batch(batch_size, run.seeds.order + step)
        loss = squared_error(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run.log(step, train_loss=loss)  # read later, so that no step waits for it
        if run.eval_due(step):
            with torch.no_grad():
                outputs = model(digits.valid_images)
            wrong = (outputs.argmax(dim=1) != digits.valid_labels).float().mean()
            valid_loss = squared_error(outputs, digits.valid_labels)
            run.log(step, valid_error=wrong, valid_loss=valid_loss)
        if run.save_due(step):
            run.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})


class Digits:
    """1,797 images of 8 x 8 pixels: 1,297 to train on, 500 to validate, split by a seed."""

    def __init__(self, split_seed: int) -> None:
        """Load the images (they come with scikit-learn) and split them."""
        import torch
        from sklearn.datasets import load_digits

        digits = load_digits()
        shuffled = torch.randperm(
            len(digits.target), generator=torch.Generator().manual_seed(split_seed)
        )
        images = torch.tensor(digits.data, dtype=torch.float32)[shuffled] / 16
        labels = torch.tensor(digits.target)[shuffled]
        self.valid_images, self.train_images = images[:500], images[500:]
        self.valid_labels, self.train_labels = labels[:500], labels[500:]

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


def squared_error(outputs: Any, labels: Any) -> Any:
    """Against one-hot labels. Unlike the cross-entropy it diverges when learning goes too fast."""
    import torch

    return (outputs - torch.nn.functional.one_hot(labels, 10)).square().sum(dim=1).mean()
