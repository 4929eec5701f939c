"""How many training steps are enough? As many as the fastest constant learning rate needs to fit.

The playbook's way to a first max_train_steps where tuning is not compute-bound: no augmentation, no
regularisation, a constant learning rate, swept; the fewest steps to a perfect fit of the training
data. What is added later adds gradient noise and may need more steps, never fewer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from tunewright.checks.logged_rate import learning_rates
from tunewright.design.ranges import Value, is_number
from tunewright.errors import DesignError
from tunewright.execution.run import watcher_of
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.probe import Conclusion, keep, run_listed
from tunewright.probes.rate_sweep import (
    Criterion,
    Measured,
    Plan,
    Sweep,
    SweptRate,
    Verdict,
    closer,
    criterion,
    grid,
    plan_sweep,
    sweep,
)
from tunewright.probes.short_run import check_finished
from tunewright.progress.choose import Wanted
from tunewright.progress.watcher import Watcher
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_PROBE = "train_steps"
_CONSTANT = 1.02  # a logged learning rate that varies by less is constant
_MORE_NOISE = (1.5, 2.0)  # times as many steps when augmentation and regularisation come back
GOAL = Message("goal.train_steps")


@dataclass(frozen=True, kw_only=True)
class TrainSteps(Conclusion):
    """What the sweep found; steps are in the unit of what means max_train_steps."""

    probe: ClassVar[str] = _PROBE
    verdict: Verdict  # whether a perfect fit was reached
    max_train_steps: int | None = None  # fit_steps times the factor, rounded up
    fit_steps: int | None = None  # first evaluation of a perfect fit, over all learning rates
    crossing: float | None = None  # the same, interpolated between evaluations
    resolution: float | None = None  # steps between the evaluations there
    learning_rate: float | None = None  # that fits first
    criterion: Message | None = None  # what counted as a perfect fit
    factor: float = 1.0  # allowed for gradient noise that is to come
    rates: tuple[SweptRate, ...] = ()  # the whole sweep, by learning rate
    lengths: tuple[int, ...] = ()  # max_train_steps of the trainings, in the order they were done
    off: Mapping[str, Value] = field(default_factory=dict)  # what was switched off


def train_steps(
    workload: Workload,
    *,
    learning_rate: float | None = None,
    max_train_steps: int | None = None,
    metric: str | None = None,
    at_most: float | None = None,
    at_least: float | None = None,
    factor: float = 1.0,
    fixed: Mapping[str, Value] | None = None,
    trial: Trial | None = None,
    progress: Wanted = "auto",
) -> TrainSteps:
    """The first max_train_steps for a workload, from a sweep of constant learning rates.

    A perfect fit is a training error of 0.1 %, or as `metric` with a bound defines it.

    Args:
        workload: the training program.
        learning_rate: the centre of the sweep; None: that of the best known trial, or the
            function's own.
        max_train_steps: of the first trainings; None: 20 epochs, or as known.
        metric: the training metric that shows a perfect fit.
        at_most: the fit is perfect when the metric is at most this.
        at_least: the fit is perfect when the metric is at least this.
        factor: allows for gradient noise that is to come.
        fixed: values that replace those of the trial.
        trial: whose other hyperparameters are used; None: the best known one.
        progress: as for `tw.run`.
    """
    watch = watcher_of(progress, workload)
    _refuse(learning_rate, max_train_steps, metric, at_most, at_least, factor)
    plan, missing = plan_sweep(workload, learning_rate, max_train_steps, dict(fixed or {}), trial)
    if plan is None:
        return TrainSteps(
            verdict="unknown",
            message=Message("probe.train_steps.not_begun"),
            missing=tuple(missing),
        )
    trainings = _Trainings(workload, plan, watch)

    def criterion_of(measured: Mapping[float, Measured]) -> Criterion | Message:
        return trainings.unusable or _criterion(workload, measured, metric, at_most, at_least)

    swept = sweep(trainings.train, criterion_of, grid(plan.learning_rate), plan.length)
    swept = closer(trainings.train, swept)
    answer = _answer(workload, plan, swept, factor, tuple(trainings.lengths))
    keep(workload, answer)
    return answer


def _refuse(
    learning_rate: float | None,
    max_train_steps: int | None,
    metric: str | None,
    at_most: float | None,
    at_least: float | None,
    factor: float,
) -> None:
    problems: list[Message] = []
    if learning_rate is not None and not (is_number(learning_rate) and learning_rate > 0):
        problems.append(Message("train_steps.bad_learning_rate", {"learning_rate": learning_rate}))
    if max_train_steps is not None and (type(max_train_steps) is not int or max_train_steps < 2):
        problems.append(
            Message("train_steps.bad_max_train_steps", {"max_train_steps": max_train_steps})
        )
    if at_most is not None and at_least is not None:
        problems.append(Message("train_steps.two_limits"))
    if (at_most is not None or at_least is not None) and metric is None:
        problems.append(Message("train_steps.limit_without_metric"))
    if not is_number(factor) or not 1 <= factor <= 10:
        problems.append(Message("train_steps.bad_factor", {"factor": factor}))
    if problems:
        raise DesignError.several(problems)


class _Trainings:
    """The trainings of one sweep: which lengths there were, and whether they can be used at all."""

    def __init__(self, workload: Workload, plan: Plan, watch: Watcher | None) -> None:
        # a constraint on memory or latency is no concern of how fast training data is fit
        objective = replace(workload.objective, subject_to={})
        self._workload = replace(workload, objective=objective)
        self._plan, self._watch = plan, watch
        self.lengths: list[int] = []
        self.unusable: Message | None = None  # why not

    def train(self, rates: Sequence[float], length: int) -> dict[float, Measured]:
        """Train each learning rate for this length, in one round of the store."""
        meaning, plan = self._workload.meaning, self._plan
        name = meaning.name("learning_rate")
        results = check_finished(
            run_listed(
                _PROBE,
                GOAL,
                self._workload,
                [{name: rate} for rate in rates],
                {**plan.fixed, meaning.name("max_train_steps"): length},
                self._watch,
            )
        )
        if length not in self.lengths:
            self.lengths.append(length)
        self.unusable = self.unusable or _varying_rate(results)
        return measurements(results, length)


def measurements(results: Results, length: int) -> dict[float, Measured]:
    """What each learning rate of a round logged; `length` is their max_train_steps."""
    name = results.meaning.name("learning_rate")
    longest = max((t.curves.last_step or 0 for t in results.rows), default=0)
    unit = length / longest if longest and abs(longest / length - 1) > 0.02 else 1.0
    by_rate = {}
    for trial in results.rows:
        rate = trial.configuration[name]
        curves = dict(trial.curves) if trial.status == "completed" else None
        by_rate[float(rate)] = Measured(curves, unit)  # type: ignore[arg-type]
    return by_rate


def _varying_rate(results: Results) -> Message | None:
    """How a learning rate that should be constant was logged to vary; None: none was."""
    for trial in results.rows:
        rates = learning_rates(trial, results.meaning)
        if rates is None:
            continue
        low, high = float(rates.values.min()), float(rates.values.max())
        if high > _CONSTANT * low:
            place = {"trial": trial.number, "round": results.round.name}
            return Message("probe.train_steps.rate_varied", {**place, "low": low, "high": high})
    return None


def _criterion(
    workload: Workload,
    measured: Mapping[float, Measured],
    metric: str | None,
    at_most: float | None,
    at_least: float | None,
) -> Criterion | Message:
    logged: dict[str, list[Any]] = {}
    for each in measured.values():
        for name, curve in (each.curves or {}).items():
            logged.setdefault(name, []).append(curve)
    if not logged:  # all diverged: any criterion will show it
        return Criterion(metric or workload.meaning.name("train_loss"), at_most)
    fit_criterion = criterion(logged, workload.meaning, metric, at_most, at_least)
    if fit_criterion is not None:
        return fit_criterion
    wanted = metric or f"train_error (or {workload.meaning.name('train_loss')})"
    facts = {"wanted": wanted, "logged": sorted(logged)}
    return Message("probe.train_steps.never_logged", facts)


def _round_up(steps: float) -> int:
    """A number of steps with two significant digits, never fewer than given.

    >>> _round_up(1234), _round_up(340), _round_up(87), _round_up(1000)
    (1300, 340, 87, 1000)
    """
    whole = math.ceil(steps - 1e-9)
    unit = int(10 ** max(0, len(str(whole)) - 2))
    return math.ceil(whole / unit) * unit


def _answer(
    workload: Workload, plan: Plan, swept: Sweep, factor: float, lengths: tuple[int, ...]
) -> TrainSteps:
    best, name = swept.best, workload.meaning.name("max_train_steps")
    answer = TrainSteps(
        verdict=swept.verdict,
        message=_message(swept, name),
        missing=() if swept.why is None else (swept.why,),
        learning_rate=None if best is None else best.learning_rate,
        criterion=None if swept.why is not None else swept.criterion.message,
        factor=factor,
        rates=swept.rates,
        lengths=lengths,
        off=plan.off,
        caveats=plan.caveats,
    )
    if best is None or best.steps is None:
        return answer
    fit_steps = math.ceil(best.steps - 1e-9)
    proposed = _round_up(factor * fit_steps)
    answer = replace(answer, fit_steps=fit_steps, crossing=best.crossing, resolution=best.spacing)
    if swept.verdict != "fits":
        return answer
    return replace(
        answer,
        message=_proposal(answer.message, plan, proposed, fit_steps, factor),
        settings={name: proposed},
        max_train_steps=proposed,
    )


def _message(swept: Sweep, name: str) -> Message:
    """The answer as a code with its facts; what to begin with is added later."""
    best = swept.best
    if swept.verdict == "unknown":
        return Message("probe.train_steps.unknown")
    rates = {"low": swept.rates[0].learning_rate, "high": swept.rates[-1].learning_rate}
    if best is None:
        return Message("probe.train_steps.diverges", rates)
    facts: dict[str, Any] = {
        **rates,
        "name": name,
        "unit": "epochs" if "epoch" in name.lower() else "steps",
        "learning_rate": best.learning_rate,
        "side": swept.side,
        "length": swept.length,
        "metric": swept.criterion.metric,
    }
    if best.steps is not None:
        fit = {"steps": best.steps, "resolution": best.spacing}
        code = "fits_at_edge" if swept.verdict == "at_edge" else "fits"
        criterion = swept.criterion.message
        return Message(f"probe.train_steps.{code}", {**facts, **fit, "criterion": criterion})
    code = "none_at_edge" if swept.verdict == "at_edge" else swept.verdict
    return Message(f"probe.train_steps.{code}", {**facts, "value": best.value})


def _proposal(
    message: Message, plan: Plan, proposed: int, fit_steps: int, factor: float
) -> Message:
    """The answer with the length to begin with, and what more gradient noise may take."""
    more = None
    if factor == 1:
        more = [_round_up(times * fit_steps) for times in _MORE_NOISE]
    facts = {
        "max_train_steps": proposed,
        "factor": factor,
        "more": more,
        "returns": list(plan.returns),
    }
    return Message(message.code, {**message.facts, **facts})
