"""Is training better with the warm-up prepended? The whole training with and without it.

The baseline keeps its schedule; the candidate has the same schedule after the warm-up, so its
training is longer by the warm-up (playbook: 10,000 steps and a warm-up of 1,000 make 11,000). Both
train under the same fresh seeds. Whether to change over is for `launch` to decide.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.messages import Message
from tunewright.probes.by_meaning import ByMeaning
from tunewright.probes.equal_draws import run_equal
from tunewright.probes.short_run import finished
from tunewright.probes.warmup_ladder import Rung
from tunewright.progress.watcher import Watcher
from tunewright.store.results import Results

FRESH = 20_001  # no round has this seed by default: not the seed that selected a baseline


@dataclass(frozen=True)
class Arm:
    """One way to train, under several seeds."""

    learning_rate: float
    warmup_steps: int
    values: tuple[float | None, ...]  # of the objective, by seed; None: infeasible

    @property
    def mean(self) -> float | None:
        """The mean over seeds; None if one was infeasible."""
        known = [value for value in self.values if value is not None]
        return statistics.fmean(known) if known and len(known) == len(self.values) else None


@dataclass(frozen=True)
class Prepended:
    """The baseline beside the same schedule after a warm-up, at one or two peak rates."""

    metric: str
    baseline: Arm
    candidates: tuple[Arm, ...]
    best: Arm | None  # of the candidates
    gain: float | None  # of it over the baseline; positive is better, always
    error: float | None  # the standard error of the gain, from pairs that share their seeds

    @property
    def message(self) -> Message:
        """The comparison as a code with its facts."""
        if self.best is None or self.gain is None or self.best.mean is None:
            return Message("probe.prepended.unstable", {"metric": self.metric})
        facts = {
            "metric": self.metric,
            "learning_rate": self.best.learning_rate,
            "mean": self.best.mean,
            "baseline": self.baseline.mean,
            "gain": self.gain,
            "error": self.error,
        }
        return Message("probe.prepended.compared", facts)


def prepended(
    start: ByMeaning, rung: Rung, peaks: Sequence[float], seeds: int, watch: Watcher | None
) -> Prepended:
    """Train the baseline, and its schedule after the warm-up at each peak rate."""
    steps = start.max_train_steps + (0 if rung.on_top else rung.warmup_steps)
    changed: dict[str, Value] = {"warmup_steps": rung.warmup_steps, "max_train_steps": steps}
    if rung.clip_norm is not None:
        changed["clip_norm"] = rung.clip_norm
    workload, name = start.workload, start.name("learning_rate")
    goal = Message("goal.prepended")
    plain = run_equal("baseline", goal, workload, {}, start.configuration, seeds, watch, seed=FRESH)
    varied = {name: list(peaks)}
    warm = run_equal(
        "prepended", goal, workload, varied, start.changed(**changed), seeds, watch, seed=FRESH
    )
    baseline = Arm(start.learning_rate, start.warmup_steps, _values(finished(plain)))
    candidates = tuple(
        Arm(peak, rung.warmup_steps, _values(finished(warm), number))
        for number, peak in enumerate(peaks)
    )
    return compared(workload.objective, baseline, candidates)


def compared(objective: Objective, baseline: Arm, candidates: Sequence[Arm]) -> Prepended:
    """The best of the candidates against the baseline, in pairs that share a seed."""
    sound = [arm for arm in candidates if arm.mean is not None]
    best = max(sound, key=lambda arm: objective.sign * (arm.mean or 0.0), default=None)
    gain, error = None, None
    if best is not None and baseline.mean is not None:
        pairs = zip(best.values, baseline.values, strict=True)
        gains = [objective.sign * ((ours or 0.0) - (theirs or 0.0)) for ours, theirs in pairs]
        gain = statistics.fmean(gains)
        if len(gains) > 1:
            error = statistics.stdev(gains) / math.sqrt(len(gains))
    return Prepended(objective.metric, baseline, tuple(candidates), best, gain, error)


def _values(results: Results, study: int = 0) -> tuple[float | None, ...]:
    return tuple(trial.value for trial in results.of(study))
