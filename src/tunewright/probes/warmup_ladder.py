"""How short a warm-up makes a high learning rate stable? 10, 100, 1,000 steps, and so on.

Each rung trains: the learning rate from 0 up to its peak over the warm-up, then constant for twice
as long (playbook, "How to apply learning rate warmup"), and in any case beyond the step at which
training became unstable without it. Ascending, since the shortest that works is wanted; two seeds
must be stable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tunewright.design.ranges import Value
from tunewright.messages import Message
from tunewright.probes.by_meaning import ByMeaning
from tunewright.probes.equal_draws import run_equal
from tunewright.probes.foresee import foreseen
from tunewright.probes.short_run import ShortRun, early_until, short_runs, unjudged
from tunewright.progress.watcher import Watcher
from tunewright.store.results import Results

LONGEST = 0.1  # of max_train_steps; playbook: "shouldn't be more than 10 %"
AFTER = 2  # times the warm-up at the constant peak rate
SHORTEST = 100  # steps to look at: a spike is judged on 60 points, whatever the warm-up
SEEDS = 2
POINTS = 500  # evaluations of a long warm-up; a short one is evaluated at every step


@dataclass(frozen=True)
class Rung:
    """One length of warm-up, tried up to one peak learning rate."""

    base_learning_rate: float
    warmup_steps: int
    runs: tuple[ShortRun, ...]  # one per seed
    clip_norm: float | None = None
    on_top: bool = False  # whether the program adds warm-up to max_train_steps itself

    @property
    def stable(self) -> bool:
        """Whether no run blew up, and every one ended below its start."""
        return all(run.stable and _descended(run) for run in self.runs)

    @property
    def message(self) -> Message:
        """What happened."""
        for run in self.runs:
            if not run.stable:
                return run.message
        return Message("probe.run.stable" if self.stable else "probe.run.no_lower")


def lengths(max_train_steps: int) -> tuple[int, ...]:
    """The lengths of warm-up to try, the shortest first.

    >>> lengths(10_000), lengths(60)
    ((10, 100, 1000), (6,))
    """
    longest = int(LONGEST * max_train_steps)
    found = [10**power for power in range(1, 12) if 10**power <= longest]
    return tuple(found) or ((longest,) if longest >= 1 else ())


def climb_foreseen(start: ByMeaning) -> tuple[Message, ...]:
    """What is missing, known before anything is trained, to judge the ladder's shortest runs."""
    tried = lengths(start.max_train_steps)
    if not tried:
        return (Message("probe.warmup.too_few_steps", {"steps": start.max_train_steps}),)
    return foreseen(start, tried[0] + SHORTEST)


def climb(
    start: ByMeaning,
    peak: float,
    beyond: int,
    clip_norm: float | None = None,
    watch: Watcher | None = None,
) -> tuple[list[Rung], tuple[Message, ...]]:
    """Try the lengths up to the first that is stable; and what is missing to judge them.

    `beyond` is the step at which training became unstable without warm-up.
    """
    rungs: list[Rung] = []
    for length in lengths(start.max_train_steps):
        total = max((1 + AFTER) * length, length + beyond + SHORTEST)
        rung, missing = _rung(start, peak, length, total, clip_norm, watch)
        if missing:
            return rungs, missing
        rungs.append(rung)
        if rung.stable:
            break
    return rungs, ()


def _rung(
    start: ByMeaning,
    peak: float,
    length: int,
    total: int,
    clip_norm: float | None,
    watch: Watcher | None,
) -> tuple[Rung, tuple[Message, ...]]:
    clipping: dict[str, Value] = {} if clip_norm is None else {"clip_norm": clip_norm}
    asked = start.short(total, learning_rate=peak, warmup_steps=length, **clipping)
    results = run_equal(
        "warmup",
        Message("goal.warmup", {"warmup_steps": length, "rate": peak}),
        replace(start.workload, eval_every=max(1, length // POINTS)),
        {},
        asked,
        SEEDS,
        watch,
    )
    early = early_until(start.max_train_steps, length)
    runs = short_runs(results, early, rises=False)
    rung = Rung(peak, length, runs, clip_norm, _last_step(results) > total)
    return rung, unjudged(results, runs)


def _descended(run: ShortRun) -> bool:
    return (
        run.start_loss is not None
        and run.final_loss is not None
        and run.final_loss < run.start_loss
    )


def _last_step(results: Results) -> int:
    return max(
        (int(c.steps[-1]) for t in results.trials for c in t.curves.values() if len(c)), default=0
    )
