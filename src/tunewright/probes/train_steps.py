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
from tunewright.execution.watcher import Watcher
from tunewright.execution.workload import Workload
from tunewright.probes.perfect_fit import Criterion, criterion
from tunewright.probes.probe import keep, run_listed
from tunewright.probes.rate_sweep import Measured, Sweep, SweptRate, Verdict, closer, grid, sweep
from tunewright.probes.short_run import finished
from tunewright.probes.sweep_plan import Plan, plan_sweep
from tunewright.store.results import Results
from tunewright.store.trial import Trial

PROBE = "train_steps"
CONSTANT = 1.02  # a logged learning rate that varies by less is constant
MORE_NOISE = (1.5, 2.0)  # times as many steps when augmentation and regularisation come back
GOAL = "How soon does the fastest constant learning rate fit the training data perfectly?"


@dataclass(frozen=True)
class TrainSteps:
    """What the sweep found; steps are in the unit of what means max_train_steps."""

    probe: ClassVar[str] = PROBE
    verdict: Verdict
    says: str
    settings: Mapping[str, Value]  # the proposed max_train_steps, under the workload's own name
    missing: tuple[str, ...] = ()
    max_train_steps: int | None = None  # fit_steps times the factor, rounded up
    fit_steps: int | None = None  # first evaluation of a perfect fit, over all learning rates
    crossing: float | None = None  # the same, interpolated between evaluations
    resolution: float | None = None  # steps between the evaluations there
    learning_rate: float | None = None  # that fits first
    criterion: str = ""  # what counted as a perfect fit
    factor: float = 1.0
    rates: tuple[SweptRate, ...] = ()  # the whole sweep, by learning rate
    lengths: tuple[int, ...] = ()  # max_train_steps of the trainings, in the order they were done
    off: Mapping[str, Value] = field(default_factory=dict)  # what was switched off
    caveats: tuple[str, ...] = ()  # what the answer rests on


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
    watch: Watcher | None = None,
) -> TrainSteps:
    """The first max_train_steps for a workload, from a sweep of constant learning rates.

    The sweep is centred at `learning_rate` (by default that of the best known trial, or the
    function's own) and begins with trainings of `max_train_steps` (20 epochs, or as known). A
    perfect fit is a training error of 0.1 %, or what `metric` with `at_most` or `at_least` says.
    `factor` allows for gradient noise that is to come. Other hyperparameters are as in `fixed`,
    else as in `trial`, which is the best known one by default.
    """
    _refuse(learning_rate, max_train_steps, metric, at_most, at_least, factor)
    plan, missing = plan_sweep(workload, learning_rate, max_train_steps, dict(fixed or {}), trial)
    if plan is None:
        says = "The sweep cannot begin before something is said that it needs to know."
        return TrainSteps("unknown", says, {}, tuple(missing))
    trainings = _Trainings(workload, plan, watch)

    def wanted(measured: Mapping[float, Measured]) -> Criterion | str:
        return trainings.unusable or _criterion(workload, measured, metric, at_most, at_least)

    found = sweep(trainings.train, wanted, grid(plan.learning_rate), plan.length)
    found = closer(trainings.train, found)
    answer = _answer(workload, plan, found, factor, tuple(trainings.lengths))
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
    problems = []
    if learning_rate is not None and not (is_number(learning_rate) and learning_rate > 0):
        problems.append(f"learning_rate={learning_rate!r}: a number above 0 to sweep around.")
    if max_train_steps is not None and (type(max_train_steps) is not int or max_train_steps < 2):
        problems.append(f"max_train_steps={max_train_steps!r}: a whole number of steps, from 2.")
    if at_most is not None and at_least is not None:
        problems.append("at_most and at_least: a perfect fit is one of them.")
    if (at_most is not None or at_least is not None) and metric is None:
        problems.append('at_most or at_least of which metric? Say metric="train_loss", at_most=..')
    if not is_number(factor) or not 1 <= factor <= 10:
        problems.append(f"factor={factor!r}: from 1 (as measured) to 10; 1.5 to 2 is usual.")
    if problems:
        raise DesignError("\n".join(problems))


class _Trainings:
    """The trainings of one sweep: which lengths there were, and whether they can be used at all."""

    def __init__(self, workload: Workload, plan: Plan, watch: Watcher | None) -> None:
        # a constraint on memory or latency is no concern of how fast training data is fit
        objective = replace(workload.objective, subject_to={})
        self._workload = replace(workload, objective=objective)
        self._plan, self._watch = plan, watch
        self.lengths: list[int] = []
        self.unusable = ""  # why not

    def train(self, rates: Sequence[float], length: int) -> dict[float, Measured]:
        """Train each learning rate for this length, in one round of the store."""
        meaning, plan = self._workload.meaning, self._plan
        name = meaning.name("learning_rate")
        results = finished(
            run_listed(
                PROBE,
                GOAL,
                self._workload,
                [{name: rate} for rate in rates],
                {**plan.fixed, meaning.name("max_train_steps"): length},
                self._watch,
            )
        )
        if length not in self.lengths:
            self.lengths.append(length)
        self.unusable = self.unusable or _varied(results)
        return measured(results, length)


