"""A small network that is really trained: two layers in numpy on three noisy spirals of points."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

CLASSES = 3
CHANCE = float(np.log(CLASSES))


def examples(seed: int, count: int, noise: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Points of three arms, and which arm each belongs to."""
    random = np.random.default_rng(seed)
    labels = random.integers(CLASSES, size=count)
    along = random.random(count)
    angle = 2 * np.pi * (labels / CLASSES + 0.6 * along) + noise * random.normal(size=count)
    points = along[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return 3 * points, labels


def fit(
    run: Any,
    learning_rate: float = 0.1,
    optimizer: str = "sgd",
    momentum: float = 0.0,
    beta1: float = 0.9,
    hidden: int = 24,
    shuffled: bool = False,
    batch_size: int = 32,
    max_train_steps: int = 120,
) -> None:
    """Train by minibatches; logs the training loss, the validation loss and the error."""
    points, labels = examples(1, 256)
    valid_points, valid_labels = examples(2, 256)
    if shuffled:  # labels that nothing can learn: what is left is to memorise those of training
        labels, valid_labels = map(np.random.default_rng(3).permutation, (labels, valid_labels))
        points, labels = points[:24], labels[:24]
    random = np.random.default_rng(run.seeds.trial)
    weights = [random.normal(size=(2, hidden)), 0.1 * random.normal(size=(hidden, CLASSES))]
    moved = [np.zeros_like(one) for one in weights]
    squares = [np.zeros_like(one) for one in weights]
    for step in run.steps(max_train_steps):
        rows = random.integers(len(points), size=batch_size)
        loss, gradients = _loss(weights, points[rows], labels[rows])
        for place, gradient in enumerate(gradients):
            if optimizer == "adam":
                moved[place] = beta1 * moved[place] + (1 - beta1) * gradient
                squares[place] = 0.99 * squares[place] + 0.01 * gradient**2
                near, wide = 1 - beta1**step, 1 - 0.99**step
                change = (moved[place] / near) / (np.sqrt(squares[place] / wide) + 1e-8)
            else:
                moved[place] = momentum * moved[place] + gradient
                change = moved[place]
            weights[place] -= learning_rate * change
        run.log(step, train_loss=loss)
        if run.eval_due(step):
            valid_loss, _ = _loss(weights, valid_points, valid_labels)
            wrong = _scores(weights, valid_points)[0].argmax(axis=1) != valid_labels
            run.log(step, valid_loss=valid_loss, valid_error=float(wrong.mean()))


def recorded(run: Any, **received: Any) -> None:
    """The same, after writing down what it received and which process it runs in."""
    place = Path(run.folder) / "received.json"
    place.write_text(json.dumps({"received": received, "process": os.getpid()}))
    fit(run, **received)


def _scores(weights: list[np.ndarray], points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    inside = np.tanh(points @ weights[0])
    return inside @ weights[1], inside


def _loss(
    weights: list[np.ndarray], points: np.ndarray, labels: np.ndarray
) -> tuple[float, list[np.ndarray]]:
    scores, inside = _scores(weights, points)
    scores = scores - scores.max(axis=1, keepdims=True)
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    rows = np.arange(len(labels))
    loss = float(-np.log(np.maximum(chances[rows, labels], 1e-30)).mean())
    error = chances.copy()
    error[rows, labels] -= 1
    error /= len(labels)
    back = (error @ weights[1].T) * (1 - inside**2)
    return loss, [points.T @ back, inside.T @ error]
