"""At which norm should gradients be clipped, if at all? The 90th percentile, halved while unstable.

On a recorded round nothing is trained: the answer is where clipping might begin, and how much it
would clip. As a probe it trains: the lowest unstable learning rate, clipped, until it is stable
(playbook, "How can optimization failures be debugged and mitigated?").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from tunewright.checks.logged_rate import warmup_end
from tunewright.design.ranges import Value
from tunewright.errors import DesignError
from tunewright.execution.watcher import Watcher
from tunewright.execution.workload import Workload
from tunewright.probes.by_meaning import ByMeaning, by_meaning
from tunewright.probes.equal_draws import run_equal
from tunewright.probes.norms import (
    Clipped,
    clipped,
    first_threshold,
    logged_after_clipping,
    stable_norms,
)
from tunewright.probes.probe import keep
from tunewright.probes.short_run import (
    ShortRun,
    early_until,
    short_runs,
    unjudged,
    unstable_stretches,
)
from tunewright.probes.stability import STEPS, stability
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Trial

HALVINGS = 3  # of the first threshold, while training is unstable
SEEDS = 2  # that must be stable
DISGUISED = "this is a disguised reduction of the learning rate: lower the learning rate instead"


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


@dataclass(frozen=True)
class Clip:
    """Where to clip, and what it does."""

    probe: ClassVar[str] = "clip"

    says: str  # the answer in one sentence
    settings: Mapping[str, Value]
    missing: tuple[str, ...] = ()
    clip_norm: float | None = None  # the 90th percentile, or what was stable in the end
    clipped: Clipped | None = None  # how often it clips
    learning_rate: float | None = None  # that was to be made stable
    tried: tuple[ClipTry, ...] = ()
    round: str = ""  # whose norms were read
    trial: int | None = None
    caveats: tuple[str, ...] = ()


def clip(
    source: Workload | Results,
    *,
    fixed: Mapping[str, Value] | None = None,
    trial: Trial | int | None = None,
    steps: int = STEPS,
    watch: Watcher | None = None,
) -> Clip:
    """Where to clip: from a recorded round, or by training a workload where it is unstable.

    Of results the best trial is read, or `trial`. A workload begins from `trial` or from the best
    one in its store, with what `fixed` says; its short runs have `steps` steps.
    """
    if isinstance(source, Results):
        number = trial.number if isinstance(trial, Trial) else trial
        own = source.best() if number is None else source.trial(number)
        return replace(recorded(source, own), round=source.round.name, trial=own.number)
    if isinstance(trial, int):
        raise DesignError(f"trial={trial}: give the trial itself, such as results.trial({trial}).")
    start = by_meaning(source, fixed, trial)
    missing = start.lacks(("learning_rate", "max_train_steps", "clip_norm"))
    if missing:
        return Clip("where to clip cannot be judged", {}, missing)
    start = ByMeaning(source, start.changed(clip_norm=start.unclipped))
    answer = mended(start, steps, watch)
    keep(source, answer)
    return answer


def recorded(results: Results, trial: Trial) -> Clip:
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
        few = (f"more stable steps: trial {trial.number} logged too few norms to begin from",)
        return Clip("where to clip cannot be judged", {}, few)
    often = clipped(norms, threshold, warmup)
    says = (
        f"clipping might begin at {threshold:.3g}: 90 % of the gradient norms of trial "
        f"{trial.number}'s stable steps are below; {_often(often)}"
    )
    if not unstable:
        says += ". Its training is stable: clip only where training is not"
    return Clip(
        says,
        {} if often.too_often else {name: threshold},
        clip_norm=threshold,
        clipped=often,
    )


def mended(start: ByMeaning, steps: int, watch: Watcher | None) -> Clip:
    """Clip at the lowest unstable learning rate, harder and harder, until training is stable."""
    workload = start.workload
    before = stability(workload, fixed=start.configuration, steps=steps, watch=watch)
    if before.missing:
        return Clip("where to clip cannot be judged", {}, before.missing)
    with Store.open(workload.store) as store:
        results = store.results(before.round)
    found = before.first_unstable
    if found is not None and found.learning_rate < start.learning_rate:
        # unstable even below it: what is to be mended is the configuration's own rate
        own = (r for r in before.runs if r.learning_rate >= start.learning_rate and not r.stable)
        found = next(own, found)
    of_run = before.best if found is None else found
    threshold, read = _threshold(results, of_run, before.runs, start)
    if threshold is None:
        return _without_norms(start.name("gradient_norm"))
    if found is None:
        says = (
            f"{before.says}; there is nothing to clip for. If you clip all the same, begin at "
            f"{threshold:.3g}, the 90th percentile of its gradient norms"
        )
        return Clip(
            says,
            {},
            clip_norm=threshold,
            round=before.round,
            trial=read,
            caveats=before.caveats,
        )
    tried: list[ClipTry] = []
    for halvings in range(HALVINGS + 1):
        norm = float(f"{threshold / 2**halvings:.3g}")
        one, lacking = _try(start, found.learning_rate, norm, before.steps, watch)
        if lacking:
            return Clip("where to clip cannot be judged", {}, lacking)
        tried.append(one)
        if one.stable:
            break
    says, settings, caveats = _conclusion(start, found, tried)
    return Clip(
        says,
        settings,
        clip_norm=tried[-1].clip_norm if tried[-1].stable else None,
        clipped=tried[-1].clipped,
        learning_rate=found.learning_rate,
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
        own = results.trial(run.trial or 0)
        norms = own.curves.only(results.meaning.name("gradient_norm"))
        if norms is None:
            continue
        early = run.early is not False
        found = first_threshold(stable_norms(norms, unstable[run.trial], start.warmup_steps, early))
        if found is not None:
            return found, run.trial
    return None, None


def _try(
    start: ByMeaning, rate: float, norm: float, steps: int, watch: Watcher | None
) -> tuple[ClipTry, tuple[str, ...]]:
    results = run_equal(
        "clip",
        f"Is learning rate {rate:.3g} stable with gradients clipped at {norm:.3g}?",
        replace(start.workload, eval_every=1),
        {},
        start.short(steps, learning_rate=rate, clip_norm=norm),
        SEEDS,
        watch,
    )
    runs = short_runs(results, early_until(start.max_train_steps, start.warmup_steps))
    often: list[Clipped] = []
    for trial in results.trials:
        norms = trial.curves.only(results.meaning.name("gradient_norm"))
        if norms is not None and not logged_after_clipping(norms, norm):
            often.append(clipped(norms, norm, start.warmup_steps))
    worst = max(often, key=lambda one: one.worst, default=None)
    return ClipTry(norm, runs, worst), unjudged(results, runs)


def _conclusion(
    start: ByMeaning, found: ShortRun, tried: list[ClipTry]
) -> tuple[str, dict[str, Value], tuple[str, ...]]:
    """The sentence, the settings and the caveats after the last threshold was tried."""
    last, rate = tried[-1], f"learning rate {found.learning_rate:.3g}"
    if not last.stable:
        bad = next(run for run in last.runs if not run.stable)
        return (
            f"clipping does not make {rate} stable: even at {last.clip_norm:.3g} the loss "
            f"{bad.says}. Lower the learning rate, or try warm-up: tunewright probe warmup",
            {},
            (),
        )
    says = f"clipping at {last.clip_norm:.3g} makes {rate} stable"
    if last.clipped is None:
        name = start.name("gradient_norm")
        unknown = f"how much is clipped is not known: log {name} as it is before clipping"
        return says, start.spelled(clip_norm=last.clip_norm), (unknown,)
    says = f"{says}; {_often(last.clipped)}"
    settings = {} if last.clipped.too_often else start.spelled(clip_norm=last.clip_norm)
    return says, settings, ()


def _often(often: Clipped) -> str:
    if not often.too_often:
        return f"{often.share:.0%} of the updates are clipped"
    return (
        f"but {often.worst:.0%} of the updates between step {often.from_step} and {often.to_step} "
        f"are clipped: {DISGUISED}"
    )


def _without_norms(name: str, after: bool = False) -> Clip:
    if after:
        lack = (
            f"{name} before clipping: what is logged is the norm after it. Log what clipping was "
            "given (clip_grad_norm_ returns it)"
        )
    else:
        lack = (
            f"{name}: too few norms were logged. Log the norm of the whole gradient at every step, "
            'before clipping, or if it has another name, say so: means={"gradient_norm": "..."}'
        )
    return Clip("where to clip cannot be judged", {}, (lack,))
