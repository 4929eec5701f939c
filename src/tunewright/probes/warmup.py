"""Does warm-up allow a higher learning rate, and how short may it be? The playbook's procedure.

The learning rate from which training is unstable is found first; then the shortest warm-up that
makes ten times that rate stable (else three times), ten steps first, then a hundred; then the whole
training with it prepended. If no warm-up is enough: clipping, then both.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.errors import DesignError
from tunewright.execution.run import watcher_of
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.clip import clip_until_stable
from tunewright.probes.probe import Conclusion, keep
from tunewright.probes.short_run import (
    ShortRun,
    check_finished,
    early_until,
    foreseen,
    run_equal,
    short_runs,
    why_not_judged,
)
from tunewright.probes.stability import STEPS, Stability, stability
from tunewright.probes.starting_point import ByMeaning, by_meaning
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import Watcher
from tunewright.store.results import Results
from tunewright.store.trial import Trial

# ---- how short a warm-up makes a high learning rate stable? 10, 100, 1,000 steps, and so on.
#
# Each rung trains: the learning rate from 0 up to its peak over the warm-up, then constant for
# twice as long (playbook, "How to apply learning rate warmup"), and in any case beyond the step
# at which training became unstable without it. Ascending, since the shortest that works is
# wanted; two seeds must be stable.


LONGEST = 0.1  # of max_train_steps; playbook: "shouldn't be more than 10 %"
_AFTER = 2  # times the warm-up at the constant peak rate
_SHORTEST = 100  # steps to look at: a spike is judged on 60 points, whatever the warm-up
_SEEDS = 2
_POINTS = 500  # evaluations of a long warm-up; a short one is evaluated at every step


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
    powers = [10**power for power in range(1, 12) if 10**power <= longest]
    return tuple(powers) or ((longest,) if longest >= 1 else ())


def rung_steps(max_train_steps: int, beyond: int) -> tuple[tuple[int, int], ...]:
    """The steps and the runs of each rung of one ladder, where training blows up at `beyond`.

    >>> rung_steps(10_000, 500)
    ((610, 2), (700, 2), (3000, 2))
    """
    return tuple((_rung_total(length, beyond), _SEEDS) for length in lengths(max_train_steps))


def _rung_total(length: int, beyond: int) -> int:
    """How long a rung trains: the warm-up, twice as long at the peak, and beyond the blow-up."""
    return max((1 + _AFTER) * length, length + beyond + _SHORTEST)


def _climb_foreseen(start: ByMeaning) -> tuple[Message, ...]:
    """What is missing, known before anything is trained, to judge the ladder's shortest runs."""
    tried = lengths(start.max_train_steps)
    if not tried:
        return (Message("probe.warmup.too_few_steps", {"steps": start.max_train_steps}),)
    return foreseen(start, tried[0] + _SHORTEST)


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
        total = _rung_total(length, beyond)
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
    short_run = start.short(total, learning_rate=peak, warmup_steps=length, **clipping)
    results = run_equal(
        "warmup",
        Message("goal.warmup", {"warmup_steps": length, "rate": peak}),
        workload=replace(start.workload, eval_every=max(1, length // _POINTS)),
        varied={},
        fixed=short_run,
        seeds=_SEEDS,
        watch=watch,
    )
    early = early_until(start.max_train_steps, length)
    runs = short_runs(results, early, rises=False)
    rung = Rung(peak, length, runs, clip_norm, _last_step(results) > total)
    return rung, why_not_judged(results, runs)


def _descended(run: ShortRun) -> bool:
    start, final = run.start_loss, run.final_loss
    return start is not None and final is not None and final < start


def _last_step(results: Results) -> int:
    return max((t.curves.last_step or 0 for t in results.rows), default=0)


# ---- is training better with the warm-up prepended? The whole training with and without it.
#
# The baseline keeps its schedule; the candidate has the same schedule after the warm-up, so its
# training is longer by the warm-up (playbook: 10,000 steps and a warm-up of 1,000 make 11,000).
# Both train under the same fresh seeds. Whether to change over is for `launch` to decide.


_FRESH = 20_001  # no round has this seed by default: not the seed that selected a baseline


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


def compare_prepended(
    start: ByMeaning, rung: Rung, peaks: Sequence[float], seeds: int, watch: Watcher | None
) -> Prepended:
    """Train the baseline, and its schedule after the warm-up at each peak rate."""
    steps = start.max_train_steps + (0 if rung.on_top else rung.warmup_steps)
    changed: dict[str, Value] = {"warmup_steps": rung.warmup_steps, "max_train_steps": steps}
    if rung.clip_norm is not None:
        changed["clip_norm"] = rung.clip_norm
    workload, name = start.workload, start.name("learning_rate")
    goal = Message("goal.prepended")
    plain = run_equal(
        "baseline",
        goal,
        workload=workload,
        varied={},
        fixed=start.configuration,
        seeds=seeds,
        watch=watch,
        seed=_FRESH,
    )
    varied = {name: list(peaks)}
    warm = run_equal(
        "prepended",
        goal,
        workload=workload,
        varied=varied,
        fixed=start.with_values(**changed),
        seeds=seeds,
        watch=watch,
        seed=_FRESH,
    )
    baseline = Arm(start.learning_rate, start.warmup_steps, _values(check_finished(plain)))
    candidates = tuple(
        Arm(peak, rung.warmup_steps, _values(check_finished(warm), number))
        for number, peak in enumerate(peaks)
    )
    return compare_arms(workload.objective, baseline, candidates)


def compare_arms(objective: Objective, baseline: Arm, candidates: Sequence[Arm]) -> Prepended:
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


# ---- warmup


TIMES = (10.0, 3.0)  # of unstable_base_learning_rate; playbook: at least an order of magnitude
_LONG = 0.05  # of max_train_steps; playbook: above it max_train_steps may need to be increased
REPEATS = 3  # seeds of the comparison of whole trainings
_UNKNOWN = Message("probe.warmup.unknown")


@dataclass(frozen=True, kw_only=True)
class Warmup(Conclusion):
    """The shortest warm-up that makes a high learning rate stable, and what it is worth."""

    probe: ClassVar[str] = "warmup"

    learning_rate: float | None = None  # the best known without warm-up
    unstable_base_learning_rate: float | None = None  # the lowest that is unstable
    base_learning_rate: float | None = None  # the peak that warm-up makes stable
    warmup_steps: int | None = None  # the shortest that was stable
    clip_norm: float | None = None  # where clipping is needed as well, or instead
    rungs: tuple[Rung, ...] = ()  # in the order they were tried
    compared: Prepended | None = None  # whole trainings with and without


def warmup(
    workload: Workload,
    *,
    fixed: Mapping[str, Value] | None = None,
    trial: Trial | None = None,
    steps: int = STEPS,
    times: Sequence[float] = TIMES,
    repeats: int = REPEATS,
    progress: Wanted = "auto",
) -> Warmup:
    """The shortest warm-up that makes ten times the lowest unstable learning rate stable.

    In the end whole trainings with and without it are compared.

    Args:
        workload: the training program.
        fixed: values that replace those of the trial.
        trial: whose configuration is used; None: the best trial in the store.
        steps: of each short run.
        times: multiples of the unstable rate to try, in this order.
        repeats: seeds of each whole training; 0: none is compared.
        progress: as for `tw.run`.
    """
    watch = watcher_of(progress, workload)
    _check(times, repeats)
    start = by_meaning(workload, fixed, trial)
    missing = start.lacks(("learning_rate", "max_train_steps", "warmup_steps"))
    if missing:
        return Warmup(message=_UNKNOWN, missing=missing)
    cold = start.with_meanings(warmup_steps=0)
    missing = _climb_foreseen(cold)
    if missing:
        return Warmup(message=_UNKNOWN, missing=missing)
    before = stability(
        workload, fixed=cold.configuration, trial=cold.known, steps=steps, progress=watch
    )
    answer = _answer(cold, before, times, repeats, watch)
    answer = replace(
        answer,
        learning_rate=before.learning_rate,
        unstable_base_learning_rate=before.unstable_base_learning_rate,
        caveats=(*before.caveats, *answer.caveats),
    )
    keep(workload, answer)
    return answer


def _answer(
    start: ByMeaning,
    before: Stability,
    times: Sequence[float],
    repeats: int,
    watch: Watcher,
) -> Warmup:
    unstable = before.first_unstable
    if before.missing:
        return Warmup(message=_UNKNOWN, missing=before.missing)
    if unstable is None:
        unneeded = Message("probe.warmup.not_needed", {"stability": before.message})
        return Warmup(message=unneeded)
    tried, stable_rung, missing = _search(start, unstable, times, None, watch)
    if missing:
        return Warmup(message=_UNKNOWN, missing=missing, rungs=tuple(tried))
    if stable_rung is None:
        return _with_clipping(
            start,
            unstable,
            steps=before.steps,
            times=times,
            tried=tried,
            repeats=repeats,
            watch=watch,
        )
    return _worth(start, unstable.learning_rate, stable_rung, tried, repeats, watch)


def _search(
    start: ByMeaning,
    unstable: ShortRun,
    times: Sequence[float],
    clip_norm: float | None,
    watch: Watcher,
) -> tuple[list[Rung], Rung | None, tuple[Message, ...]]:
    """Every rung tried, the first stable one, and what is missing to judge them."""
    tried: list[Rung] = []
    for multiple in times:
        peak = float(f"{multiple * unstable.learning_rate:.6g}")
        rungs, missing = climb(start, peak, unstable.at_step or 0, clip_norm, watch)
        tried += rungs
        if missing or (rungs and rungs[-1].stable):
            return tried, None if missing else rungs[-1], missing
    return tried, None, ()


def _with_clipping(
    start: ByMeaning,
    unstable: ShortRun,
    steps: int,
    times: Sequence[float],
    tried: list[Rung],
    repeats: int,
    watch: Watcher,
) -> Warmup:
    """No warm-up alone is enough: clipping alone, then both."""
    failed = {
        "longest": max(rung.warmup_steps for rung in tried),
        "learning_rate": min(rung.base_learning_rate for rung in tried),
    }
    if lack := start.lacks(("clip_norm",)):
        untried = Message("probe.warmup.clipping_untried", failed)
        return Warmup(message=untried, missing=lack, rungs=tuple(tried))
    bare = start.with_meanings(clip_norm=start.unclipped)
    clipping = clip_until_stable(bare, steps, watch)
    if clipping.settings and clipping.clip_norm is not None:
        return Warmup(
            message=Message("probe.warmup.clipping_works", {**failed, "clip": clipping.message}),
            settings=clipping.settings,
            clip_norm=clipping.clip_norm,
            rungs=tuple(tried),
        )
    norm = clipping.clip_norm or (clipping.tried[0].clip_norm if clipping.tried else None)
    if norm is None:
        nothing = Message("probe.warmup.failed", failed)
        return Warmup(message=nothing, missing=clipping.missing, rungs=tuple(tried))
    more, stable_rung, missing = _search(start, unstable, times, norm, watch)
    tried += more
    if stable_rung is None:
        neither = Message("probe.warmup.failed_with_clipping", failed)
        return Warmup(message=neither, missing=missing, rungs=tuple(tried))
    return _worth(start, unstable.learning_rate, stable_rung, tried, repeats, watch)


def _worth(
    start: ByMeaning,
    unstable: float,
    rung: Rung,
    tried: Sequence[Rung],
    repeats: int,
    watch: Watcher,
) -> Warmup:
    """What a stable warm-up is worth: whole trainings with it prepended, and the settings."""
    peak, length = rung.base_learning_rate, rung.warmup_steps
    settings = start.spelling(warmup_steps=length)
    if not rung.on_top:
        settings |= start.spelling(max_train_steps=start.max_train_steps + length)
    if rung.clip_norm is not None:
        settings |= start.spelling(clip_norm=rung.clip_norm)
    compared = None
    if repeats:
        compared = compare_prepended(start, rung, (unstable, peak), repeats, watch)
        worse = compared.gain is None or compared.gain <= 0 or compared.best is None
        if worse or compared.best is None:
            settings = {}
        else:
            settings |= start.spelling(learning_rate=compared.best.learning_rate)
    facts = {
        "warmup_steps": length,
        "clip_norm": rung.clip_norm,
        "base_learning_rate": peak,
        "unstable": unstable,
        "compared": None if compared is None else compared.message,
        "search_again": None if repeats else start.name("learning_rate"),
    }
    return Warmup(
        message=Message("probe.warmup.found", facts),
        settings=settings,
        base_learning_rate=peak,
        warmup_steps=length,
        clip_norm=rung.clip_norm,
        rungs=tuple(tried),
        compared=compared,
        caveats=_caveats(start, rung),
    )


def _caveats(start: ByMeaning, rung: Rung) -> tuple[Message, ...]:
    share = rung.warmup_steps / start.max_train_steps
    if share <= _LONG:
        return ()
    facts = {
        "share": share,
        "name": start.name("max_train_steps"),
        "steps": start.max_train_steps + rung.warmup_steps,
    }
    return (Message("probe.warmup.long", facts),)


def _check(times: Sequence[float], repeats: int) -> None:
    if not times or not all(isinstance(t, int | float) and t > 1 for t in times):
        raise DesignError("probe.bad_times", times=times)
    if type(repeats) is not int or repeats < 0:
        raise DesignError("probe.bad_repeats", repeats=repeats)