def measured(results: Results, length: int) -> dict[float, Measured]:
    """What each learning rate of a round logged; `length` is their max_train_steps."""
    name = results.meaning.name("learning_rate")
    ends = {
        t.number: max((int(c.steps[-1]) for c in t.curves.values()), default=0)
        for t in results.trials
    }
    longest = max(ends.values(), default=0)
    unit = length / longest if longest and abs(longest / length - 1) > 0.02 else 1.0
    found = {}
    for trial in results.trials:
        rate = trial.configuration[name]
        curves = dict(trial.curves) if trial.status == "completed" else None
        found[float(rate)] = Measured(curves, unit)  # type: ignore[arg-type]
    return found


def _varied(results: Results) -> str:
    """How a learning rate that should be constant was logged to vary; empty: none was."""
    for trial in results.trials:
        rates = learning_rates(trial, results.meaning)
        if rates is None:
            continue
        low, high = float(rates.values.min()), float(rates.values.max())
        if high > CONSTANT * low:
            return (
                f"a constant learning rate: trial {trial.number} of {results.round.name} logged "
                f"one between {low:.4g} and {high:.4g}. Give the program a schedule to choose and "
                'say which is constant: means={"schedule": "..."}, off={"schedule": "constant"}'
            )
    return ""


def _criterion(
    workload: Workload,
    measured: Mapping[float, Measured],
    metric: str | None,
    at_most: float | None,
    at_least: float | None,
) -> Criterion | str:
    logged: dict[str, list[Any]] = {}
    for one in measured.values():
        for name, curve in (one.curves or {}).items():
            logged.setdefault(name, []).append(curve)
    if not logged:  # all diverged: any criterion will say so
        return Criterion(metric or workload.meaning.name("train_loss"), at_most)
    found = criterion(logged, workload.meaning, metric, at_most, at_least)
    if found is not None:
        return found
    wanted = metric or f"train_error (or {workload.meaning.name('train_loss')})"
    return (
        f"{wanted}: it was never logged (logged: {', '.join(sorted(logged))}). Log the error of a "
        'fixed part of the training data at evaluations, or say means={"train_loss": "..."}'
    )


def round_up(steps: float) -> int:
    """A number of steps with two significant digits, never fewer than given.

    >>> round_up(1234), round_up(340), round_up(87), round_up(1000)
    (1300, 340, 87, 1000)
    """
    whole = math.ceil(steps - 1e-9)
    unit = int(10 ** max(0, len(str(whole)) - 2))
    return math.ceil(whole / unit) * unit


def _answer(
    workload: Workload, plan: Plan, found: Sweep, factor: float, lengths: tuple[int, ...]
) -> TrainSteps:
    best, name = found.best, workload.meaning.name("max_train_steps")
    answer = TrainSteps(
        found.verdict,
        _says(found, plan, name),
        {},
        (found.why,) if found.why else (),
        learning_rate=None if best is None else best.learning_rate,
        criterion=found.criterion.says,
        factor=factor,
        rates=found.rates,
        lengths=lengths,
        off=plan.off,
        caveats=plan.caveats,
    )
    if best is None or best.steps is None:
        return answer
    fit_steps = math.ceil(best.steps - 1e-9)
    proposed = round_up(factor * fit_steps)
    answer = replace(answer, fit_steps=fit_steps, crossing=best.crossing, resolution=best.spacing)
    if found.verdict != "fits":
        return answer
    return replace(
        answer,
        says=answer.says + _proposal(plan, name, proposed, fit_steps, factor),
        settings={name: proposed},
        max_train_steps=proposed,
    )


def _says(found: Sweep, plan: Plan, name: str) -> str:
    best, wanted = found.best, found.criterion.says
    unit = "epochs" if "epoch" in name.lower() else "steps"
    if found.verdict == "unknown":
        return "It cannot be said when the training data is fit."
    tried = f"from {found.rates[0].learning_rate:g} to {found.rates[-1].learning_rate:g}"
    if best is None:
        return f"Every constant learning rate {tried} diverged: see `tunewright probe stability`."
    at = f"learning rate {best.learning_rate:g}"
    if best.steps is not None:
        fits = (
            f"A constant {at} fits the training data first ({wanted}), after "
            f"{best.steps:g} {unit}, to within {best.spacing:.3g}"
        )
        if found.verdict == "at_edge":
            return (
                f"{fits}; but it stands at the {found.side} end of the sweep, so another may be "
                f"faster: sweep around {best.learning_rate:g}."
            )
        return f"{fits}."
    reached = f"{found.criterion.metric} {best.value:.4g} at {at}"
    if found.verdict == "plateau":
        return (
            f"The training data is never fit: after {found.length} {unit} the best is {reached}, "
            f"and the second half of training gains nothing. Say what is good enough "
            f"(at_most=, --at-most), or train a model that can fit it."
        )
    none = f"no constant learning rate {tried} fits the training data within {found.length} {unit}"
    if found.verdict == "at_edge":
        return (
            f"{none[0].upper()}{none[1:]}, and the best stands at the {found.side} end of the "
            f"sweep ({reached}): sweep around {best.learning_rate:g}."
        )
    return (
        f"Tuning is compute-bound here: {none} ({reached}). Choose {name} by what you can afford, "
        "and tune in shorter rounds of about a tenth of it."
    )


def _proposal(plan: Plan, name: str, proposed: int, fit_steps: int, factor: float) -> str:
    allowed = f", {factor:g} times as many for gradient noise to come" if factor > 1 else ""
    text = f" Begin with {name} = {proposed}{allowed}."
    if factor == 1:
        low, high = (round_up(times * fit_steps) for times in MORE_NOISE)
        what = " and ".join(plan.returns) or "augmentation or regularisation"
        text += f" With {what} it takes more: {low} to {high}."
    return text
