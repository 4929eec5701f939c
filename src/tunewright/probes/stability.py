"""Does instability hold the learning rate down? Short runs just above the best learning rate.

Every workload becomes unstable at some learning rate; it matters when that happens just above the
best one (playbook, "How can optimization failures be debugged and mitigated?"). Some models are
unstable within the first steps and recover to slow training, which evaluations at every hundredth
step miss: so these runs are short, and every step is evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from tunewright.design.ranges import Value, is_number
from tunewright.errors import DesignError
from tunewright.execution.run import watcher_of
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.probe import Answer, keep
from tunewright.probes.short_run import (
    ShortRun,
    early_until,
    foreseen,
    run_equal,
    short_runs,
    why_not_judged,
)
from tunewright.probes.starting_point import ByMeaning, by_meaning
from tunewright.progress.choose import Wanted
from tunewright.store.trial import Trial

STEPS = 500  # playbook: "an abbreviated run of just 500 steps ... but evaluate every step"
# of the best learning rate: half of it and itself as what a stable run looks like, 2 is the
# playbook's quick look, and at 5 and 10 what was found below is seen again
FACTORS = (0.5, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)


@dataclass(frozen=True, kw_only=True)
class Stability(Answer):
    """From which learning rate on short runs are unstable, and how."""

    probe: ClassVar[str] = "stability"

    learning_rate: float  # the configuration's own, the best so far
    steps: int = STEPS  # of each run
    runs: tuple[ShortRun, ...] = ()  # by learning rate
    unstable_base_learning_rate: float | None = None  # the lowest; None if none was found
    round: str = ""  # where they are recorded
    caveats: tuple[Message, ...] = ()  # what the answer rests on
    missing: tuple[Message, ...] = ()  # what kept it from an answer

    @property
    def first_unstable(self) -> ShortRun | None:
        """The run at the lowest unstable learning rate."""
        lowest = self.unstable_base_learning_rate
        return next((run for run in self.runs if run.learning_rate == lowest), None)

    @property
    def best(self) -> ShortRun | None:
        """Of the stable runs the one whose training loss ended lowest."""
        stable = [r for r in self.runs if r.stable and r.final_loss is not None]
        return min(stable, key=lambda run: run.final_loss or 0.0, default=None)

    @property
    def settings(self) -> Mapping[str, Value]:
        """None: it shows what to fix, not what to set."""
        return {}

    @property
    def message(self) -> Message:
        """The answer as a code with its facts."""
        unstable_run, best = self.first_unstable, self.learning_rate
        if never_finite(self.runs):
            rates = [run.learning_rate for run in self.runs]
            return Message("probe.stability.never_finite", {"low": rates[0], "high": rates[-1]})
        if self.missing:
            return Message("probe.stability.unknown")
        if unstable_run is None:
            times = max(run.learning_rate for run in self.runs) / best
            facts = {"steps": self.steps, "times": times, "best": best}
            return Message("probe.stability.stable", facts)
        facts_of_run = {
            "learning_rate": unstable_run.learning_rate,
            "best": best,
            "times": unstable_run.learning_rate / best,
            "early": unstable_run.early,
            "run": unstable_run.message,
        }
        at_best = unstable_run.learning_rate <= best
        where = "unstable_at_best" if at_best else "unstable_above"
        return Message(f"probe.stability.{where}", facts_of_run)


def stability(
    workload: Workload,
    *,
    fixed: Mapping[str, Value] | None = None,
    trial: Trial | None = None,
    steps: int = STEPS,
    factors: Sequence[float] = FACTORS,
    progress: Wanted = "auto",
) -> Stability:
    """Train `steps` steps at several times the best learning rate, every step evaluated.

    The learning rate is held constant where the workload declares how
    (`off={"schedule": "constant"}`). The same call again finds what was run and costs nothing.

    Args:
        workload: the training program.
        fixed: values that replace those of the trial.
        trial: whose configuration is used; None: the best trial in the store.
        steps: of each short run.
        factors: multiples of the best learning rate to try.
        progress: as for `tw.run`.
    """
    watch = watcher_of(progress, workload)
    start = by_meaning(workload, fixed, trial)
    _check(steps, factors)
    missing = start.lacks(("learning_rate", "max_train_steps"))
    if missing:
        return Stability(learning_rate=start.learning_rate, steps=steps, missing=missing)
    rate, own_warmup = start.learning_rate, start.warmup_steps
    steps = max(steps, 2 * own_warmup)  # a warm-up that fills the run would hide the rate itself
    missing = foreseen(start, steps)
    if missing:
        return Stability(learning_rate=rate, steps=steps, caveats=start.caveats, missing=missing)
    results = run_equal(
        "stability",
        Message("goal.stability", {"rate": rate}),
        replace(workload, eval_every=1),
        {start.name("learning_rate"): [_six_digits(rate * f) for f in sorted(set(factors))]},
        start.short(steps),
        watch=watch,
    )
    judged = short_runs(results, early_until(start.max_train_steps, own_warmup))
    runs = sorted(judged, key=lambda run: run.learning_rate)
    never = never_finite(runs)
    answer = Stability(
        learning_rate=rate,
        steps=steps,
        runs=tuple(runs),
        unstable_base_learning_rate=None if never else lowest_unstable(runs),
        round=results.round.name,
        caveats=start.caveats,
        missing=_finite_first(start) if never else why_not_judged(results, runs),
    )
    keep(workload, answer)
    return answer


def lowest_unstable(runs: Sequence[ShortRun]) -> float | None:
    """The lowest learning rate that is unstable and whose next higher one is too; runs by rate.

    A lone alarm below a stable run is taken for chance.

    >>> lowest_unstable([ShortRun(n, n / 10, stable=n not in (2, 4, 5)) for n in range(1, 6)])
    0.4
    """
    judged = [run for run in runs if run.stable is not None]
    for position, run in enumerate(judged):
        if not any(higher.stable for higher in judged[position : position + 2]):
            return run.learning_rate
    return None


def never_finite(runs: Sequence[ShortRun]) -> bool:
    """Whether no run has a finite loss, at any rate: a bug, which no warm-up or clipping cures.

    The first loss is computed before the first update, so the learning rate has no part in it.

    >>> gone = ShortRun(0, 0.1, stable=False, what="diverged")
    >>> never_finite([gone, gone]), never_finite([gone, ShortRun(1, 0.2, True, start_loss=1.0)])
    (True, False)
    """
    return bool(runs) and all(run.what == "diverged" and run.start_loss is None for run in runs)


def _finite_first(start: ByMeaning) -> tuple[Message, ...]:
    return (Message("probe.finite_loss_needed", {"metric": start.name("train_loss")}),)


def _six_digits(rate: float) -> float:
    """Six digits, so that the same rate is the same number however it was come by."""
    return float(f"{rate:.6g}")


def _check(steps: int, factors: Sequence[float]) -> None:
    if type(steps) is not int or steps < 1:
        raise DesignError("probe.bad_steps", steps=steps)
    if not factors or not all(is_number(f) and f > 0 for f in factors):
        raise DesignError("probe.bad_factors", factors=factors)
