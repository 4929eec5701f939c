"""Early stopping of a round: which running trials cannot win, judged from finished curves.

A trial is compared with finished curves of the same study and schedule (max_train_steps), those
of earlier rounds included. Every study has a separate bound and reference, and nothing is stopped
before each study has enough curves. So a scientific comparison loses the best trial of either arm
with the same small probability, and an arm that is worse or starts more slowly is not stopped more
eagerly. Repeats and configurations added by hand always finish.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tunewright.design.names import Meaning
from tunewright.design.objective import Objective
from tunewright.design.ranges import Value
from tunewright.errors import StoreError
from tunewright.messages import Message
from tunewright.seeds import SMALL, derive_seed
from tunewright.stats.early_stopping import (
    KTH,
    SPARED,
    Array,
    Bound,
    bound,
    look_steps,
    values_at,
    weights,
)
from tunewright.store.curves import Curve, unpack
from tunewright.store.results import Results
from tunewright.store.store import Store
from tunewright.store.trial import Claim, Trial

_CODE = "trial.pruned"
CATCH_UP_S = 10.0  # between two looks at what other workers have finished
Schedule = tuple[int, int]  # study, steps in all


@dataclass(frozen=True, eq=False)
class _Watched:
    """A running trial: its objective so far, and how many looks it has passed."""

    study: int
    seed: int
    total: int | None  # steps of its schedule, where its configuration has them
    curve: Curve
    passed: int = 0


@dataclass(frozen=True, eq=False)
class _Finished:
    """One finished curve, as far as a bound needs it."""

    at: Array  # oriented values at the looks
    final: float
    spared: bool  # it belongs to the tenth that always finishes


class EarlyStopping:
    """The finished curves of a round by schedule, and the trials that run now."""

    def __init__(self, objective: Objective, meaning: Meaning, studies: int) -> None:
        """Nothing has finished yet; `studies` is how many must have enough curves."""
        self._objective = objective
        self._length = meaning.name("max_train_steps")
        self._studies = studies
        self._finished: dict[Schedule, list[_Finished]] = {}
        self._pruned: dict[int, int] = {}  # by study
        self._running: dict[int, _Watched] = {}  # by trial
        self._reasons: dict[int, Message] = {}  # of the trials that were asked to stop
        self._bounds: dict[Schedule, tuple[int, Bound | None]] = {}  # by number of curves
        self._learned: set[int] = set()  # identities of trials that count already
        self._caught_up_at = -math.inf

    @classmethod
    def of(cls, results: Results) -> EarlyStopping:
        """With the finished trials of a round, and of the earlier rounds that are joined to it."""
        stopping = cls(results.objective, results.meaning, len(results.studies))
        stopping.learn(sorted(results.rows, key=lambda t: (t.origin is None, t.number or 0)))
        return stopping

    def learn(self, trials: Iterable[Trial]) -> None:
        """Add the curves of finished trials; others are counted if pruned, else passed over."""
        for trial in trials:
            if not trial.ended or (trial.identity and trial.identity in self._learned):
                continue
            self._learned.add(trial.identity)
            if trial.bound_of(self._objective.metric) is not None:
                self._pruned[trial.study] = self._pruned.get(trial.study, 0) + 1
            curve = trial.curves.only(self._objective.metric) if trial.value is not None else None
            if curve is None or trial.value is None or trial.number is None:
                continue
            total = self._total(trial.configuration) or int(curve.steps[-1])
            at = self._at(look_steps(total), curve)
            row = _Finished(at, self._orient(trial.value), is_spared(trial.seed))
            self._finished.setdefault((trial.study, total), []).append(row)

    def catch_up(self, store: Store, round_id: int, now: float) -> None:
        """Add what other workers of the round have finished; every ten seconds, if it can be read.

        A store that cannot be read costs curves, so that stopping begins later.
        """
        if now < self._caught_up_at + CATCH_UP_S:
            return
        self._caught_up_at = now
        with contextlib.suppress(StoreError):
            new = [key for key in store.keys_of_finished(round_id) if key not in self._learned]
            self.learn(store.trial(key) for key in new)

    def begin(
        self,
        trial: int,
        study: int,
        seed: int,
        configuration: Mapping[str, Value],
        before: Curve | None = None,
    ) -> None:
        """Watch a trial that starts, or resumes after the points of an earlier attempt."""
        curve = Curve(np.empty(0, np.int64), np.empty(0)) if before is None else before
        watched = _Watched(study, seed, self._total(configuration), curve)
        self._running[trial] = replace(watched, passed=_looks_passed(self._looks(watched), curve))

    def watch(self, claim: Claim, store: Store) -> None:
        """Watch a claimed trial, with what its earlier attempts logged."""
        if claim.number is None or claim.index is None:
            return  # a repeat, or added by hand: somebody wants exactly this one
        before: Curve | None = None
        if claim.attempt > 1:
            with contextlib.suppress(StoreError):
                before = store.trial(claim.trial).curves.only(self._objective.metric)
        self.begin(claim.trial, claim.study, claim.seed, claim.configuration or {}, before)

    def look(self, trial: int, points: bytes) -> Message | None:
        """Add what a trial has logged; the reason, where it cannot win and is to be stopped."""
        watched = self._running.get(trial)
        curve = unpack(points, only=self._objective.metric).get(self._objective.metric)
        if watched is None or curve is None or not len(curve):
            return None
        curve = _join(watched.curve, curve)
        looks = self._looks(watched)
        passed = _looks_passed(looks, curve)
        self._running[trial] = replace(watched, curve=curve, passed=passed)
        if passed <= watched.passed or trial in self._reasons or is_spared(watched.seed):
            return None
        rule = self.bound((watched.study, self._total_of(watched)))
        if rule is None:
            return None
        at = self._at(looks, curve)
        at[: watched.passed] = np.nan
        at[passed:] = np.nan
        place = rule.look_that_stops(at)
        if place is None:
            return None
        reason = self._reason(rule, place, looks[place], float(at[place]))
        self._reasons[trial] = reason
        return reason

    def reached_end(self, trial: int) -> bool:
        """Whether a running trial has logged the last step of its schedule."""
        watched = self._running.get(trial)
        if watched is None or not len(watched.curve):
            return False
        return int(watched.curve.steps[-1]) >= (self._total_of(watched) or math.inf)

    def forget(self, trial: int) -> Message | None:
        """Forget a trial that has ended; the reason, where it was to be stopped from here."""
        self._running.pop(trial, None)
        return self._reasons.pop(trial, None)

    def bound(self, schedule: Schedule) -> Bound | None:
        """The bound for a study and schedule; None until every study has enough curves."""
        rule = self._bound(schedule)
        ready = {study for study, total in self._finished if self._bound((study, total))}
        return rule if len(ready) >= self._studies else None

    def _bound(self, schedule: Schedule) -> Bound | None:
        rows = self._finished.get(schedule, [])
        known = self._bounds.get(schedule)
        if known is None or known[0] != len(rows):
            known = (len(rows), self._compute_bound(schedule[0], rows))
            self._bounds[schedule] = known
        return known[1]

    def _compute_bound(self, study: int, rows: list[_Finished]) -> Bound | None:
        if not rows:
            return None
        at, final = np.array([row.at for row in rows]), np.array([row.final for row in rows])
        spared = np.array([row.spared for row in rows], dtype=np.bool_)
        return bound(at, final, weights(at, final, spared, self._pruned.get(study, 0)))

    def _reason(self, rule: Bound, place: int, step: int, value: float) -> Message:
        facts = {
            "step": step,
            "metric": self._objective.metric,
            "value": self._orient(value),
            "bound": self._orient(rule.best_possible(place, value)),
            "reference": self._orient(rule.reference),
            "place": KTH,
            "curves": rule.curves,
        }
        return Message(_CODE, facts)

    def _total(self, configuration: Mapping[str, Value]) -> int | None:
        """The steps of a trial's schedule, where its configuration has them."""
        steps = configuration.get(self._length)
        return steps if type(steps) is int and steps > 0 else None

    def _only_total(self, study: int) -> int:
        """The schedule that all finished trials of a study share; 0: there are several, or none."""
        totals = {total for number, total in self._finished if number == study}
        return totals.pop() if len(totals) == 1 else 0

    def _total_of(self, watched: _Watched) -> int:
        return watched.total or self._only_total(watched.study)

    def _looks(self, watched: _Watched) -> tuple[int, ...]:
        return look_steps(self._total_of(watched))

    def _at(self, looks: tuple[int, ...], curve: Curve) -> Array:
        oriented = np.asarray(-self._objective.sign * curve.values, dtype=np.float64)
        return values_at(looks, curve.steps, oriented, best=self._objective.at == "best")

    def _orient(self, value: float) -> float:
        """A value with the sign by which smaller is better, and back."""
        return -self._objective.sign * value


def is_spared(seed: int) -> bool:
    """Whether a trial of this seed belongs to the random tenth that always finishes."""
    return derive_seed(seed, "early stopping") < SPARED * SMALL


def _looks_passed(looks: tuple[int, ...], curve: Curve) -> int:
    return sum(step <= curve.steps[-1] for step in looks) if len(curve) else 0


def _join(before: Curve, more: Curve) -> Curve:
    """With more points; those that an earlier attempt logged from their first step on go."""
    keep = int(np.searchsorted(before.steps, more.steps[0]))
    return Curve(
        np.concatenate([before.steps[:keep], more.steps]),
        np.concatenate([before.values[:keep], more.values]),
    )
