"""Which learning rate fits the training data first? The sweep that finds it, and knows when not.

Seven constant learning rates, one per half decade. If the fastest is at an end of the grid, the
grid grows there; if none fits, training gets twice as long. What trains is passed in, so the same
rule works on a recorded sweep.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from tunewright.design.names import Meaning
from tunewright.design.ranges import Value, is_number
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.starting_point import best_known, configuration, features_off
from tunewright.store.curves import Curve
from tunewright.store.trial import Trial

# ---- what a sweep of constant learning rates trains, fixed before any compute, or what it lacks


_EPOCHS = 20  # of the first training length, where the length of an epoch is known


@dataclass(frozen=True)
class Plan:
    """All that the sweep needs to know, fixed before any compute."""

    learning_rate: float  # the middle of the sweep
    length: int  # max_train_steps of the first trainings
    fixed: Mapping[str, Value]  # everything else, with what is switched off
    off: Mapping[str, Value]  # what is switched off
    caveats: tuple[Message, ...]
    returns: tuple[str, ...] = ()  # of what is off: adds gradient noise when it comes back


def plan_sweep(
    workload: Workload,
    learning_rate: float | None,
    max_train_steps: int | None,
    fixed: dict[str, Value],
    trial: Trial | None = None,
) -> tuple[Plan | None, list[Message]]:
    """What to train, or what is missing for it."""
    meaning = workload.meaning
    rate_name, steps_name = meaning.name("learning_rate"), meaning.name("max_train_steps")
    known = best_known(workload) if trial is None else trial
    base = configuration(workload, known, fixed)
    off, missing = features_off(workload, base)
    off = {name: value for name, value in off.items() if name not in fixed}
    accepts = workload.accepts
    for name, meant in ((rate_name, "learning_rate"), (steps_name, "max_train_steps")):
        if name not in accepts.names and not accepts.takes_anything:
            facts = {"meaning": meant, "takes": sorted(accepts.names)}
            missing.append(Message("probe.train_steps.no_name", facts))
    centre = learning_rate if learning_rate is not None else base.get(rate_name)
    if not is_number(centre) or centre <= 0:
        missing.append(Message("probe.train_steps.no_rate"))
    elif learning_rate is None:  # one of few, so that a slightly better trial changes nothing
        centre = 10.0 ** (round(2 * math.log10(centre)) / 2)
    length = max_train_steps or _length(workload, base.get(steps_name))
    if length is None:
        missing.append(Message("probe.train_steps.no_length"))
    rest = {n: v for n, v in base.items() if n not in (rate_name, steps_name)} | off
    for name in sorted(accepts.required - rest.keys() - {rate_name, steps_name}):
        missing.append(Message("probe.train_steps.no_value", {"name": name}))
    if missing or length is None:
        return None, missing
    quiet = (meaning.name("schedule"), meaning.name("warmup_steps"))
    returns = tuple(name for name in off if name not in quiet)
    caveats = _caveats(workload, rest, off, fixed)
    return Plan(float(centre), length, rest, off, caveats, returns), []  # type: ignore[arg-type]


def _length(workload: Workload, known: Value | None) -> int | None:
    """The first length: 20 epochs where an epoch is known, else as the program has it."""
    if "epoch" in workload.meaning.name("max_train_steps").lower():
        return _EPOCHS
    per_epoch = workload.meaning.number("steps_per_epoch")
    if per_epoch is not None:
        return max(2, math.ceil(_EPOCHS * per_epoch))
    return int(known) if is_number(known) and known >= 2 else None


def _caveats(
    workload: Workload,
    rest: Mapping[str, Value],
    off: Mapping[str, Value],
    fixed: Mapping[str, Value],
) -> tuple[Message, ...]:
    caveats = []
    if workload.meaning.name("schedule") not in rest:
        caveats.append(Message("probe.no_schedule"))
    left = {name: value for name, value in rest.items() if name not in off}
    if left:
        caveats.append(Message("probe.holds_for", {"settings": dict(sorted(left.items()))}))
    kept = [name for name in features_off(workload, rest)[0] if name in fixed]
    if kept:
        caveats.append(Message("probe.stayed_on", {"names": kept}))
    return tuple(caveats)


# ---- when does a training run fit its training data perfectly? At the first evaluation that
# shows it.
#
# Classification: the training error is at most 0.1 % at two evaluations in a row. Anything else:
# the training loss is at most a threshold, or, without one, within 1 % of its floor.


ERROR = 0.001  # of all training examples
_IN_A_ROW = 2  # evaluations: a single one may be noise
_WITHIN = 0.01  # of the way from the first value down to the floor
_WINDOWS = 100  # a curve logged more often than twice this is averaged: it is of single batches
_TAIL = 0.1  # of a training: its level is the median there
_TRAINING = {"train", "training"}
_ERRORS = {"error", "err", "errors"}
_ACCURACIES = {"accuracy", "acc", "top1", "correct"}
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Criterion:
    """What counts as a perfect fit: the metric, and how small its distance from `zero` must get."""

    metric: str
    threshold: float | None  # of the distance; None: 1 % of the way to a floor not yet known
    zero: float = 0.0  # the value of a flawless fit
    falls: bool = True  # False: an accuracy, which rises to `zero`

    @property
    def message(self) -> Message:
        """The criterion as a code with its facts: `train_error at most 0.001`."""
        limit = None
        if self.threshold is not None:
            limit = self.zero + self.threshold if self.falls else self.zero - self.threshold
        facts = {"metric": self.metric, "limit": limit, "falls": self.falls}
        return Message("probe.criterion", facts)

    def distance(self, values: Floats) -> Floats:
        """How far values are from a flawless fit."""
        return values - self.zero if self.falls else self.zero - values


@dataclass(frozen=True)
class Fit:
    """Where one curve first fits, in the unit of its steps."""

    steps: float  # the first evaluation that meets the criterion, the next one agreeing
    crossing: float  # between that and the evaluation before, log-linear
    spacing: float  # between those two: what the step is known to


def criterion(
    logged: Mapping[str, Sequence[Curve]],
    meaning: Meaning,
    metric: str | None = None,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Criterion | None:
    """The criterion for what was logged; None when nothing measures how well training data is fit.

    An error or accuracy of the training data counts before the training loss. `metric`, `at_most`
    and `at_least` are the user's own words and win.
    """
    chosen = metric or _of_training(logged, meaning)
    if chosen is None or chosen not in logged:
        return None
    if at_least is not None:
        return Criterion(chosen, 0.0, at_least, falls=False)
    if at_most is not None:
        return Criterion(chosen, max(at_most, 0.0), min(at_most, 0.0))
    words = _words(chosen)
    highest = max(float(c.values[np.isfinite(c.values)].max(initial=0.0)) for c in logged[chosen])
    whole = 100.0 if highest > 1.0 else 1.0  # in percent, or as a share
    if words & _ERRORS:
        return Criterion(chosen, ERROR * whole)
    if words & _ACCURACIES:
        return Criterion(chosen, ERROR * whole, whole, falls=False)
    return Criterion(chosen, None)


def _of_training(logged: Collection[str], meaning: Meaning) -> str | None:
    for kind in (_ERRORS, _ACCURACIES):
        for name in sorted(logged):
            words = _words(name)
            if words & _TRAINING and words & kind:
                return name
    loss = meaning.name("train_loss")
    return loss if loss in logged else None


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", name.lower()))


def readable(curve: Curve) -> Curve:
    """The curve without gaps; one of single batches as the means of a hundred windows."""
    finite = np.isfinite(curve.values)
    steps, values = curve.steps[finite], curve.values[finite]
    if len(steps) <= 2 * _WINDOWS:
        return Curve(steps, values)
    edges = np.linspace(0, len(steps), _WINDOWS + 1).astype(int)
    means = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
    return Curve(steps[edges[1:] - 1], means)


def level(curve: Curve, until: float = 1.0) -> float:
    """The median over the last tenth of a readable curve, or of its first part up to `until`."""
    count = max(1, round(until * len(curve)))
    tail = max(1, math.ceil(_TAIL * count))
    return float(np.median(curve.values[max(0, count - tail) : count]))


def still_falling(curve: Curve, wanted: Criterion, start: float | None = None) -> bool:
    """Whether the second half of a training gained more than 1 % of the way that lay behind it."""
    middle, end = level(curve, 0.5), level(curve)
    gained = middle - end if wanted.falls else end - middle
    first = float(curve.values[0]) if start is None else start
    return gained > _WITHIN * abs(first - end)


def with_floor(wanted: Criterion, curves: Sequence[Curve]) -> Criterion:
    """The criterion with the floor at which the lowest of these curves has levelled off, if it has.

    `curves` are in the order of their learning rates: the first value of the smallest is where the
    way down begins, as it has moved least. Relative to the floor itself, 1 % would mean nothing for
    a loss that falls to 0 or below. A curve as low from its first value as ever after shows no
    floor: it may be one that never learned.
    """
    if wanted.threshold is not None or not curves:
        return wanted
    lowest = min(curves, key=level)
    start, floor = float(curves[0].values[0]), level(lowest)
    known = Criterion(wanted.metric, _WITHIN * (start - floor), floor)
    if lowest.values[0] <= floor + _WITHIN * (start - floor):
        return wanted
    return wanted if still_falling(lowest, wanted, start) else known


def first_fit(curve: Curve, wanted: Criterion) -> Fit | None:
    """The first evaluation of a readable curve that fits, the next one agreeing; None: none does.

    >>> curve = Curve(np.arange(10, 60, 10), np.array([0.1, 0.01, 0.0001, 0.0, 0.0]))
    >>> first_fit(curve, Criterion("train_error", 0.001))
    Fit(steps=30.0, crossing=25.0, spacing=10.0)
    """
    if wanted.threshold is None:
        return None
    fits = wanted.distance(curve.values) <= wanted.threshold
    lasting = fits[: len(fits) - _IN_A_ROW + 1].copy()
    for later in range(1, _IN_A_ROW):
        lasting &= fits[later : len(fits) - _IN_A_ROW + 1 + later]
    if not lasting.any():
        return None
    at = int(np.argmax(lasting))
    step = float(curve.steps[at])
    if at == 0:
        return Fit(step, step, step)
    before = float(curve.steps[at - 1])
    far, near = wanted.distance(curve.values[at - 1 : at + 1]).tolist()
    share = _share(far, near, wanted.threshold)
    return Fit(step, before + share * (step - before), step - before)


def _share(before: float, after: float, threshold: float) -> float:
    """How much of the way between two evaluations lies before the threshold."""
    if before <= threshold:  # a lone fit that the next evaluation did not confirm
        return 1.0
    if threshold > 0:
        # an error of no example at all has no logarithm: it counts as a tenth of the threshold
        after = max(after, threshold / 10)
        return math.log(before / threshold) / math.log(before / after)
    return (before - threshold) / (before - after)


# ---- rate sweep


_POINTS = 7
_PER_DECADE = 2
_MORE = _PER_DECADE  # learning rates that one extension adds
_EXTENSIONS = 3
_DOUBLINGS = 3
_FINE = 0.02  # of the steps found: the resolution they should be known to
_ROOM = 1.5  # times the steps found: the length of the closer look

Verdict = Literal["fits", "at_edge", "compute_bound", "plateau", "diverges", "unknown"]
Side = Literal["", "low", "high"]


@dataclass(frozen=True)
class Measured:
    """How one learning rate did: what it logged, unless it is infeasible."""

    curves: Mapping[str, Curve] | None  # None: infeasible
    unit: float = 1.0  # of max_train_steps per logged step: 1/390 when it counts epochs


@dataclass(frozen=True)
class SweptRate:
    """One learning rate of the sweep, judged."""

    learning_rate: float
    outcome: Literal["fits", "does not fit", "infeasible"]
    steps: float | None = None  # the first evaluation of a perfect fit
    crossing: float | None = None  # interpolated between evaluations
    spacing: float | None = None  # of the evaluations there
    value: float | None = None  # the level of the metric at the end


@dataclass(frozen=True)
class Sweep:
    """What a whole sweep found."""

    verdict: Verdict
    criterion: Criterion
    rates: tuple[SweptRate, ...]  # by learning rate
    length: int  # the last training length of the sweep
    best: SweptRate | None = None
    side: Side = ""  # the end of the grid at which the best stands
    why: Message | None = None  # nothing can be judged


Train = Callable[[Sequence[float], int], Mapping[float, Measured]]
Judge = Callable[[Mapping[float, Measured]], Criterion | Message]


def grid(centre: float, points: int = _POINTS) -> tuple[float, ...]:
    """Learning rates around one, one per half decade.

    >>> grid(0.01)
    (0.0003162, 0.001, 0.003162, 0.01, 0.03162, 0.1, 0.3162)
    """
    half = points // 2
    return tuple(
        _four_digits(centre * 10 ** (n / _PER_DECADE)) for n in range(-half, points - half)
    )


def most_trained(rates: int, length: int) -> tuple[tuple[int, int], ...]:
    """The most trainings that a sweep may add to its first grid: how many, for how many steps.

    >>> most_trained(7, 100)
    ((6, 100), (13, 200), (13, 400), (13, 800), (13, 533))
    """
    every = rates + _EXTENSIONS * _MORE
    doubled = [(every, length * 2**n) for n in range(1, _DOUBLINGS + 1)]
    longest = length * 2**_DOUBLINGS
    return (_EXTENSIONS * _MORE, length), *doubled, (every, int(longest / _ROOM))


def _four_digits(rate: float) -> float:
    return float(f"{rate:.4g}")


def beyond(rates: Iterable[float], side: Side) -> tuple[float, ...]:
    """The learning rates that an extension adds at one end.

    >>> beyond([0.01, 0.03162, 0.1], "high"), beyond([0.01, 0.03162, 0.1], "low")
    ((0.3162, 1.0), (0.001, 0.003162))
    """
    ordered = sorted(rates)
    # by whole decades, so that the rounding of one does not carry over to the next
    if side == "high":
        return tuple(_four_digits(10 * rate) for rate in ordered[-_MORE:])
    return tuple(_four_digits(rate / 10) for rate in ordered[:_MORE])


def sweep(train: Train, wanted: Judge, rates: Sequence[float], length: int) -> Sweep:
    """Sweep until the fastest learning rate stands inside the grid and fits, or nothing helps.

    `train(rates, length)` measures learning rates at a length; `wanted(measured)` gives
    what a perfect fit is, given what was measured, or why that is not known. A rate that
    diverged is not tried again at twice the length: it would diverge again.
    """
    measured: dict[float, Measured] = {}
    todo, extensions, doublings, was_flat = tuple(rates), 0, 0, False
    while True:
        measured |= train(todo, length)
        target = wanted(measured)
        if isinstance(target, Message):
            return Sweep("unknown", Criterion("", None), (), length, why=target)
        criterion = criterion_with_floor(measured, target)
        swept = judge_rates(measured, criterion)
        best = fastest(swept, criterion)
        side = side_of(best, swept)
        if side and extensions < _EXTENSIONS:
            extensions += 1
            todo = beyond(measured, side)
            continue
        ended = partial(
            Sweep, criterion=criterion, rates=swept, length=length, best=best, side=side
        )
        if best is None:
            return ended("diverges")
        if best.outcome == "fits":
            return ended("at_edge" if side else "fits")
        curve = _curves(measured, criterion)[best.learning_rate]
        flat = not still_falling(curve, criterion)
        verdict: Verdict = "plateau" if flat and was_flat else "compute_bound"
        if verdict == "plateau" or doublings == _DOUBLINGS:
            return ended("at_edge" if side else verdict)
        doublings, was_flat = doublings + 1, flat
        length *= 2
        todo = tuple(rate for rate, m in measured.items() if m.curves is not None)
        measured = {rate: m for rate, m in measured.items() if m.curves is None}


def closer(train: Train, swept: Sweep) -> Sweep:
    """The same with its fastest learning rates and their neighbours trained for just long enough.

    Evaluations come at shares of the length, so that a shorter training knows its steps better.
    Fastest are all that the sweep could not separate. Without a gain, or without a fit there, the
    sweep is returned as it is.
    """
    best = swept.best
    if swept.verdict != "fits" or best is None or best.steps is None or best.spacing is None:
        return swept
    length = math.ceil(_ROOM * best.steps)
    if best.spacing <= _FINE * best.steps or _ROOM * length > swept.length:
        return swept
    usable = [rate for rate in swept.rates if rate.outcome != "infeasible"]
    near = [
        n
        for n, rate in enumerate(usable)
        if rate.steps is not None and rate.steps <= best.steps + 2 * best.spacing
    ]
    chosen = usable[max(0, near[0] - 1) : near[-1] + 2]
    measured = train([rate.learning_rate for rate in chosen], length)
    again = {rate.learning_rate: rate for rate in judge_rates(measured, swept.criterion)}
    now = fastest(again.values(), swept.criterion)
    if now is None or now.outcome != "fits" or (now.spacing or 0.0) >= best.spacing:
        return swept
    # a neighbour that does not fit in the shorter training did so later in the longer one
    better = {value: rate for value, rate in again.items() if rate.outcome == "fits"}
    rates = tuple(better.get(rate.learning_rate, rate) for rate in swept.rates)
    side = side_of(now, rates)
    verdict: Verdict = "at_edge" if side else "fits"
    return Sweep(verdict, swept.criterion, rates, swept.length, best=now, side=side)


def criterion_with_floor(measured: Mapping[float, Measured], wanted: Criterion) -> Criterion:
    """The criterion with its floor, where the curves have levelled off at one."""
    curves = _curves(measured, wanted)
    return with_floor(wanted, [curves[rate] for rate in sorted(curves)])


def judge_rates(measured: Mapping[float, Measured], wanted: Criterion) -> tuple[SweptRate, ...]:
    """Every learning rate in order, with when it first fits, in the unit of max_train_steps."""
    curves, rates = _curves(measured, wanted), []
    for rate in sorted(measured):
        if rate not in curves:
            rates.append(SweptRate(rate, "infeasible"))
            continue
        fit, value = first_fit(curves[rate], wanted), level(curves[rate])
        if fit is None:
            rates.append(SweptRate(rate, "does not fit", value=value))
        else:
            unit = measured[rate].unit
            at = (unit * fit.steps, unit * fit.crossing, unit * fit.spacing)
            rates.append(SweptRate(rate, "fits", *at, value))
    return tuple(rates)


def _curves(measured: Mapping[float, Measured], wanted: Criterion) -> dict[float, Curve]:
    read = {
        rate: readable(m.curves[wanted.metric])
        for rate, m in measured.items()
        if m.curves is not None and wanted.metric in m.curves
    }
    return {rate: curve for rate, curve in read.items() if len(curve)}


def fastest(rates: Iterable[SweptRate], wanted: Criterion) -> SweptRate | None:
    """The rate that fits first; if none fits, the one that came nearest; None: all diverged.

    Of rates that cannot be separated, as all fit at the first evaluation, the one in the middle.
    """
    usable = [rate for rate in rates if rate.outcome != "infeasible"]
    fits = [rate for rate in usable if rate.crossing is not None]
    if fits:
        first = min(rate.crossing for rate in fits if rate.crossing is not None)
        alike = [rate for rate in fits if rate.crossing == first]
        return alike[len(alike) // 2]
    sign = 1.0 if wanted.falls else -1.0
    return min(usable, key=lambda rate: sign * (rate.value or 0.0), default=None)


def side_of(best: SweptRate | None, rates: Sequence[SweptRate]) -> Side:
    """The end of the grid at which the best stands; all diverged: lower rates are needed."""
    if best is None or best.learning_rate == rates[0].learning_rate:
        return "low"
    return "high" if best.learning_rate == rates[-1].learning_rate else ""
