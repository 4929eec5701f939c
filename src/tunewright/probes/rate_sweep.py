"""Which learning rate fits the training data first? The sweep that finds it, and knows when not.

Seven constant learning rates, one per half decade. If the fastest is at an end of the grid, the
grid grows there; if none fits, training gets twice as long. What trains is passed in, so the same
rule works on a recorded sweep.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tunewright.messages import Message
from tunewright.probes.perfect_fit import (
    Criterion,
    first_fit,
    level,
    readable,
    still_falling,
    with_floor,
)
from tunewright.store.curves import Curve

POINTS = 7
PER_DECADE = 2
MORE = PER_DECADE  # learning rates that one extension adds
EXTENSIONS = 3
DOUBLINGS = 3
FINE = 0.02  # of the steps found: the resolution they should be known to
ROOM = 1.5  # times the steps found: the length of the closer look

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


def grid(centre: float, points: int = POINTS) -> tuple[float, ...]:
    """Learning rates around one, one per half decade.

    >>> grid(0.01)
    (0.0003162, 0.001, 0.003162, 0.01, 0.03162, 0.1, 0.3162)
    """
    half = points // 2
    return tuple(_rounded(centre * 10 ** (n / PER_DECADE)) for n in range(-half, points - half))


def _rounded(rate: float) -> float:
    return float(f"{rate:.4g}")


def beyond(rates: Iterable[float], side: Side) -> tuple[float, ...]:
    """The learning rates that an extension adds at one end.

    >>> beyond([0.01, 0.03162, 0.1], "high"), beyond([0.01, 0.03162, 0.1], "low")
    ((0.3162, 1.0), (0.001, 0.003162))
    """
    ordered = sorted(rates)
    # by whole decades, so that the rounding of one does not carry over to the next
    if side == "high":
        return tuple(_rounded(10 * rate) for rate in ordered[-MORE:])
    return tuple(_rounded(rate / 10) for rate in ordered[:MORE])


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
        said = wanted(measured)
        if isinstance(said, Message):
            return Sweep("unknown", Criterion("", None), (), length, why=said)
        criterion = settled(measured, said)
        found = judged(measured, criterion)
        best = fastest(found, criterion)
        side = side_of(best, found)
        if side and extensions < EXTENSIONS:
            extensions += 1
            todo = beyond(measured, side)
            continue
        if best is None:
            return Sweep("diverges", criterion, found, length, side=side)
        if best.outcome == "fits":
            return Sweep(
                "at_edge" if side else "fits", criterion, found, length, best=best, side=side
            )
        curve = _curves(measured, criterion)[best.learning_rate]
        flat = not still_falling(curve, criterion)
        ended: Verdict = "plateau" if flat and was_flat else "compute_bound"
        if ended == "plateau" or doublings == DOUBLINGS:
            return Sweep(
                "at_edge" if side else ended, criterion, found, length, best=best, side=side
            )
        doublings, was_flat = doublings + 1, flat
        length *= 2
        todo = tuple(rate for rate, one in measured.items() if one.curves is not None)
        measured = {rate: one for rate, one in measured.items() if one.curves is None}


def closer(train: Train, swept: Sweep) -> Sweep:
    """The same with its fastest learning rates and their neighbours trained for just long enough.

    Evaluations come at shares of the length, so that a shorter training knows its steps better.
    Fastest are all that the sweep could not separate. Without a gain, or without a fit there, the
    sweep is returned as it is.
    """
    best = swept.best
    if swept.verdict != "fits" or best is None or best.steps is None or best.spacing is None:
        return swept
    length = math.ceil(ROOM * best.steps)
    if best.spacing <= FINE * best.steps or ROOM * length > swept.length:
        return swept
    usable = [one for one in swept.rates if one.outcome != "infeasible"]
    near = [
        n
        for n, one in enumerate(usable)
        if one.steps is not None and one.steps <= best.steps + 2 * best.spacing
    ]
    chosen = usable[max(0, near[0] - 1) : near[-1] + 2]
    measured = train([one.learning_rate for one in chosen], length)
    again = {one.learning_rate: one for one in judged(measured, swept.criterion)}
    now = fastest(again.values(), swept.criterion)
    if now is None or now.outcome != "fits" or (now.spacing or 0.0) >= best.spacing:
        return swept
    # a neighbour that does not fit in the shorter training did so later in the longer one
    better = {rate: one for rate, one in again.items() if one.outcome == "fits"}
    rates = tuple(better.get(one.learning_rate, one) for one in swept.rates)
    side = side_of(now, rates)
    verdict: Verdict = "at_edge" if side else "fits"
    return Sweep(verdict, swept.criterion, rates, swept.length, best=now, side=side)


def settled(measured: Mapping[float, Measured], wanted: Criterion) -> Criterion:
    """The criterion with its floor, where the curves have levelled off at one."""
    curves = _curves(measured, wanted)
    return with_floor(wanted, [curves[rate] for rate in sorted(curves)])


def judged(measured: Mapping[float, Measured], wanted: Criterion) -> tuple[SweptRate, ...]:
    """Every learning rate in order, with when it first fits, in the unit of max_train_steps."""
    curves, found = _curves(measured, wanted), []
    for rate in sorted(measured):
        if rate not in curves:
            found.append(SweptRate(rate, "infeasible"))
            continue
        fit, value = first_fit(curves[rate], wanted), level(curves[rate])
        if fit is None:
            found.append(SweptRate(rate, "does not fit", value=value))
        else:
            unit = measured[rate].unit
            at = (unit * fit.steps, unit * fit.crossing, unit * fit.spacing)
            found.append(SweptRate(rate, "fits", *at, value))
    return tuple(found)


def _curves(measured: Mapping[float, Measured], wanted: Criterion) -> dict[float, Curve]:
    read = {
        rate: readable(one.curves[wanted.metric])
        for rate, one in measured.items()
        if one.curves is not None and wanted.metric in one.curves
    }
    return {rate: curve for rate, curve in read.items() if len(curve)}


def fastest(found: Iterable[SweptRate], wanted: Criterion) -> SweptRate | None:
    """The rate that fits first; if none fits, the one that came nearest; None: all diverged.

    Of rates that cannot be separated, as all fit at the first evaluation, the one in the middle.
    """
    usable = [one for one in found if one.outcome != "infeasible"]
    fits = [one for one in usable if one.crossing is not None]
    if fits:
        first = min(one.crossing for one in fits if one.crossing is not None)
        alike = [one for one in fits if one.crossing == first]
        return alike[len(alike) // 2]
    sign = 1.0 if wanted.falls else -1.0
    return min(usable, key=lambda one: sign * (one.value or 0.0), default=None)


def side_of(best: SweptRate | None, found: Sequence[SweptRate]) -> Side:
    """The end of the grid at which the best stands; all diverged: lower rates are needed."""
    if best is None or best.learning_rate == found[0].learning_rate:
        return "low"
    return "high" if best.learning_rate == found[-1].learning_rate else ""
