"""A generated store for bench/ui.py: many trials, long curves, a conditional space, two settings.

python bench/ui_store.py FILE TRIALS [POINTS]
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

import tunewright as tw
from tunewright.design.names import Meaning
from tunewright.store.curves import pack
from tunewright.store.judge import not_finite
from tunewright.store.outcome import Outcome
from tunewright.store.store import Store

NAME = "bench"
INFEASIBLE = 0.16
METRICS = ("valid_error", "train_loss", "gradient_norm")
AT_ONCE = 250  # trials to a commit


def a_round(trials: int) -> tw.Round:
    """Two studies over a conditional space of six columns."""
    return tw.Round(
        NAME,
        goal="Which width is better when each has its own learning rate?",
        scientific={"width": [64, 128]},
        nuisance={
            "optimizer": tw.given(
                {
                    "adam": {"learning_rate": tw.log(1e-5, 1e-1), "beta1": tw.linear(0.8, 0.99)},
                    "nesterov": {
                        "learning_rate": tw.log(1e-3, 10.0),
                        "momentum": tw.linear(0.5, 0.99),
                    },
                }
            ),
            "dropout": tw.linear(0.0, 0.6),
            "weight_decay": tw.log(1e-6, 1e-1),
        },
        fixed={"max_train_steps": 1000},
        trials_per_study=trials // 2,
    )


def curves_of(
    unit: Mapping[str, float], points: int, noise: np.random.Generator
) -> tuple[str, dict[str, Any]]:
    """The status and curves of a made-up trial; the highest learning rates diverge."""
    steps = np.arange(1, points + 1)
    rate = max((at for column, at in unit.items() if "learning_rate" in column), default=0.5)
    floor = 0.08 + 0.4 * (rate - 0.6) ** 2 + 0.02 * noise.random()
    fall = np.exp(-6 * steps / points)
    loss = 8 * floor + 2.2 * fall + noise.normal(0, 0.02, points)
    infeasible = rate > 1 - INFEASIBLE
    if infeasible:
        loss[points // 4 :] = np.nan
    made = (
        floor + 0.8 * fall + noise.normal(0, 0.002, points),
        loss,
        np.exp(noise.normal(0.4, 0.35, points)) * (1 + 3 * fall),
    )
    return ("infeasible" if infeasible else "completed"), {
        metric: (steps, values) for metric, values in zip(METRICS, made, strict=True)
    }


def finish(
    store: Store, record: Any, worker: Any, count: int, points: int, noise: np.random.Generator
) -> int:
    """End some trials of the round in one commit; how many there were."""
    diverged = not_finite("train_loss", float("nan"), points // 4)
    claims = store.claim(record.id, worker, count)
    with store.transaction():
        for claim in claims:
            status, curves = curves_of(claim.unit, points, noise)
            reason = diverged if status == "infeasible" else None
            store.end(claim, Outcome(status, reason, batches=[pack(curves)], first=0))
    return len(claims)


def begun(store: Store, trials: int) -> tuple[Any, Any]:
    """The round with every trial pending, and a worker that may claim them."""
    search = tw.search.Halton()
    record = store.begin(
        a_round(trials),
        tw.minimize("valid_error"),
        Meaning(),
        search=search.name,
        suggestions=lambda study, count: search.suggest(study, (), count),
    )
    return record, store.register(record.id, "session", exclusive=False)


def fill(path: str, trials: int, points: int = 1000, leave: int = 0) -> None:
    """Fill a store; the last `leave` trials stay pending."""
    noise = np.random.default_rng(0)
    with Store.open(path) as store:
        record, worker = begun(store, trials)
        left = trials - leave
        while left > 0:
            left -= finish(store, record, worker, min(AT_ONCE, left), points, noise)
        store.retire(worker)


if __name__ == "__main__":
    fill(sys.argv[1], int(sys.argv[2]), *(int(one) for one in sys.argv[3:4]), leave=20)
