"""Is training unstable, early or mid-way? Instability matters when it holds the rate down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tunewright.actions import Action, Advise, Probe
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
    training_metric,
)
from tunewright.checks.logged_rate import warmup_end
from tunewright.checks.spacing import LONGEST as LONGEST_RISE, SpacedCurves, average, tables
from tunewright.checks.training_bug import Risen, rise_readings
from tunewright.design.ranges import as_number
from tunewright.finding import Finding
from tunewright.stats.spikes import FEWEST, LONGEST, spikes
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_JUST_ABOVE = 10.0  # times the best learning rate
_FEWEST_ABOVE, _NEAREST = 3, 20  # trials there


def remedies(results: Results) -> tuple[Action, ...]:
    """The fixes, in the order of the playbook, and how to see the instability closer."""
    name = results.round.name
    return (
        Probe("warmup", name),
        Probe("clip", name),
        Advise("try_another_optimizer"),
        Advise("normalise_residual_branches"),
        Advise("start_residual_branches_at_zero"),
        Advise("lower_learning_rate"),
        Probe("stability", name),
    )


@dataclass(frozen=True)
class Unstable(TrialFacts):
    """When the training of one trial was unstable."""

    episodes: tuple[Episode, ...]


def instability(results: Results) -> list[Finding]:
    """Ask each study whether training is unstable in its better trials, or just above their rate.

    The best learning rate at the edge of divergence is judged with the infeasible trials.
    """
    question = CurveQuestion(
        "instability",
        training_metric(results),
        read=_readings,
        answer=_answer,
        longest=LONGEST,
        many="note",  # it matters where it keeps the best trials from a higher learning rate
    )
    return ask(results, question)


@dataclass(frozen=True)
class Above:
    """The trials whose learning rate is above the best one, up to ten times, and how they fared."""

    rate: float  # the best trial's
    trials: int
    unstable: tuple[int | None, ...]  # numbers of those that diverged, spiked or rose
    early: int
    mid: int

    @property
    def speaks(self) -> bool:
        """Whether half of at least three are unstable: fixing that may allow a higher rate."""
        return self.trials >= _FEWEST_ABOVE and 2 * len(self.unstable) >= self.trials


@dataclass(frozen=True, kw_only=True)
class _InstabilityEvidence(CurveEvidence):
    """When training was unstable, and how stable it is just above the best learning rate."""

    above_best_rate: Above | None  # None if no learning rate was searched
    early: int | None = None  # episodes of the trials that carry the verdict
    mid: int | None = None
    worst: Episode | None = None


def just_above(results: Results, judged: Judged) -> Above | None:
    """How stable a study is just above its best learning rate; None if no rate was searched."""
    name = results.meaning.name("learning_rate")
    best = _rate(judged.ranked[0], name) if judged.ranked else None
    if best is None:
        return None
    ended = [t for t in results.rows_of(judged.study) if t.status in ("completed", "infeasible")]
    above = [t for t in ended if best < (_rate(t, name) or 0.0) <= _JUST_ABOVE * best]
    above = sorted(above, key=lambda trial: _rate(trial, name) or 0.0)[:_NEAREST]
    unstable = [t.number for t in above if t.status == "infeasible" and diverged(results, t)]
    early, mid = 0, 0
    loss = results.meaning.name("train_loss")
    for table in tables([t for t in above if t.status == "completed"], loss, longest=LONGEST):
        by_trial = episodes(results, table, lasting=True)
        for trial, of_trial in zip(table.trials, by_trial, strict=True):
            if of_trial:
                unstable.append(trial.number)
                early, mid = early + of_trial[0].early, mid + (not of_trial[0].early)
    return Above(best, len(above), tuple(unstable), early, mid)


def _rate(trial: Trial, name: str) -> float | None:
    rate = as_number(trial.configuration.get(name))
    return None if rate is None or rate <= 0 else rate


def _readings(results: Results, _: Judged, table: SpacedCurves) -> list[Reading[Unstable]]:
    readings = []
    for trial, of_trial in zip(table.trials, episodes(results, table), strict=True):
        z = max((episode.z for episode in of_trial), default=IMMATERIAL)
        facts = Unstable(trial.number, tuple(map(_shorten, of_trial)))
        readings.append(Reading(trial, z, bool(of_trial), table.values.shape[1], facts))
    return readings


def _shorten(episode: Episode) -> Episode:
    return replace(episode, height=round(episode.height, 4), z=round(episode.z, 2))


def _answer(
    results: Results, judged: Judged, statement: Statement[Unstable], seen: CurveEvidence
) -> Answer:
    above = just_above(results, judged)
    if statement.because:
        carrying = [episode for r in statement.speakers for episode in r.facts.episodes]
        early = sum(episode.early for episode in carrying)
        evidence = _InstabilityEvidence(
            **seen.fields,
            above_best_rate=above,
            early=early,
            mid=len(carrying) - early,
            worst=max(carrying, key=lambda episode: episode.z),
        )
        return Answer(statement.verdict, evidence, remedies(results))
    evidence = _InstabilityEvidence(**seen.fields, above_best_rate=above)
    if above is not None and above.speaks:
        return Answer("note", evidence, remedies(results))
    return Answer("ok", evidence)


# ---- when was a trial unstable? Spikes, rises that recovered, early or mid-training


_EARLY = 0.05  # of training, or the end of warm-up if that is later


@dataclass(frozen=True)
class Episode:
    """One stretch of training in which the loss went up instead of down."""

    kind: Literal["spike", "rise"]
    from_step: int
    to_step: int
    height: float  # a spike: as a share of the loss; a rise: of the improvement
    early: bool  # before warm-up ended or within the first 5 % of training
    z: float


def episodes(results: Results, table: SpacedCurves, lasting: bool = False) -> list[list[Episode]]:
    """The episodes of each training loss of a table, in the order they happened.

    Rises that stay up are the question of another check, unless `lasting` asks for them too.
    """
    by_row: list[list[Episode]] = [[] for _ in table.trials]
    limits = [_early_until(results, t, s) for t, s in zip(table.trials, table.steps, strict=True)]
    if table.values.shape[1] >= FEWEST:
        for spike in spikes(table.values):
            steps = table.steps[spike.row]
            first, last = int(steps[spike.first]), int(steps[spike.last])
            early = bool(first <= limits[spike.row])
            by_row[spike.row].append(Episode("spike", first, last, spike.height, early, spike.z))
    wanted = (False, True) if lasting else (False,)
    for kept in wanted:
        readings = rise_readings(results, average(table, LONGEST_RISE), lasting=kept)
        for row, reading in enumerate(readings):
            facts = reading.facts
            if not reading.flagged or facts.learning_rate_rose or _covered(by_row[row], facts):
                continue
            share = facts.rise / facts.improvement
            first, last = facts.from_step, facts.to_step
            by_row[row].append(
                Episode("rise", first, last, share, bool(last <= limits[row]), reading.z)
            )
    return [sorted(row, key=lambda episode: episode.from_step) for row in by_row]


def diverged(results: Results, trial: Trial) -> bool:
    """Whether the objective or a loss of the trial stopped being finite."""
    meaning = results.meaning
    watched = (results.objective.metric, meaning.name("train_loss"), meaning.name("valid_loss"))
    curves = (trial.curves.only(name) for name in dict.fromkeys(watched))
    return any(curve is not None and not np.isfinite(curve.values).all() for curve in curves)


def _early_until(results: Results, trial: Trial, steps: Iterable[int]) -> float:
    return max(warmup_end(trial, results.meaning), _EARLY * max(steps))


def _covered(known: list[Episode], rise: Risen) -> bool:
    """Whether a rise between blocks is only the trace of a spike found more sharply."""
    return any(rise.from_step <= e.to_step and e.from_step <= rise.to_step for e in known)
