"""Whole campaigns of `tune` where nothing matters: how often do they launch, and what do they say?

The training program is a line of Python whose value is noise of the seed and the configuration
alone, so that every launch is a false one and every gain that is reported is luck. Used by
bench/calibration.py --campaigns N.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tunewright as tw

SPACE = {"learning_rate": tw.log(1e-4, 1.0), "dropout": tw.linear(0.0, 0.6), "max_train_steps": 10}
TRUE, NOISE = 0.5, 0.02


def train(run, learning_rate=0.01, dropout=0.1, max_train_steps=10):  # type: ignore[no-untyped-def]
    """Noise that the seed and the configuration decide together."""
    luck = random.Random(f"{run.seeds.trial} {learning_rate!r} {dropout!r}")
    value = TRUE + NOISE * luck.gauss(0, 1)
    for step in (1, max_train_steps // 2, max_train_steps):
        run.log(step, valid_error=value + 0.3 * (1 - step / max_train_steps))


@dataclass(frozen=True)
class Flat:
    """What came of flat campaigns of one size."""

    trials: int
    campaigns: int
    launched: int
    undecided: int
    optimism: float  # of the value reported for the winner, in standard deviations of a run
    spent: int  # the most that one used

    @property
    def rate(self) -> float:
        """The share that launched."""
        return self.launched / self.campaigns


def campaign(trials: int, seed: int) -> tw.Campaign:
    """One flat campaign in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        own = tw.Workload(
            train,
            tw.minimize("valid_error"),
            store=Path(folder) / "tuning.db",
            executor=tw.Inline(),
        )
        return tw.tune(own, SPACE, trials=trials, seed=seed)


def flat(trials: int, campaigns: int, seed: int) -> Flat:
    """Campaigns of one size, under seeds that follow each other."""
    verdicts: list[str] = []
    better: list[float] = []
    most = 0
    for number in range(campaigns):
        found = campaign(trials, seed + number)
        verdicts.append("none" if found.launched is None else found.launched.verdict)
        if found.fresh is not None and found.fresh.values:
            better.append((TRUE - sum(found.fresh.values) / len(found.fresh.values)) / NOISE)
        most = max(most, found.spent)
    return Flat(
        trials,
        campaigns,
        verdicts.count("launch"),
        verdicts.count("undecided") + verdicts.count("none"),
        sum(better) / max(1, len(better)),
        most,
    )
