"""What bench/loop.py trains: a small network in numpy on digits or on a part of Fashion-MNIST.

The signature is the list of hyperparameters. The space is wide on purpose, as somebody would write
it who knows nothing yet: much of it diverges or learns nothing.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tunewright as tw

Floats = npt.NDArray[np.float32]
FASHION = Path(__file__).parent.parent.parent / "shared" / "data" / "fashion-mnist"
SPACE: dict[str, Any] = {
    "learning_rate": tw.log(1e-5, 10.0),
    "momentum": tw.ranges.log_from_one(0.5, 0.999),
    "weight_decay": tw.log(1e-7, 1.0),
    "dropout": tw.linear(0.0, 0.8),
    "init_scale": tw.log(0.03, 30.0),
}
STEPS = {"digits": 300, "fashion": 400}
BATCH, HIDDEN, EVALUATIONS = 32, 64, 20


@dataclass(frozen=True)
class Split:
    """Images and labels to train on, to choose by, and to report on."""

    train: tuple[Floats, npt.NDArray[np.int64]]
    valid: tuple[Floats, npt.NDArray[np.int64]]
    test: tuple[Floats, npt.NDArray[np.int64]]


@functools.lru_cache(maxsize=4)
def data(task: str, seed: int) -> Split:
    """The task's data split by a seed: digits 600/400/797, Fashion-MNIST 2,000/1,000/4,000."""
    if task == "digits":
        from sklearn.datasets import load_digits

        found = load_digits()
        images, labels, sizes = found.data / 16.0, found.target, (600, 400)
    else:
        with np.load(next(FASHION.glob("*.npz"))) as file:
            names = sorted(file.files, key=lambda name: -file[name].ndim)
            images, labels = file[names[0]].reshape(len(file[names[0]]), -1) / 255.0, file[names[1]]
        sizes = (2000, 1000)
    order = np.random.default_rng([seed, 17]).permutation(len(labels))[:7_000]
    images, labels = images[order].astype(np.float32), labels[order].astype(np.int64)
    images -= images.mean(axis=0)
    first, second = sizes[0], sizes[0] + sizes[1]
    return Split(
        (images[:first], labels[:first]),
        (images[first:second], labels[first:second]),
        (images[second:], labels[second:]),
    )


def train(
    run: tw.protocols.Run,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    dropout: float,
    init_scale: float,
    task: str = "digits",
    split: int = 0,
) -> None:
    """Nesterov momentum with a linear decay; the test error is logged and never looked at."""
    curve = trained(
        task,
        split,
        run.seeds.init,
        learning_rate,
        momentum,
        weight_decay,
        dropout,
        init_scale,
    )
    for step, loss, valid, test in curve:
        run.log(step, train_loss=loss, valid_error=valid, test_error=test)


def trained(
    task: str,
    split: int,
    seed: int,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    dropout: float,
    init_scale: float,
) -> list[tuple[int, float, float, float]]:
    """Step, training loss, validation and test error at 20 evaluations; nan where it diverged."""
    own = data(task, split)
    random = np.random.default_rng(seed)
    images, labels = own.train
    inputs, steps = images.shape[1], STEPS[task]
    w1 = (random.normal(size=(inputs, HIDDEN)) * init_scale / math.sqrt(inputs)).astype(np.float32)
    w2 = (random.normal(size=(HIDDEN, 10)) * init_scale / math.sqrt(HIDDEN)).astype(np.float32)
    b1, b2 = np.zeros(HIDDEN, np.float32), np.zeros(10, np.float32)
    weights = [w1, b1, w2, b2]
    speed = [np.zeros_like(w) for w in weights]
    curve: list[tuple[int, float, float, float]] = []
    with np.errstate(all="ignore"):
        for step in range(1, steps + 1):
            rate = learning_rate * (1 - (step - 1) / steps)
            drawn = random.integers(len(labels), size=BATCH)
            x, y = images[drawn], labels[drawn]
            hidden = x @ weights[0] + weights[1]
            active = hidden > 0
            mask = (random.random(hidden.shape) >= dropout) / np.float32(1 - dropout)
            hidden = hidden * active * mask.astype(np.float32)
            output = hidden @ weights[2] + weights[3]
            output -= output.max(axis=1, keepdims=True)
            chance = np.exp(output)
            chance /= chance.sum(axis=1, keepdims=True)
            loss = float(-np.log(chance[np.arange(BATCH), y] + 1e-30).mean())
            chance[np.arange(BATCH), y] -= 1
            chance /= BATCH
            back = (chance @ weights[2].T) * active * mask.astype(np.float32)
            slopes = [x.T @ back, back.sum(axis=0), hidden.T @ chance, chance.sum(axis=0)]
            for at, slope in enumerate(slopes):
                decayed = slope + weight_decay * weights[at] if weights[at].ndim == 2 else slope
                speed[at] = momentum * speed[at] + decayed
                weights[at] = weights[at] - rate * (momentum * speed[at] + decayed)
            if step % (steps // EVALUATIONS) == 0:
                curve.append(
                    (step, loss, *(_error(weights, *part) for part in (own.valid, own.test)))
                )
                if not math.isfinite(curve[-1][2]):
                    break
    return curve


def _error(weights: list[Any], images: Floats, labels: npt.NDArray[np.int64]) -> float:
    hidden = np.maximum(images @ weights[0] + weights[1], 0)
    output = hidden @ weights[2] + weights[3]
    if not np.isfinite(output).all():
        return math.nan
    return float((output.argmax(axis=1) != labels).mean())
