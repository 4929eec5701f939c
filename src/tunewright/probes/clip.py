"""At which norm should gradients be clipped, if at all? The 90th percentile, halved while unstable.

On a recorded round nothing is trained: the answer is where clipping might begin, and how much it
would clip. As a probe it trains: the lowest unstable learning rate, clipped, until it is stable
(playbook, "How can optimization failures be debugged and mitigated?").
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from tunewright.checks.logged_rate import warmup_end
from tunewright.design.ranges import Value
from tunewright.errors import DesignError
from tunewright.execution.run import watcher_of
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.probe import Conclusion, keep
from tunewright.probes.short_run import (
    ShortRun,
    early_until,
    run_equal,
    short_runs,
    unstable_stretches,
    why_not_judged,
)
from tunewright.probes.stability import STEPS, stability
from tunewright.probes.starting_point import ByMeaning, by_meaning
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import Watcher
from tunewright.stats.noise import Floats
from tunewright.store.curves import Curve
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

# ---- where might clipping begin? The 90th percentile of the gradient's norm over stable steps.
#
# And how much would be clipped there: an update clipped more often than every second time is a
# strange way of lowering the learning rate (playbook, "How to choose gradient clipping").


_PERCENTILE = 90  # playbook, "How to choose gradient clipping"
HEAD = 0.01  # of the steps: the very first norms are those of the initialisation
_FEWEST = 30  # stable steps
_WINDOWS = 10
_TOO_OFTEN = 0.5  # playbook: "greater than 50 % of the updates getting clipped"
_AT_THE_THRESHOLD = 1e-3  # relative: a norm logged after clipping is no further above it


@dataclass(frozen=True)
class Clipped:
    """How often one threshold clips."""

    threshold: float
    share: float  # of all steps
    worst: float  # of the steps of the worst tenth of training, warm-up and the first tenth aside
    from_step: int = 0  # where that tenth lies
    to_step: int = 0

    @property
    def too_often(self) -> bool:
        """Whether it lowers the learning rate in disguise."""
        return self.worst > _TOO_OFTEN


def stable_norms(
    norms: Curve, unstable: Sequence[tuple[int, int]], warmup_steps: float, early: bool
) -> Floats:
    """The norms of stable steps; without the first ones and warm-up, unless instability is early.

    >>> steps = np.arange(1, 201)
    >>> found = stable_norms(Curve(steps, steps * 1.0), [(100, 150)], warmup_steps=20, early=False)
    >>> (found.min(), found.max(), len(found))
    (np.float64(21.0), np.float64(200.0), 129)
    """
    kept = np.isfinite(norms.values)
    for first, last in unstable:
        kept &= (norms.steps < first) | (norms.steps > last)
    if not early and len(norms):
        kept &= norms.steps > max(warmup_steps, HEAD * float(norms.steps[-1]))
    return np.asarray(norms.values[kept])


def first_threshold(norms: Floats) -> float | None:
    """The 90th percentile, to three digits; None where there are too few norms."""
    if len(norms) < _FEWEST:
        return None
    return float(f"{np.percentile(norms, _PERCENTILE):.3g}")


def count_clipped(norms: Curve, threshold: float, warmup_steps: float) -> Clipped:
    """How often a threshold clips these norms.

    The first tenth of training does not count against it: there clipping acts as a warm-up.
    """
    above = ~(norms.values <= threshold)  # what is not finite is above
    last = float(norms.steps[-1])
    worst, where = 0.0, (0, 0)
    edges = np.linspace(max(warmup_steps, last / _WINDOWS), last, _WINDOWS)
    for low, high in itertools.pairwise(edges):
        inside = (norms.steps > low) & (norms.steps <= high)
        if inside.any() and above[inside].mean() > worst:
            worst = float(above[inside].mean())
            where = int(norms.steps[inside][0]), int(norms.steps[inside][-1])
    return Clipped(threshold, float(above.mean()), worst, *where)


def logged_after_clipping(norms: Curve, threshold: float) -> bool:
    """Whether the norms never exceed the threshold but often reach it: they are the clipped ones.

    >>> steps = np.arange(4)
    >>> logged_after_clipping(Curve(steps, np.array([1.0, 1.0, 0.4, 1.0])), threshold=1.0)
    True
    """
    near = np.abs(norms.values - threshold) <= _AT_THE_THRESHOLD * threshold
    return bool(near.mean() > 0.01 and norms.values.max() <= threshold * (1 + _AT_THE_THRESHOLD))


# ---- clip


HALVINGS = 3  # of the first threshold, while training is unstable
SEEDS = 2  # that must be stable
_UNKNOWN = Message("probe.clip.unknown")


@dataclass(frozen=True)
class ClipTry:
    """One threshold, tried."""

    clip_norm: float
    runs: tuple[ShortRun, ...]  # one per seed
    clipped: Clipped | None  # None: the norm before clipping is not known

    @property
    def stable(self) -> bool:
        """Whether every run was."""
        return all(run.stable for run in self.runs)


@dataclass(frozen=True, kw_only=True)
class Clip(Conclusion):
    """Where to clip, and what it does."""

    probe: ClassVar[str] = "clip"

    clip_norm: float | None = None  # the 90th percentile, or what was stable in the end
    clipped: Clipped | None = None  # how often it clips
    learning_rate: float | None = None  # that was to be made stable
    tried: tuple[ClipTry, ...] = ()  # norms in the order they were tried
    round: str = ""  # whose norms were read
    trial: int | None = None  # whose norms were read


def clip(
    source: Workload | Results,
    *,
    fixed: Mapping[str, Value] | None = None,
    trial: Trial | int | None = None,
    steps: int = STEPS,
    progress: Wanted = "auto",
) -> Clip:
    """Where to clip: from a recorded round, or by training a workload where it is unstable.

    Args:
        source: results, whose logged gradient norms are read; or a workload, which is trained.
        fixed: values that replace those of the trial.
        trial: the trial to read or to begin from; None: the best one.
        steps: of each short run of a workload.
        progress: as for `tw.run`.
    """
    if isinstance(source, Results):
        number = trial.number if isinstance(trial, Trial) else trial
        chosen = source.best() if number is None else source.trial(number)
        answer = clip_from_trial(source, chosen)
        return replace(answer, round=source.round.name, trial=chosen.number)
    if isinstance(trial, int):
        raise DesignError("probe.not_a_trial", trial=trial)
    watch = watcher_of(progress, source)
    start = by_meaning(source, fixed, trial)
    missing = start.lacks(("learning_rate", "max_train_steps", "clip_norm"))
    if missing:
        return Clip(message=_UNKNOWN, missing=missing)
    start = start.with_meanings(clip_norm=start.unclipped)
    answer = clip_until_stable(start, steps, watch)
    keep(source, answer)
    return answer


def clip_from_trial(results: Results, trial: Trial) -> Clip:
    """Where clipping might begin, from the norms a trial logged; nothing is trained."""
    name = results.meaning.name("clip_norm")
    norms = trial.curves.only(results.meaning.name("gradient_norm"))
    used = trial.configuration.get(name)
    if norms is None or not len(norms):
        return _without_norms(results.meaning.name("gradient_norm"))
    if isinstance(used, int | float) and used > 0 and logged_after_clipping(norms, used):
        return _without_norms(results.meaning.name("gradient_norm"), after=True)
    alone = replace(results, recorded=(trial,))
    unstable = unstable_stretches(alone)[trial.number]
    warmup = warmup_end(trial, results.meaning)
    limit = early_until(int(norms.steps[-1]), round(warmup))
    early = any(first <= limit for first, _ in unstable)
    threshold = first_threshold(stable_norms(norms, unstable, warmup, early))
    if threshold is None:
        few = Message("probe.clip.too_few_norms", {"trial": trial.number})
        return Clip(message=_UNKNOWN, missing=(few,))
    often = count_clipped(norms, threshold, warmup)
    facts = {
        "clip_norm": threshold,
        "trial": trial.number,
        "clipped": _facts(often),
        "stable": not unstable,
    }
    return Clip(
        message=Message("probe.clip.recorded", facts),
        settings={} if often.too_often else {name: threshold},
        clip_norm=threshold,
        clipped=often,
    )


def clip_until_stable(start: ByMeaning, steps: int, watch: Watcher) -> Clip:
    """Clip at the lowest unstable learning rate, harder and harder, until training is stable."""
    workload = start.workload
    before = stability(workload, fixed=start.configuration, steps=steps, progress=watch)
    if before.missing:
        return Clip(message=_UNKNOWN, missing=before.missing)
    with Store.open(workload.store) as store:
        results = store.results(before.round)
    unstable = before.first_unstable
    if unstable is not None and unstable.learning_rate < start.learning_rate:
        # unstable even below it: the configuration's own rate is the problem
        above = (r for r in before.runs if r.learning_rate >= start.learning_rate)
        unstable = next((r for r in above if not r.stable), unstable)
    of_run = before.best if unstable is None else unstable
    threshold, read = _threshold(results, of_run, before.runs, start)
    if threshold is None:
        return _without_norms(start.name("gradient_norm"))
    if unstable is None:
        facts = {"stability": before.message, "clip_norm": threshold}
        return Clip(
            message=Message("probe.clip.not_needed", facts),
            clip_norm=threshold,
            round=before.round,
            trial=read,
            caveats=before.caveats,
        )
    tried: list[ClipTry] = []
    for halvings in range(HALVINGS + 1):
        norm = float(f"{threshold / 2**halvings:.3g}")
        attempt, lacking = _try(start, unstable.learning_rate, norm, before.steps, watch)
        if lacking:
            return Clip(message=_UNKNOWN, missing=lacking)
        tried.append(attempt)
        if attempt.stable:
            break
    message, settings, caveats = _conclusion(start, unstable, tried)
    return Clip(
        message=message,
        settings=settings,
        clip_norm=tried[-1].clip_norm if tried[-1].stable else None,
        clipped=tried[-1].clipped,
        learning_rate=unstable.learning_rate,
        tried=tuple(tried),
        round=before.round,
        trial=read,
        caveats=(*before.caveats, *caveats),
    )


def _threshold(
    results: Results, wanted: ShortRun | None, runs: tuple[ShortRun, ...], start: ByMeaning
) -> tuple[float | None, int | None]:
    """The first threshold and the trial it is from: the run itself, or the nearest stable one."""
    unstable = unstable_stretches(results)
    ceiling = wanted.learning_rate if wanted is not None else float("inf")
    below = [run for run in runs if run.stable and run.learning_rate <= ceiling]
    for run in [*([wanted] if wanted is not None else []), *reversed(below)]:
        norms = results.trial(run.trial or 0).curves.only(results.meaning.name("gradient_norm"))
        if norms is None:
            continue
        early = run.early is not False
        kept = stable_norms(norms, unstable[run.trial], start.warmup_steps, early)
        threshold = first_threshold(kept)
        if threshold is not None:
            return threshold, run.trial
    return None, None


def _try(
    start: ByMeaning, rate: float, norm: float, steps: int, watch: Watcher | None
) -> tuple[ClipTry, tuple[Message, ...]]:
    results = run_equal(
        "clip",
        Message("goal.clip", {"rate": rate, "norm": norm}),
        workload=replace(start.workload, eval_every=1),
        varied={},
        fixed=start.short(steps, learning_rate=rate, clip_norm=norm),
        seeds=SEEDS,
        watch=watch,
    )
    runs = short_runs(results, early_until(start.max_train_steps, start.warmup_steps))
    often: list[Clipped] = []
    for trial in results.rows:
        norms = trial.curves.only(results.meaning.name("gradient_norm"))
        if norms is not None and not logged_after_clipping(norms, norm):
            often.append(count_clipped(norms, norm, start.warmup_steps))
    worst = max(often, key=lambda clipping: clipping.worst, default=None)
    return ClipTry(norm, runs, worst), why_not_judged(results, runs)


def _conclusion(
    start: ByMeaning, unstable: ShortRun, tried: list[ClipTry]
) -> tuple[Message, dict[str, Value], tuple[Message, ...]]:
    """The answer, the settings and the caveats after the last threshold was tried."""
    last = tried[-1]
    facts = {"learning_rate": unstable.learning_rate, "clip_norm": last.clip_norm}
    if not last.stable:
        bad = next(run for run in last.runs if not run.stable)
        return Message("probe.clip.still_unstable", {**facts, "run": bad.message}), {}, ()
    settings = start.spelling(clip_norm=last.clip_norm)
    often = None if last.clipped is None else _facts(last.clipped)
    message = Message("probe.clip.stable", {**facts, "clipped": often})
    if last.clipped is None:
        name = start.name("gradient_norm")
        return message, settings, (Message("probe.clip.share_unknown", {"name": name}),)
    return message, {} if last.clipped.too_often else settings, ()


def _facts(often: Clipped) -> dict[str, Any]:
    return {
        "share": often.share,
        "worst": often.worst,
        "from_step": often.from_step,
        "to_step": often.to_step,
        "too_often": often.too_often,
    }


def _without_norms(name: str, after: bool = False) -> Clip:
    code = "probe.clip.norms_after_clipping" if after else "probe.clip.no_norms"
    return Clip(message=_UNKNOWN, missing=(Message(code, {"name": name}),))
