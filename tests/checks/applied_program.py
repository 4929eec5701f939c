"""A small program that really trains, and faults that replace what it was given.

The program is gradient descent on a two-layer network of numpy with SGD or Adam, momentum, weight
decay, schedules, warm-up, clipping and dropout. A fault replaces what the program was given before
it trains, as a misspelt option or a lost argument would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

DEFAULTS: Mapping[str, Any] = {
    "learning_rate": 0.03,
    "batch_size": 32,
    "momentum": 0.0,
    "weight_decay": 0.0,
    "optimizer": "sgd",
    "schedule": "constant",
    "warmup_steps": 0,
    "max_train_steps": 60,
    "dropout": 0.0,
    "clip_norm": 1e9,
    "num_workers": 0,  # changes nothing, in any program
}
Fault = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Manner:
    """How the program logs, and what is wrong with it."""

    fault: Fault = lambda configuration: configuration
    uses_seed: bool = True
    logs_rate: bool = True
    rate_as: str = "value"  # or "factor", "scaled" (by the batch size)
    every: int = 5
    digits: int | None = None  # of the logged losses; None: all
    counts_of: int | None = None  # log the number of errors among so many examples, and no loss
    echo: Callable[[dict[str, Any], dict[str, Any]], Mapping[str, Any]] | None = None  # given, used


def trained(used: Mapping[str, Any], seed: int, manner: Manner) -> dict[str, Any]:
    """Train once; the points of every metric, up to where the loss stops being a number."""
    own = {**DEFAULTS, **used}
    rng = np.random.default_rng(seed)
    data = np.random.default_rng(7)
    inputs = data.standard_normal((400, 6))
    goal = np.tanh(inputs @ data.standard_normal(6)) > 0
    train, labels, held, answers = inputs[:256], goal[:256], inputs[256:], goal[256:]
    weights = [0.5 * rng.standard_normal((6, 8)), 0.5 * rng.standard_normal(8)]
    moments = [[np.zeros_like(w), np.zeros_like(w)] for w in weights]
    points: dict[str, list[tuple[int, float]]] = {"train_loss": [], "valid_error": []}
    points["learning_rate"] = []
    steps = int(own["max_train_steps"])
    size = min(int(own["batch_size"]), len(train))
    for step in range(1, steps + 1):
        rate = own["learning_rate"] * _factor(own, step, steps)
        batch = rng.permutation(len(train))[:size]
        loss, gradients = _gradients(weights, train[batch], labels[batch], own["dropout"], rng)
        norm = float(np.sqrt(sum((g**2).sum() for g in gradients)))
        clip = min(1.0, own["clip_norm"] / max(norm, 1e-12))
        for at, gradient in enumerate(gradients):
            slope = clip * gradient + own["weight_decay"] * weights[at]
            weights[at] = weights[at] - rate * _update(own, moments[at], slope, step)
        if step % manner.every == 0 or step == 1:
            points["train_loss"].append((step, loss))
            points["valid_error"].append((step, _held(weights, held, answers)))
            if manner.logs_rate:
                scale = {"factor": 1 / own["learning_rate"], "scaled": own["batch_size"] / 256}
                points["learning_rate"].append((step, rate * scale.get(manner.rate_as, 1.0)))
        if not np.isfinite(loss) or loss > 1e6:
            points["train_loss"].append((step, float("nan")))
            break
    if manner.counts_of is not None:
        wrong = [(s, float(round(v * manner.counts_of))) for s, v in points["valid_error"]]
        return {"valid_error": wrong}
    if manner.digits is not None:
        for metric in ("train_loss", "valid_error"):
            points[metric] = [(s, round(v, manner.digits)) for s, v in points[metric]]
    return {metric: own_points for metric, own_points in points.items() if own_points}


def _factor(own: Mapping[str, Any], step: int, steps: int) -> float:
    warm = int(own["warmup_steps"])
    if step <= warm:
        return step / warm
    done = (step - 1 - warm) / max(1, steps - warm)
    return {
        "constant": 1.0,
        "linear": 1 - done,
        "cosine": (1 + np.cos(np.pi * done)) / 2,
    }[own["schedule"]]


def _gradients(
    weights: Sequence[Any], inputs: Any, labels: Any, dropout: float, rng: np.random.Generator
) -> tuple[float, list[Any]]:
    with np.errstate(all="ignore"):
        hidden = np.tanh(inputs @ weights[0])
        kept = rng.random(hidden.shape) >= dropout
        dropped = hidden * kept / (1 - dropout)
        logit = dropped @ weights[1]
        sign = np.where(labels, 1.0, -1.0)
        loss = float(np.logaddexp(0, -sign * logit).mean())
        slope = -sign / (1 + np.exp(sign * logit)) / len(labels)
        back = np.outer(slope, weights[1]) * kept / (1 - dropout) * (1 - hidden**2)
        return loss, [inputs.T @ back, dropped.T @ slope]


def _update(own: Mapping[str, Any], moment: list[Any], slope: Any, step: int) -> Any:
    with np.errstate(all="ignore"):
        if own["optimizer"] == "adam":
            moment[0] = 0.9 * moment[0] + 0.1 * slope
            moment[1] = 0.999 * moment[1] + 0.001 * slope**2
            first, second = moment[0] / (1 - 0.9**step), moment[1] / (1 - 0.999**step)
            return first / (np.sqrt(second) + 1e-8)
        moment[0] = own["momentum"] * moment[0] + slope
        return moment[0]


def _held(weights: Sequence[Any], held: Any, answers: Any) -> float:
    """A smooth error: the mean probability of the wrong class."""
    with np.errstate(all="ignore"):
        logit = np.tanh(held @ weights[0]) @ weights[1]
        return float((1 / (1 + np.exp(np.where(answers, logit, -logit)))).mean())
