"""Whole campaigns of `tune` where nothing matters: how often do they launch, and what do they say?

The training program is a line of Python whose value is noise of the seed and the configuration
alone, so that every launch is a false one and every gain that is reported is luck. Used by
bench/calibration.py --campaigns N; each campaign is one line of bench/results/campaigns.jsonl, so
that a longer run goes on where the last one stopped.
"""

from __future__ import annotations

import json
import math
import random
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import tunewright as tw
from tunewright.stats.spread import wilson

OUT = Path(__file__).parent / "results" / "campaigns.jsonl"
SIZES = (30, 60, 130)
SPACE = {"learning_rate": tw.log(1e-4, 1.0), "dropout": tw.linear(0.0, 0.6), "max_train_steps": 10}
TRUE, NOISE = 0.5, 0.02


def train(run, learning_rate=0.01, dropout=0.1, max_train_steps=10):  # type: ignore[no-untyped-def]
    """Noise that the seed and the configuration decide together."""
    luck = random.Random(f"{run.seeds.trial} {learning_rate!r} {dropout!r}")
    value = TRUE + NOISE * luck.gauss(0, 1)
    for step in (1, max_train_steps // 2, max_train_steps):
        run.log(step, valid_error=value + 0.3 * (1 - step / max_train_steps))


@dataclass(frozen=True)
class Ended:
    """What came of one flat campaign."""

    trials: int
    seed: int
    verdict: str
    spent: int
    fresh: float | None  # by which its fresh runs flatter it, in standard deviations of a run
    chosen: float | None  # by which the repeats that chose it do


def campaign(trials: int, seed: int) -> Ended:
    """One flat campaign in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        own = tw.Workload(
            train,
            tw.minimize("valid_error"),
            store=Path(folder) / "tuning.db",
            executor=tw.executors.Inline(),
        )
        found = tw.tune(own, SPACE, trials=trials, terms=tw.campaigns.TuneTerms(seed=seed))
    fresh = found.fresh
    chosen = found.winner.repeats.values[: found.chose_by] if found.winner is not None else ()
    return Ended(
        trials,
        seed,
        "none" if found.launched is None else found.launched.verdict,
        found.spent,
        flattery(fresh.values if fresh is not None else ()),
        flattery(chosen),
    )


def flattery(values: Sequence[float]) -> float | None:
    """By how much runs are better than the truth on average; None without any."""
    return (TRUE - statistics.fmean(values)) / NOISE if values else None


def known() -> list[Ended]:
    """Campaigns of earlier runs."""
    if not OUT.exists():
        return []
    return [Ended(**json.loads(line)) for line in OUT.read_text("utf-8").splitlines()]


def run(campaigns: int) -> None:
    """Run what is missing of so many campaigns of each size."""
    there = {(one.trials, one.seed) for one in known()}
    for seed in range(campaigns):
        for trials in SIZES:
            if (trials, seed) not in there:
                ended = campaign(trials, seed)
                with OUT.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(ended)) + "\n")


def rows() -> list[tuple[str, ...]]:
    """One row for each size: launches with their interval, and how flattered the winner is."""
    found = []
    for trials in SIZES:
        own = [one for one in known() if one.trials == trials]
        if not own:
            continue
        launched = sum(one.verdict == "launch" for one in own)
        open_ = sum(one.verdict in ("undecided", "none") for one in own)
        low, high = wilson(launched, len(own), z=1.645)
        found.append(
            (
                str(trials),
                str(len(own)),
                f"{launched / len(own):.2f} ({low:.2f} to {high:.2f})",
                f"{open_ / len(own):.2f}",
                _mean([one.chosen for one in own]),
                _mean([one.fresh for one in own]),
                str(max(one.spent for one in own)),
            )
        )
    return found


def _mean(values: Sequence[float | None]) -> str:
    kept = [value for value in values if value is not None]
    if len(kept) < 2:
        return "-"
    error = statistics.stdev(kept) / math.sqrt(len(kept))
    return f"{statistics.fmean(kept):+.2f} (se {error:.2f})"
