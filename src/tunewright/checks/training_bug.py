"""Does the training loss rise? In a sound pipeline it should not: a bug, or instability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tunewright.actions import Advise
from tunewright.checks._better_half import Judged
from tunewright.checks._curve_question import (
    IMMATERIAL,
    Answer,
    CurveEvidence,
    CurveQuestion,
    Reading,
    Statement,
    TrialFacts,
    ask,
    look_at,
    training_metric,
)
from tunewright.checks.logged_rate import learning_rates, rose
from tunewright.checks.spacing import SpacedCurves
from tunewright.finding import Finding
from tunewright.stats.noise import Floats, NoisyCurves, noisy_curves
from tunewright.store.results import Results

_BLOCKS = 10


@dataclass(frozen=True, eq=False)
class Rise:
    """The clearest lasting rise of each curve, between blocks of a tenth of training."""

    start: npt.NDArray[np.int64]  # the low block
    end: npt.NDArray[np.int64]  # the second of the two high blocks
    rise: Floats
    z: Floats  # the rise in standard errors
    lasting: npt.NDArray[np.bool_]  # whether the last block is still up
    matters: npt.NDArray[np.bool_]
    flagged: npt.NDArray[np.bool_]  # by the rule for one curve


def rising(curves: NoisyCurves) -> Rise:
    """Look for two successive blocks above an earlier one: a single bad block is no trend."""
    width = curves.evaluations // _BLOCKS
    skipped = curves.evaluations - _BLOCKS * width
    rows = np.arange(len(curves.values))
    blocks = curves.values[:, skipped:].reshape(-1, _BLOCKS, width).mean(axis=2)
    factors = np.maximum(1.0, curves.local_factor[:, skipped + width // 2 :: width][:, :_BLOCKS])
    error = curves.mean_sd(width)
    low = np.zeros(len(rows), dtype=np.int64)
    start, end = low.copy(), low.copy()
    rise, z = np.zeros(len(rows)), np.full(len(rows), -np.inf)
    for later in range(2, _BLOCKS):
        low = np.where(blocks[:, later - 2] < blocks[rows, low], later - 2, low)
        both = np.minimum(blocks[:, later], blocks[:, later - 1])
        factor = np.minimum(factors[:, later], factors[:, later - 1])
        rise_here = both - blocks[rows, low]
        z_here = rise_here / (error * np.sqrt(factors[rows, low] ** 2 + factor**2))
        clearer = z_here > z
        start, end = np.where(clearer, low, start), np.where(clearer, later, end)
        rise, z = np.where(clearer, rise_here, rise), np.where(clearer, z_here, z)
    lasting = blocks[:, -1] - blocks[rows, start] > 0.5 * rise
    matters = (rise > 0.02 * curves.total) & (rise > 0.005 * np.abs(curves.best))
    flagged = matters & (z > 2.5 + 50 / curves.evaluations)
    return Rise(
        start=start, end=end, rise=rise, z=z, lasting=lasting, matters=matters, flagged=flagged
    )


@dataclass(frozen=True)
class Risen(TrialFacts):
    """The clearest rise of one training loss."""

    z: float
    rise: float
    improvement: float  # of the whole curve
    from_step: int
    to_step: int
    lasting: bool
    learning_rate_rose: bool  # over the same steps


@dataclass(frozen=True, kw_only=True)
class _TrainingBugEvidence(CurveEvidence):
    """Which training losses rise and stay up."""

    shown: Risen | None = None  # of the best trial that carries the verdict
    schedule_rose: bool = False  # wherever the loss rose, the schedule was raising the rate


def training_bug(results: Results) -> list[Finding]:
    """Ask each study whether the training loss of its better trials rises and stays up."""
    question = CurveQuestion(
        "training_bug",
        training_metric(results),
        read=lambda results, _, table: rise_readings(results, table),
        answer=_answer,
    )
    return ask(results, question)


def rise_readings(
    results: Results, table: SpacedCurves, lasting: bool = True
) -> list[Reading[Risen]]:
    """Read each training loss; flagged are rises that last, or else those that recovered."""
    curves = noisy_curves(table.values)
    rises = rising(curves)
    ends = _block_ends(table.steps)
    readings = []
    for row, trial in enumerate(table.trials):
        first, last = int(ends[row, rises.start[row]]), int(ends[row, rises.end[row] + 1])
        flagged = bool(rises.flagged[row]) and bool(rises.lasting[row]) == lasting
        rates = learning_rates(trial, results.meaning) if flagged else None
        facts = Risen(
            trial=trial.number,
            z=round(float(rises.z[row]), 2),
            rise=float(rises.rise[row]),
            improvement=float(curves.total[row]),
            from_step=first,
            to_step=last,
            lasting=bool(rises.lasting[row]),
            learning_rate_rose=rates is not None and rose(rates, first, last),
        )
        z = float(rises.z[row]) if rises.matters[row] else IMMATERIAL
        readings.append(Reading(trial, z, flagged, table.values.shape[1], facts))
    return readings


def _block_ends(steps: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The training steps the blocks lie between: the end of each, and the start of the first."""
    evaluations = steps.shape[1]
    width = evaluations // _BLOCKS
    at = evaluations - _BLOCKS * width + width * np.arange(_BLOCKS + 1) - 1
    return np.asarray(steps[:, np.maximum(at, 0)])


def _answer(
    results: Results, _: Judged, statement: Statement[Risen], seen: CurveEvidence
) -> Answer:
    if not statement.because:
        return Answer("ok", _TrainingBugEvidence(**seen.fields))
    first = statement.speakers[0].facts
    if all(reading.facts.learning_rate_rose for reading in statement.speakers):
        evidence = _TrainingBugEvidence(**seen.fields, shown=first, schedule_rose=True)
        return Answer("note", evidence, (Advise("lower_peak_learning_rate"),))
    look = look_at(results, statement.speakers[0].trial)
    actions = (Advise("suspect_training_bug"), *look, Advise("then_suspect_instability"))
    return Answer(statement.verdict, _TrainingBugEvidence(**seen.fields, shown=first), actions)
