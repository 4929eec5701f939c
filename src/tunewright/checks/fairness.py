"""Were the scientific settings tuned equally well? Else the comparison is one of tuning effort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tunewright.actions import Advise, NextRound, RunTrials
from tunewright.checks._better_half import TOP
from tunewright.checks.best_step import BestSteps, best_steps
from tunewright.checks.boundary import Edge, edges_of
from tunewright.checks.positions import StudyTrials, losses_of, study_trials
from tunewright.design.guards import BatchSizeChange, batch_size_change
from tunewright.design.ranges import is_number
from tunewright.finding import Evidence, Finding, Verdict, not_judged
from tunewright.messages import Message
from tunewright.stats.crowding import Side
from tunewright.store.results import Results

_LARGE = 2.0  # times as many trials: the best of more is better without being better
P = 0.01  # of a difference in feasible trials
_MOST_LISTED = 3  # settings of one kind


@dataclass(frozen=True)
class SettingTuned:
    """How well one scientific setting was tuned."""

    setting: str
    trials: int
    feasible: int
    searched: int  # hyperparameters


@dataclass(frozen=True)
class AtEnd:
    """A setting whose best trials crowd at an end of a range, where those of the best do not."""

    setting: str
    column: str
    side: Side


@dataclass(frozen=True)
class Uneven:
    """Two settings that differ: the one that has most of something, and the one that has least."""

    most: SettingTuned
    least: SettingTuned


@dataclass(frozen=True)
class Lengths:
    """Two settings that train for different numbers of steps."""

    name: str  # of the hyperparameter
    longest: str  # setting
    most: float
    shortest: str  # setting
    fewest: float


@dataclass(frozen=True)
class UnlikeNeeds:
    """One length of training that is short for one setting and long for another.

    max_train_steps changes with the architecture, the data and their augmentation (playbook).
    """

    longer: str  # the setting whose best trials were all best in the last quarter
    shorter: str  # the setting half of whose best trials were best in the first half
    late_steps: tuple[int, ...]  # of the first, best trial first
    early_steps: tuple[int, ...]  # of the second
    max_train_steps: int  # in steps as logged


@dataclass(frozen=True)
class FairnessEvidence(Evidence):
    """How each setting was tuned, and in what they are not alike."""

    settings: tuple[SettingTuned, ...]
    best: str
    budgets: Uneven | None = None  # so many more trials for one than for another
    feasible: tuple[Uneven, ...] = ()  # far fewer feasible trials
    ends: tuple[AtEnd, ...] = ()
    spaces: Uneven | None = None  # many more hyperparameters with as many trials
    lengths: Lengths | None = None  # some train longer than others
    needs: UnlikeNeeds | None = None  # one length, which suits one setting and not another
    kept: BatchSizeChange | None = None  # values that were tuned for another batch size

    @property
    def warns(self) -> bool:
        """Whether the comparison is one of tuning effort."""
        return self.lengths is not None or self.budgets is not None or bool(self.feasible)

    @property
    def notes(self) -> bool:
        """Whether it may be one: an end that is crowded is warned about by `boundary` already."""
        doubts = (self.spaces, self.needs, self.kept)
        return bool(self.ends) or any(doubt is not None for doubt in doubts)


def fairness(results: Results) -> list[Finding]:
    """Ask whether budgets, feasible trials, search spaces and their ends are alike.

    A single setting is compared with the round that it continues: a changed batch size with
    values that were tuned for the former one is not tuned as well.
    """
    before = [earlier.round for earlier in results.earlier]
    kept = batch_size_change(results.round, before, results.meaning)
    if len(results.studies) < 2:
        return [] if kept is None else _alone(results, kept)
    name, studies = results.round.name, study_trials(results)
    losses = {arm.study.number: losses_of(results, arm.trials) for arm in studies}
    feasible = {number: int(np.isfinite(values).sum()) for number, values in losses.items()}
    if sum(count > 0 for count in feasible.values()) < 2:
        why = Message("fairness.one_setting")
        return [not_judged("fairness", name, why, RunTrials(name), scope="round")]
    best = min(losses, key=lambda number: float(losses[number].min(initial=np.inf)))
    tuned = [_tuning(arm, feasible) for arm in studies]
    evidence = FairnessEvidence(
        settings=tuple(tuned),
        best=results.studies[best].label,
        budgets=_budgets(tuned),
        feasible=_infeasible(tuned),
        ends=_ends(results, best),
        spaces=_spaces(studies, tuned),
        lengths=lengths_of(results),
        needs=_needs(results),
        kept=kept,
    )
    if not evidence.warns and not evidence.notes:
        return [Finding.of_round("fairness", name, "ok", evidence)]
    finish = RunTrials(name) if results.unfinished else NextRound(name)
    verdict: Verdict = "warn" if evidence.warns else "note"
    advice = "train_as_long" if evidence.lengths is not None else "tune_equally"
    stale = () if evidence.needs is None else (Advise("length_again"),)
    again = () if kept is None else (_tune_again(kept),)
    actions = (Advise(advice), *stale, *again, finish)
    return [Finding.of_round("fairness", name, verdict, evidence, actions)]


def _alone(results: Results, kept: BatchSizeChange) -> list[Finding]:
    """What a round without settings to compare is not tuned as well as."""
    (arm,) = study_trials(results)
    feasible = int(np.isfinite(losses_of(results, arm.trials)).sum())
    tuned = _tuning(arm, {arm.study.number: feasible})
    evidence = FairnessEvidence((tuned,), tuned.setting, kept=kept)
    about = results.round.name
    return [Finding.of_round("fairness", about, "note", evidence, (_tune_again(kept),))]


def _tune_again(kept: BatchSizeChange) -> Advise:
    facts = {"optimizer": list(kept.optimizer), "regularisers": list(kept.regularisers)}
    return Advise("tune_again", facts)


def lengths_of(results: Results) -> Lengths | None:
    """Settings that train for different numbers of steps: longer training is then compared too.

    A length that is searched within each setting is no difference between them.
    """
    name = results.meaning.name("max_train_steps")
    known: dict[str, float] = {}
    for study in results.studies:
        values = {t.configuration.get(name) for t in results.rows_of(study) if t.configuration}
        lengths = [float(v) for v in values if is_number(v)]
        if len(values) == 1 and lengths:
            known[study.label] = lengths[0]
    if len(set(known.values())) < 2:
        return None
    longest, shortest = max(known, key=lambda s: known[s]), min(known, key=lambda s: known[s])
    return Lengths(name, longest, known[longest], shortest, known[shortest])


def _needs(results: Results) -> UnlikeNeeds | None:
    """Two settings of one length whose best trials were best at opposite ends of training."""
    ranked = results.top()
    late: tuple[str, BestSteps] | None = None
    early: tuple[str, BestSteps] | None = None
    for study in results.studies:
        best = best_steps(results, [trial for trial in ranked if trial.study == study.number])
        if len(best.steps) < TOP:
            continue
        if late is None and best.late == len(best.steps):
            late = study.label, best
        elif early is None and best.proposed is not None:
            early = study.label, best
    if late is None or early is None or late[1].max_train_steps != early[1].max_train_steps:
        return None
    steps = late[1].max_train_steps
    return UnlikeNeeds(late[0], early[0], late[1].steps, early[1].steps, steps)


def _tuning(arm: StudyTrials, feasible: Mapping[int, int]) -> SettingTuned:
    study = arm.study
    return SettingTuned(study.label, len(arm.trials), feasible[study.number], len(study.space))


def _budgets(tuned: Sequence[SettingTuned]) -> Uneven | None:
    most = max(tuned, key=lambda t: t.trials)
    fewest = min(tuned, key=lambda t: t.trials)
    return Uneven(most, fewest) if most.trials >= _LARGE * fewest.trials else None


def _infeasible(tuned: Sequence[SettingTuned]) -> tuple[Uneven, ...]:
    """Settings left with far fewer feasible trials than the one that has most."""
    most = max(tuned, key=lambda t: t.feasible)
    behind = [
        Uneven(most, less)
        for less in tuned
        if less is not most
        and 2 * less.feasible <= most.feasible
        and _fewer(less.feasible, less.trials, most.feasible, most.trials) < P / (len(tuned) - 1)
    ]
    return tuple(behind[:_MOST_LISTED])


def _fewer(left: int, of: int, full: int, of_full: int) -> float:
    """Fisher's exact chance of so few feasible trials if both settings diverged alike."""
    from scipy.stats import hypergeom

    return float(hypergeom.cdf(left, of + of_full, left + full, of))


