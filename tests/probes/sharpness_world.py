"""A world whose instability is known in closed form: a quadratic that is sharp at the beginning.

Gradient descent on loss = excess^2 / 2 + 0.5 is stable while learning_rate * sharpness < 2. The
sharpness falls as training proceeds, by the sum of the learning rates used, from `sharp` to 1: at
first only rates below 2 / sharp are stable, after a warm-up far higher ones. One coordinate is flat
throughout, so that the higher rates pay. `burst` is added to the gradient at three steps in the
middle of training: an outlier that clipping takes away.
"""

from __future__ import annotations

import math
import random
from typing import Any

FLAT = 0.05  # the curvature of one coordinate


def train(
    run: Any,
    learning_rate: float,
    warmup_steps: int = 0,
    clip_norm: float | None = None,
    schedule: str = "linear",
    sharp: float = 100.0,
    burst: float = 0.0,
    noisy: float = 0.02,
    max_train_steps: int = 1000,
) -> None:
    """Gradient descent on coordinates that start about one away from their optimum."""
    chance = random.Random(run.seeds.trial)
    position = [1.0, 0.8, 1.2, 1.0]
    travelled = 0.0
    for step in run.steps(max_train_steps):
        factor = min(1.0, step / warmup_steps) if warmup_steps else 1.0
        if schedule == "linear" and step > warmup_steps:
            factor = 1 - (step - warmup_steps - 1) / (max_train_steps - warmup_steps)
        rate = learning_rate * factor
        sharpness = 1 + (sharp - 1) * math.exp(-travelled / 0.2)
        outlier = burst if 300 <= step < 303 else 0.0
        curvatures = (sharpness, sharpness, sharpness, FLAT)
        gradient = [
            curvature * x + outlier + chance.gauss(0, noisy)
            for curvature, x in zip(curvatures, position, strict=True)
        ]
        norm = math.sqrt(sum(g * g for g in gradient))
        kept = 1.0 if clip_norm is None or norm <= clip_norm else clip_norm / norm
        loss = 0.5 + 0.5 * sum(x * x for x in position)
        seen = loss * math.exp(noisy * chance.gauss(0, 1)) if math.isfinite(loss) else loss
        run.log(step, train_loss=seen, gradient_norm=norm)
        if run.eval_due(step):
            run.log(step, valid_loss=loss)
        position = [x - rate * kept * g for x, g in zip(position, gradient, strict=True)]
        position = [x if abs(x) < 1e150 else math.inf for x in position]
        travelled += rate * kept
