"""Stores to look at: a small world with two settings, a campaign, a probe, a very large round."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

import tunewright as tw
from tunewright.design.names import Meaning
from tunewright.store.curves import pack
from tunewright.store.outcome import Outcome
from tunewright.store.store import Store

OPTIMIZERS = {
    "adam": {"learning_rate": tw.log(1e-5, 1e-1), "beta1": tw.linear(0.8, 0.99)},
    "nesterov": {"learning_rate": tw.log(1e-3, 10.0), "momentum": tw.linear(0.5, 0.99)},
}
BEST = {"adam": -6.5, "nesterov": -1.6}  # natural logarithms of the best learning rates


def train(run: Any, learning_rate: float = 0.1, **settings: Any) -> None:
    """A training whose error depends on the learning rate, the optimizer and the width."""
    optimizer = settings.get("optimizer", "nesterov")
    off = math.log(learning_rate) - BEST[optimizer]
    noise = random.Random(repr((learning_rate, sorted(settings.items()), str(run.seeds))))
    floor = 0.08 + 0.012 * min(off * off, 12) + (0.012 if settings.get("width", 64) == 64 else 0.0)
    floor += 0.02 * abs(settings.get("dropout", 0.1) - 0.2)
    steps = int(settings.get("max_train_steps", 60))
    for step in run.steps(steps):
        share = step / steps
        loss = 2.2 * math.exp(-5 * share) + 8 * floor + noise.gauss(0, 0.01)
        if off > 3.2 and step > steps // 4:
            loss = math.nan
        run.log(
            step,
            valid_error=min(0.9, floor + 0.8 * math.exp(-6 * share) + noise.gauss(0, 0.002)),
            train_loss=loss,
            valid_loss=loss * (1.05 + 0.25 * share),
            gradient_norm=math.exp(noise.gauss(0.4, 0.35)) * (1 + 3 * math.exp(-9 * share)),
        )
        if math.isnan(loss):
            raise tw.Infeasible(f"the loss is NaN at step {step}")


def workload(store: str) -> tw.Workload:
    return tw.Workload(
        train,
        tw.minimize("valid_error"),
        store=store,
        executor=tw.executors.Inline(),
        means={"chance": 2.303, "optimizer": "optimizer"},
        off={"dropout": 0.0},
    )


def small_round(name: str = "width", trials: int = 24, **more: Any) -> tw.Round:
    defaults: dict[str, Any] = {
        "goal": "Does a width of 128 beat 64 when each has its own learning rate?",
        "scientific": {"width": [64, 128]},
        "nuisance": {"optimizer": tw.given(OPTIMIZERS), "dropout": tw.linear(0.0, 0.6)},
        "fixed": {"max_train_steps": 60},
        "trials_per_study": trials,
    }
    return tw.Round(name, **{**defaults, **more})


def fill_small(store: str, trials: int = 24) -> tw.types.Results:
    """A round with two settings, infeasible trials and a conditional space, and its notes."""
    results = tw.run(small_round(trials=trials), workload(store))
    tw.stores.note(store, "width", "The learning rate of adam should go lower next time.")
    return results


def fill_history(store: str) -> None:
    """A launch, a campaign with all its steps, and a probe."""
    own = workload(store)
    results = tw.load(store, "width")
    tw.launch(
        results,
        own,
        terms=tw.launches.LaunchTerms(plan=3, complexity=0.001),
        why="wider, no slower",
    )
    space = {
        "learning_rate": tw.log(1e-3, 10.0),
        "dropout": tw.linear(0.0, 0.6),
        "max_train_steps": 60,
    }
    tw.tune(own, space, trials=40, name="autopilot")
    tw.probes.stability(own, trial=results.best(), steps=60)


@contextmanager
def opened(
    store: str, declared: tw.Round, objective: tw.types.Objective | None = None
) -> Iterator[tuple[Store, Any, Any]]:
    """A round that a worker has begun: claim trials and finish them one by one."""
    search = tw.search.Halton()
    with Store.open(store) as made:
        record = made.begin(
            declared,
            objective or tw.minimize("valid_error"),
            Meaning(),
            search=search.name,
            suggestions=lambda study, count: search.suggest(study, (), count),
        )
        yield made, record, made.register(record.id, "session", exclusive=False)


def curves_of(
    configuration: Mapping[str, Any], points: int, noise: np.random.Generator
) -> tuple[str, dict[str, Any]]:
    """The status and the curves of a made-up trial."""
    steps = np.arange(1, points + 1)
    optimizer = configuration.get("optimizer", "nesterov")
    off = math.log(configuration["learning_rate"]) - BEST[optimizer]
    floor = 0.08 + 0.012 * min(off * off, 12) + 0.02 * noise.random()
    floor += 0.012 if configuration.get("width", 64) == 64 else 0.0
    fall = np.exp(-6 * steps / points)
    bad = off > 3.0
    error = floor + 0.8 * fall + noise.normal(0, 0.002, points)
    loss = 8 * floor + 2.2 * fall + noise.normal(0, 0.02, points)
    if bad:
        loss[points // 4 :] = np.nan
    curves = {"valid_error": error, "train_loss": loss, "valid_loss": loss * 1.2}
    return "infeasible" if bad else "completed", {m: (steps, v) for m, v in curves.items()}


def finish_some(
    store: Store, record: Any, worker: Any, count: int, points: int = 60, seed: int = 0
) -> int:
    """End some trials of a round that is under way; how many there were."""
    noise = np.random.default_rng(seed)
    claims = store.claim(record.id, worker, count)
    with store.transaction():
        for claim in claims:
            status, curves = curves_of(claim.configuration, points, noise)
            store.end(claim, Outcome(status, None, batches=[pack(curves)], first=0))
    return len(claims)


def fill_large(store: str, trials: int = 10_000, points: int = 100) -> None:
    """A very large round, written many trials to a commit."""
    declared = small_round("large", trials // 2)
    with opened(store, declared) as (made, record, worker):
        seed = 0
        while finish_some(made, record, worker, 200, points, seed):
            seed += 1
