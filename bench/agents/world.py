"""Trainings for the agent tasks: simulated, but run through the real `tw.run` or a bare loop."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

STEPS, EVALUATIONS = 1000, 40
FALL = 9.0  # e-foldings of the error that falls during training
Config = Mapping[str, Any]


@dataclass(frozen=True)
class Training:
    """How good a configuration is, what a seed changes, and the shape of its curves."""

    optimum: Mapping[str, float]  # log10 of the best value of each hyperparameter
    curvature: float = 0.03  # error per squared decade
    effect: Mapping[Any, float] = field(default_factory=dict)  # of the setting `way`
    noise: float = 0.004  # of a seed
    diverges_above: float | None = None  # log10 of the learning rate
    slow: Mapping[Any, float] = field(default_factory=dict)  # error left, by `way`, falling as 1/t
    overfits: float = 0.0  # how much error rises again after half of training
    by_steps: float = 0.0  # gained per factor of ten in steps
    jitter: float = 0.0003  # of one evaluation

    def floor(self, config: Config) -> float:
        """The error without noise, at the end of a long training."""
        error = 0.2 + self.effect.get(config.get("way"), 0.0)
        for name, best in self.optimum.items():
            error += self.curvature * (math.log10(float(config[name])) - best) ** 2
        steps = float(config.get("max_train_steps", STEPS))
        return error - self.by_steps * math.log10(steps / STEPS)

    def diverges(self, config: Config, seed: int) -> bool:
        """Whether it diverges under this seed: the border moves a little."""
        if self.diverges_above is None:
            return False
        border = self.diverges_above + random.Random(seed + 7).gauss(0, 0.1)
        return math.log10(float(config["learning_rate"])) > border

    def curve(self, config: Config, seed: int) -> list[tuple[int, float]]:
        """The validation error at every evaluation; one that diverges ends in NaN."""
        draw = random.Random(repr((seed, config.get("seed"), config.get("split_seed"))))
        best = self.floor(config) + draw.gauss(0, self.noise)
        steps = int(config.get("max_train_steps", STEPS))
        left = self.slow.get(config.get("way"), 0.0)
        found = []
        for k in range(1, EVALUATIONS + 1):
            share = k / EVALUATIONS
            error = best + 0.5 * math.exp(-FALL * share) + left / (share * steps / STEPS)
            error += self.overfits * max(0.0, share - 0.5) + draw.gauss(0, self.jitter)
            found.append((max(1, round(share * steps)), error))
        if self.diverges(config, seed):
            half = found[: EVALUATIONS // 2]
            return [*half, (half[-1][0] + 1, math.nan)]
        return found

    def value(self, config: Config, seed: int) -> float:
        """The best validation error of one training; NaN where it diverges."""
        values = [error for _, error in self.curve(config, seed)]
        return math.nan if math.isnan(values[-1]) else min(values)


def program(training: Training) -> Callable[..., None]:
    """The training function of a world, as `tw.Workload` takes it."""

    def train(run: Any, **config: Any) -> None:
        for step, error in training.curve(config, run.seeds.init):
            fall = 2 * 0.5 * math.exp(-FALL * step / float(config.get("max_train_steps", STEPS)))
            run.log(step, valid_error=error, train_loss=0.1 + fall)
            run.save({"config": dict(config)}) if step % 500 == 0 else None

    return train