def _ends(results: Results, best: int) -> tuple[AtEnd, ...]:
    """Settings behind the best one whose own best trials crowd at an end of a range."""
    edges = edges_of(results)
    winner = {_place(e) for e in edges.get(best, ()) if e.verdict == "warn"}
    behind = []
    for study in results.studies:
        crowded = [
            e
            for e in edges.get(study.number, ())
            if e.verdict == "warn" and _place(e) not in winner
        ]
        if study.number != best and crowded:
            behind.append(AtEnd(study.label, crowded[0].column, crowded[0].seen.side))
    return tuple(behind[:_MOST_LISTED])


def _place(e: Edge) -> tuple[str, str]:
    return e.column, e.seen.side


def _spaces(studies: Sequence[StudyTrials], tuned: Sequence[SettingTuned]) -> Uneven | None:
    sizes = [_dimensions(arm) for arm in studies]
    most, fewest = int(np.argmax(sizes)), int(np.argmin(sizes))
    if sizes[most] < max(2 * sizes[fewest], sizes[fewest] + 2):
        return None
    wide, small = (replace(tuned[at], searched=sizes[at]) for at in (most, fewest))
    return Uneven(wide, small)


def _dimensions(arm: StudyTrials) -> int:
    return max((len(branch.dimensions) for branch in arm.study.branches), default=0)
