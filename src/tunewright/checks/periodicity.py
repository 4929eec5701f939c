"""Do the evaluations go up and down with a period? Then the data order shows through."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tunewright.actions import Action, Advise, Declare
from tunewright.checks._better_half import Judged
from tunewright.checks._curve_question import (
    Answer,
    CurveEvidence,
    CurveQuestion,
    Reading,
    Statement,
    TrialFacts,
    ask,
    objective_metric,
)
from tunewright.checks.logged_rate import learning_rates, steps_of
from tunewright.checks.spacing import SpacedCurves
from tunewright.finding import Finding
from tunewright.stats.noise import ROBUST, Floats
from tunewright.store.results import Results

_FEWEST = 40  # evaluations
_CHANCE = 0.002  # flagged below this


@dataclass(frozen=True, eq=False)
class Period:
    """The strongest cycle of each curve."""

    length: Floats  # in evaluations
    chance: Floats  # of one so strong without any cycle
    flagged: npt.NDArray[np.bool_]


def periods(values: Floats) -> Period:
    """Search the last 75 % of each curve for a cycle of any length (Fisher's g)."""
    cycles, shares = _spectrum(values)
    chance = fisher_chance(shares.max(axis=1), len(cycles))
    return Period(1 / cycles[shares.argmax(axis=1)], chance, chance < _CHANCE)


def periods_of_epoch(values: Floats, epoch: float) -> Period | None:
    """Search each curve for a cycle of one epoch (so many evaluations), or a simple part of it.

    Knowing where to look finds weaker cycles. None when no such cycle stands out from a trend.
    """
    cycles, shares = _spectrum(values)
    bin_width = cycles[1] - cycles[0]
    near = np.zeros(len(cycles), dtype=bool)
    for frequency in _epoch_frequencies(epoch):
        near |= np.abs(cycles - frequency) < bin_width
    if not near.any():
        return None
    shares, at = shares[:, near], cycles[near]
    single = (1 - shares.max(axis=1)) ** (len(cycles) - 1)
    chance = 1 - (1 - single) ** int(near.sum())
    return Period(1 / at[shares.argmax(axis=1)], chance, chance < _CHANCE)


def _epoch_frequencies(epoch: float) -> Floats:
    """Cycles per evaluation that an epoch of so many evaluations, halves and thirds of it show.

    An epoch shorter than two evaluations shows as a slower cycle, like a wheel on film.

    >>> _epoch_frequencies(10.0), _epoch_frequencies(0.8)
    (array([0.1, 0.2, 0.3]), array([0.25, 0.5 , 0.25]))
    """
    frequency = np.arange(1, 4) / epoch % 1.0
    return np.asarray(np.minimum(frequency, 1.0 - frequency))


def _spectrum(values: Floats) -> tuple[Floats, Floats]:
    """Cycles per evaluation, and the share of each in a curve's movement, AR(1) noise evened out.

    First differences remove the trend; dividing by the spectrum that differences of AR(1) noise
    have makes all frequencies alike. The slowest cycles are left out: what remains of a trend
    would pass for one.
    """
    moves = np.diff(values[:, values.shape[1] // 4 :], axis=1)
    moves = moves - np.median(moves, axis=1, keepdims=True)
    spread = ROBUST * np.median(np.abs(moves), axis=1, keepdims=True)
    # a curve that hardly ever moves has no period; its rare moves would look like one
    moving = spread > 1e-9 * np.abs(values).max(axis=1, keepdims=True)
    moves = np.where(np.abs(moves) > 4 * spread, 0.0, np.clip(moves, -3 * spread, 3 * spread))
    count = moves.shape[1]
    time = np.arange(count) / count
    trend, _ = np.linalg.qr(np.stack([np.ones(count), time, np.log(time + 1 / 3)], axis=1))
    moves = moves - (moves @ trend) @ trend.T
    squares = (moves**2).sum(axis=1) + 1e-300
    lag_one = (moves[:, 1:] * moves[:, :-1]).sum(axis=1) / squares
    correlation = np.clip(1 + 2 * lag_one + 3 / count, -0.5, 0.9)[:, None]
    cycles = np.arange(_fewest_cycles(count), (count - 1) // 2 + 1)
    cosine = np.cos(2 * np.pi * cycles[None] / count)
    expected = (2 - 2 * cosine) / (1 + correlation**2 - 2 * correlation * cosine)
    power = np.abs(np.fft.rfft(moves, axis=1)[:, cycles]) ** 2 / expected
    shares = power / (power.sum(axis=1, keepdims=True) + 1e-300)
    return cycles / count, np.where(moving, shares, 0.0)


def _fewest_cycles(count: int) -> int:
    """How often a period must come round within so many differences, not to be a trend."""
    return 4 if count < 60 else 8 if count < 200 else max(12, count // 25 + 1)


def fisher_chance(share: Floats, ordinates: int) -> Floats:
    """Chance that the largest of so many equal spectral ordinates has at least this share.

    The first term of Fisher's sum: never too small, and exact to a part in a thousand where the
    chance is below 0.002.

    >>> fisher_chance(np.array([0.1, 0.3, 0.6]), 20).round(4)
    array([1.    , 0.0228, 0.    ])
    """
    return np.asarray(np.minimum(1.0, ordinates * (1 - share) ** (ordinates - 1)))


@dataclass(frozen=True)
class _Cycle(TrialFacts):
    """The strongest cycle of one trial."""

    period_steps: float
    chance: float  # of one so strong without any cycle
    of_epoch: bool  # that of an epoch, or a simple part of it


@dataclass(frozen=True, kw_only=True)
class _PeriodicityEvidence(CurveEvidence):
    """The period of the objective, where it has one."""

    period_steps: float | None = None  # the median of the trials that carry the verdict
    of_epoch: bool = False  # in most of them


def periodicity(results: Results) -> list[Finding]:
    """Ask each study whether the objective goes up and down with a period."""
    question = CurveQuestion(
        "periodicity",
        objective_metric(results),
        read=_readings,
        answer=_answer,
        fewest=_FEWEST,
    )
    return ask(results, question)


def _readings(results: Results, _: Judged, table: SpacedCurves) -> list[Reading[_Cycle]]:
    """Read the longest piece of each curve without a step of the learning rate in it."""
    pieces: dict[tuple[int, int], list[int]] = {}
    for row, trial in enumerate(table.trials):
        rates = learning_rates(trial, results.meaning)
        cuts = [] if rates is None else np.searchsorted(table.steps[row], steps_of(rates)).tolist()
        edges = [0, *cuts, table.values.shape[1]]
        piece = max(pairwise(edges), key=lambda edge: edge[1] - edge[0])
        if piece[1] - piece[0] >= _FEWEST:
            pieces.setdefault(piece, []).append(row)
    epoch_steps = results.meaning.number("steps_per_epoch")
    readings = []
    for (first, last), rows in pieces.items():
        values, steps = table.values[rows, first:last], table.steps[rows, first:last]
        gap = float(np.median(np.diff(steps, axis=1)))
        known = None if epoch_steps is None else periods_of_epoch(values, epoch_steps / gap)
        any_period = periods(values)
        for at, row in enumerate(rows):
            of_epoch = known is not None and bool(known.flagged[at])
            period = known if known is not None and of_epoch else any_period
            facts = _Cycle(
                trial=table.trials[row].number,
                period_steps=float(period.length[at] * gap),
                chance=float(period.chance[at]),
                of_epoch=of_epoch,
            )
            z = -float(np.log10(max(period.chance[at], 1e-30)))
            flagged = of_epoch or bool(any_period.flagged[at])
            readings.append(Reading(table.trials[row], z, flagged, last - first, facts))
    return readings


def _answer(
    results: Results, _: Judged, statement: Statement[_Cycle], seen: CurveEvidence
) -> Answer:
    if not statement.because:
        return Answer("ok", _PeriodicityEvidence(**seen.fields))
    cycles = [reading.facts for reading in statement.speakers]
    evidence = _PeriodicityEvidence(
        **seen.fields,
        period_steps=float(np.median([facts.period_steps for facts in cycles])),
        of_epoch=2 * sum(facts.of_epoch for facts in cycles) > len(cycles),
    )
    actions: tuple[Action, ...] = (Advise("shuffle_every_epoch"), Advise("keep_data_apart"))
    if results.meaning.number("steps_per_epoch") is None:
        actions = (*actions, Declare("steps_per_epoch"))
    return Answer(statement.verdict, evidence, actions)
