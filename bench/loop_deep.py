"""What kinds d and e of bench/loop_users.py train: a deep network without normalisation on digits.

Fourteen hidden layers, Adam, no normalisation: without warm-up the learning rates at which it would
learn best make it unstable, and a linear warm-up cures that. Cosine decay. Small enough for a
training in a fifth of a second on one thread.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import tunewright as tw

Floats = npt.NDArray[np.float32]
SPACE: dict[str, Any] = {"learning_rate": tw.log(1e-5, 1.0), "weight_decay": tw.log(1e-4, 1.0)}
BATCH, WIDTH, HIDDEN = 32, 48, 14


@dataclass(frozen=True)
class Split:
    """Images and labels to train on, to choose by, and to report on."""

    train: tuple[Floats, npt.NDArray[np.int64]]
    valid: tuple[Floats, npt.NDArray[np.int64]]
    test: tuple[Floats, npt.NDArray[np.int64]]


@functools.lru_cache(maxsize=8)
def data(seed: int) -> Split:
    """Digits, 700/300/797, split by a seed."""
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.default_rng([seed, 19]).permutation(len(found.target))
    images = (found.data[order] / 16.0).astype(np.float32)
    images, labels = images - images.mean(axis=0), found.target[order].astype(np.int64)
    return Split(
        (images[:700], labels[:700]),
        (images[700:1000], labels[700:1000]),
        (images[1000:], labels[1000:]),
    )


@dataclass(frozen=True)
class Point:
    """One evaluation."""

    step: int
    train_loss: float
    valid: float
    test: float
    due: bool  # whether it was evaluated


@dataclass(frozen=True)
class Training:
    """The problem of one seed: its data split, and a space without warm-up, as users give it."""

    seed: int
    steps: int = 200
    task: str = "digits"
    space: Mapping[str, Any] = field(default_factory=lambda: SPACE)
    options: Mapping[str, Any] = field(default_factory=lambda: {"warmup_steps": 0})
    cut: Mapping[str, float] = field(default_factory=dict)
    inside: float = 0.0
    extend_to: int | None = None  # steps of the training that counts; the search may be shorter

    def curve(self, configuration: Mapping[str, Any], seed: int) -> list[tuple[int, float]]:
        """Step and validation error; nan at its end when it diverges."""
        found = train(self.seed, seed, self.steps, **configuration)
        return [(p.step, p.valid) for p in found if p.due or not math.isfinite(p.train_loss)]

    def report(self, run: tw.protocols.Run, configuration: Mapping[str, Any]) -> int:
        """Log the training loss of every step, and evaluations."""
        own = dict(configuration)
        length, reached = int(own.pop("max_train_steps", self.steps)), 0
        for point in train(self.seed, run.seeds.trial, length, **own):
            reached = point.step
            run.log(point.step, train_loss=point.train_loss)
            if point.due:
                run.log(point.step, valid_error=point.valid)
        whole = length == self.steps or self.extend_to is not None
        return max(reached, length) if whole else reached

    def quality(self, configuration: Mapping[str, Any] | None) -> float:
        """The mean test error of three fresh trainings, 1 where one diverges."""
        if configuration is None:
            return 1.0
        own = {n: configuration[n] for n in (*self.space, *self.options) if n in configuration}
        ends = [list(train(self.seed, 10**6 + fresh, self.steps, **own))[-1] for fresh in range(3)]
        return statistics.fmean(p.test if p.step == self.steps else 1.0 for p in ends)


def train(
    split: int,
    seed: int,
    steps: int,
    learning_rate: float,
    weight_decay: float = 0.0,
    beta1: float = 0.9,
    warmup_steps: int = 0,
    evaluations: int = 10,
    init_scale: float = 1.0,
) -> Iterator[Point]:
    """Every step's training loss; validation and test error at evaluations, nan between them."""
    own, random = data(split), np.random.default_rng([seed, 3])
    images, labels = own.train
    sizes = [images.shape[1], *[WIDTH] * HIDDEN, 10]
    weights = []
    for rows, columns in itertools.pairwise(sizes):
        made = random.normal(size=(rows, columns)) * init_scale * math.sqrt(2 / rows)
        weights += [made.astype(np.float32), np.zeros(columns, np.float32)]
    first = [np.zeros_like(w) for w in weights]
    second = [np.zeros_like(w) for w in weights]
    every = max(1, steps // evaluations)
    with np.errstate(all="ignore"):
        for step in range(1, steps + 1):
            warm = min(1.0, step / max(1, warmup_steps))
            left = max(0, step - 1 - warmup_steps) / max(1, steps - warmup_steps)
            rate = learning_rate * warm * 0.5 * (1 + math.cos(math.pi * left))
            drawn = random.integers(len(labels), size=BATCH)
            loss, slopes = _slopes(weights, images[drawn], labels[drawn])
            for at, slope in enumerate(slopes):
                first[at] = beta1 * first[at] + (1 - beta1) * slope
                second[at] = 0.99 * second[at] + 0.01 * slope * slope
                moved = first[at] / (1 - beta1**step)
                moved = moved / (np.sqrt(second[at] / (1 - 0.99**step)) + 1e-8)
                if weights[at].ndim == 2:
                    moved = moved + weight_decay * weights[at]
                weights[at] = weights[at] - rate * moved
            due = step % every == 0 or step == steps
            valid, test = (
                (_error(weights, *part) for part in (own.valid, own.test))
                if due
                else (
                    math.nan,
                    math.nan,
                )
            )
            yield Point(step, loss, valid, test, due)
            if not math.isfinite(loss):
                return


def _slopes(
    weights: list[Floats], images: Floats, labels: npt.NDArray[np.int64]
) -> tuple[float, list[Floats]]:
    layers = [images]
    for at in range(0, len(weights) - 2, 2):
        layers.append(np.maximum(layers[-1] @ weights[at] + weights[at + 1], 0))
    output = layers[-1] @ weights[-2] + weights[-1]
    output = output - output.max(axis=1, keepdims=True)
    chance = np.exp(output)
    chance = chance / chance.sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = float(-np.log(chance[rows, labels] + 1e-30).mean())
    chance[rows, labels] -= 1
    back = chance / len(labels)
    slopes: list[Floats] = []
    for at in range(len(weights) - 2, -1, -2):
        below = layers[at // 2]
        slopes = [below.T @ back, back.sum(axis=0), *slopes]
        if at:
            back = (back @ weights[at].T) * (below > 0)
    return loss, slopes


def _error(weights: list[Floats], images: Floats, labels: npt.NDArray[np.int64]) -> float:
    for at in range(0, len(weights) - 2, 2):
        images = np.maximum(images @ weights[at] + weights[at + 1], 0)
    output = images @ weights[-2] + weights[-1]
    if not np.isfinite(output).all():
        return math.nan
    return float((output.argmax(axis=1) != labels).mean())
