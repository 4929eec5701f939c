"""When was a trial's training unstable? Spikes, rises that recovered, early or mid-training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tunewright.checks.logged_rate import warmup_end
from tunewright.checks.spacing import LONGEST, SpacedCurves, averaged
from tunewright.checks.training_bug import Risen, rise_readings
from tunewright.stats.spikes import FEWEST, spikes
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_EARLY = 0.05  # of training, or the end of warm-up if that is later


@dataclass(frozen=True)
class Episode:
    """One stretch of training in which the loss went up instead of down."""

    kind: Literal["spike", "rise"]
    from_step: int
    to_step: int
    height: float  # a spike: as a share of the loss; a rise: of the improvement
    early: bool  # before warm-up ended or within the first 5 % of training
    z: float


def episodes(results: Results, table: SpacedCurves, lasting: bool = False) -> list[list[Episode]]:
    """The episodes of each training loss of a table, in the order they happened.

    Rises that stay up are the question of another check, unless `lasting` asks for them too.
    """
    found: list[list[Episode]] = [[] for _ in table.trials]
    limits = [_early_until(results, t, s) for t, s in zip(table.trials, table.steps, strict=True)]
    if table.values.shape[1] >= FEWEST:
        for spike in spikes(table.values):
            steps = table.steps[spike.row]
            first, last = int(steps[spike.first]), int(steps[spike.last])
            early = bool(first <= limits[spike.row])
            found[spike.row].append(Episode("spike", first, last, spike.height, early, spike.z))
    wanted = (False, True) if lasting else (False,)
    for kept in wanted:
        readings = rise_readings(results, averaged(table, LONGEST), lasting=kept)
        for row, reading in enumerate(readings):
            facts = reading.facts
            if not reading.flagged or facts.learning_rate_rose or _covered(found[row], facts):
                continue
            share = facts.rise / facts.improvement
            first, last = facts.from_step, facts.to_step
            found[row].append(
                Episode("rise", first, last, share, bool(last <= limits[row]), reading.z)
            )
    return [sorted(row, key=lambda episode: episode.from_step) for row in found]


def diverged(results: Results, trial: Trial) -> bool:
    """Whether the objective or a loss of the trial stopped being finite."""
    meaning = results.meaning
    watched = (results.objective.metric, meaning.name("train_loss"), meaning.name("valid_loss"))
    curves = (trial.curves.only(name) for name in dict.fromkeys(watched))
    return any(curve is not None and not np.isfinite(curve.values).all() for curve in curves)


def _early_until(results: Results, trial: Trial, steps: Iterable[int]) -> float:
    return max(warmup_end(trial, results.meaning), _EARLY * max(steps))


def _covered(known: list[Episode], rise: Risen) -> bool:
    """Whether a rise between blocks is only the trace of a spike found more sharply."""
    return any(rise.from_step <= e.to_step and e.from_step <= rise.to_step for e in known)
