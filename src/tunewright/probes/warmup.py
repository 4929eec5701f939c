"""Does warm-up allow a higher learning rate, and how short may it be? The playbook's procedure.

The learning rate from which training is unstable is found first; then the shortest warm-up that
makes ten times that rate stable (else three times), ten steps first, then a hundred; then the whole
training with it prepended. If no warm-up is enough: clipping, then both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from tunewright.design.ranges import Value
from tunewright.errors import DesignError
from tunewright.execution.run import watcher_of
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.by_meaning import ByMeaning, by_meaning
from tunewright.probes.clip import mended
from tunewright.probes.prepended import Prepended, prepended
from tunewright.probes.probe import Answer, keep
from tunewright.probes.short_run import ShortRun
from tunewright.probes.stability import STEPS, Stability, stability
from tunewright.probes.warmup_ladder import Rung, climb, climb_foreseen
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import Watcher
from tunewright.store.trial import Trial

TIMES = (10.0, 3.0)  # of unstable_base_learning_rate; playbook: at least an order of magnitude
LONG = 0.05  # of max_train_steps; playbook: above it max_train_steps may need to be increased
REPEATS = 3  # seeds of the comparison of whole trainings
UNKNOWN = Message("probe.warmup.unknown")


@dataclass(frozen=True, kw_only=True)
class Warmup(Answer):
    """The shortest warm-up that makes a high learning rate stable, and what it is worth."""

    probe: ClassVar[str] = "warmup"

    message: Message  # the answer as a code with its facts
    settings: Mapping[str, Value]
    missing: tuple[Message, ...] = ()
    learning_rate: float | None = None  # the best known without warm-up
    unstable_base_learning_rate: float | None = None
    base_learning_rate: float | None = None  # the peak that warm-up makes stable
    warmup_steps: int | None = None
    clip_norm: float | None = None  # where clipping is needed as well, or instead
    rungs: tuple[Rung, ...] = ()  # in the order they were tried
    compared: Prepended | None = None  # whole trainings with and without
    caveats: tuple[Message, ...] = ()


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

    The configuration is the trial's, else that of the best trial the store has, with the values of
    `fixed`. `times` are the multiples of the unstable rate to try, in this order. In the end whole
    trainings are compared, each under `repeats` seeds; 0 leaves that out.
    `progress` is as for `tw.run`.
    """
    watch = watcher_of(progress, workload)
    _check(times, repeats)
    start = by_meaning(workload, fixed, trial)
    missing = start.lacks(("learning_rate", "max_train_steps", "warmup_steps"))
    if missing:
        return Warmup(message=UNKNOWN, settings={}, missing=missing)
    cold = start.with_meanings(warmup_steps=0)
    missing = climb_foreseen(cold)
    if missing:
        return Warmup(message=UNKNOWN, settings={}, missing=missing)
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
        return Warmup(message=UNKNOWN, settings={}, missing=before.missing)
    if unstable is None:
        unneeded = Message("probe.warmup.not_needed", {"stability": before.message})
        return Warmup(message=unneeded, settings={})
    tried, found, missing = _search(start, unstable, times, None, watch)
    if missing:
        return Warmup(message=UNKNOWN, settings={}, missing=missing, rungs=tuple(tried))
    if found is None:
        return _with_clipping(start, unstable, before.steps, times, tried, repeats, watch)
    return _worth(start, unstable.learning_rate, found, tried, repeats, watch)


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
        return Warmup(message=untried, settings={}, missing=lack, rungs=tuple(tried))
    bare = start.with_meanings(clip_norm=start.unclipped)
    clipping = mended(bare, steps, watch)
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
        return Warmup(message=nothing, settings={}, missing=clipping.missing, rungs=tuple(tried))
    more, found, missing = _search(start, unstable, times, norm, watch)
    tried += more
    if found is None:
        neither = Message("probe.warmup.failed_with_clipping", failed)
        return Warmup(message=neither, settings={}, missing=missing, rungs=tuple(tried))
    return _worth(start, unstable.learning_rate, found, tried, repeats, watch)


def _worth(
    start: ByMeaning,
    unstable: float,
    found: Rung,
    tried: Sequence[Rung],
    repeats: int,
    watch: Watcher,
) -> Warmup:
    """What a stable warm-up is worth: whole trainings with it prepended, and the settings."""
    peak, length = found.base_learning_rate, found.warmup_steps
    settings = start.spelled(warmup_steps=length)
    if not found.on_top:
        settings |= start.spelled(max_train_steps=start.max_train_steps + length)
    if found.clip_norm is not None:
        settings |= start.spelled(clip_norm=found.clip_norm)
    compared = None
    if repeats:
        compared = prepended(start, found, (unstable, peak), repeats, watch)
        worse = compared.gain is None or compared.gain <= 0 or compared.best is None
        if worse or compared.best is None:
            settings = {}
        else:
            settings |= start.spelled(learning_rate=compared.best.learning_rate)
    facts = {
        "warmup_steps": length,
        "clip_norm": found.clip_norm,
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
        clip_norm=found.clip_norm,
        rungs=tuple(tried),
        compared=compared,
        caveats=_caveats(start, found),
    )


def _caveats(start: ByMeaning, found: Rung) -> tuple[Message, ...]:
    share = found.warmup_steps / start.max_train_steps
    if share <= LONG:
        return ()
    facts = {
        "share": share,
        "name": start.name("max_train_steps"),
        "steps": start.max_train_steps + found.warmup_steps,
    }
    return (Message("probe.warmup.long", facts),)


def _check(times: Sequence[float], repeats: int) -> None:
    if not times or not all(isinstance(t, int | float) and t > 1 for t in times):
        raise DesignError("probe.bad_times", times=times)
    if type(repeats) is not int or repeats < 0:
        raise DesignError("probe.bad_repeats", repeats=repeats)
