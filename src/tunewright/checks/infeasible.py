"""How many trials are infeasible, and where? Some are normal; most mean a bad space or a bug."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tunewright.actions import Action, Advise, NextRound, Probe, RunTrials, ShowTrial
from tunewright.checks._region import LARGEST, Region, features_of, region
from tunewright.checks.positions import StudyTrials, study_trials
from tunewright.design.ranges import Value
from tunewright.finding import Evidence, Finding, Verdict, merge_not_judged, not_judged
from tunewright.messages import Message
from tunewright.stats.noise import ROBUST
from tunewright.stats.spread import wilson
from tunewright.store.results import Results
from tunewright.store.trial import Trial

_FEWEST = 3  # ended trials
_MOST_REASONS = 10
_USUAL, _MANY, _NEARLY_ALL = 0.25, 0.5, 0.8  # 16 to 62 % in published studies of wide ranges


@dataclass(frozen=True)
class InfeasibleTrials:
    """The infeasible trials of one study and the regions they lie in."""

    study: StudyTrials
    bad: frozenset[int | None]  # their numbers, those far above the others included
    far: tuple[int | None, ...]  # finite, but far above
    # of each branch: the values it has in common, its region, the rows of its trials
    regions: tuple[tuple[tuple[Shared, ...], Region, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Shared:
    """A value that all trials of a conditional branch have."""

    name: str
    value: Value


@dataclass(frozen=True)
class RegionEvidence:
    """Where infeasible trials lie: beyond a threshold of one quantity, or likelier towards it."""

    feature: str
    rises: bool  # whether larger values are the infeasible ones
    between: tuple[float, float]  # the two trials the threshold lies between
    purity: float
    recall: float
    p: float
    clear: bool  # a region rather than a tendency
    branch: tuple[Shared, ...] = ()


@dataclass(frozen=True)
class ReasonCount:
    """How many trials are infeasible for the same reason."""

    reason: str  # its code
    trials: int


@dataclass(frozen=True)
class InfeasibleEvidence(Evidence):
    """How many trials of a study are infeasible, and where they lie."""

    infeasible: int
    trials: int
    share: float
    interval: tuple[float, float]
    far_above: tuple[int, ...]  # numbers of finite ones far above the others and their start
    reasons: tuple[ReasonCount, ...] = ()  # the commonest first
    regions: tuple[RegionEvidence, ...] = ()
    nearly_all: bool = False  # so many that the training program itself is suspected


def find_infeasible(results: Results, study: StudyTrials) -> InfeasibleTrials:
    """The infeasible trials of a study, and where in the search space they lie."""
    far = tuple(trial.number for trial in far_above(results, study.trials))
    bad = frozenset(t.number for t in study.trials if t.status == "infeasible") | frozenset(far)
    groups: dict[tuple[str, ...], list[int]] = {}
    for row, unit in enumerate(study.units):
        if unit:
            groups.setdefault(tuple(sorted(unit)), []).append(row)
    regions = []
    for rows in groups.values():
        rows = rows[:LARGEST]
        features, singles = features_of(study, rows, results.meaning)
        labels = np.array([study.trials[row].number in bad for row in rows])
        where = region(features, labels, singles)
        if where is not None:
            regions.append((_branch(study, rows, len(groups)), where, tuple(rows)))
    return InfeasibleTrials(study, bad, far, tuple(regions))


def infeasible(results: Results) -> list[Finding]:
    """Ask each study what share of its trials is infeasible, and whether a region explains it."""
    findings = [_ask(results, study) for study in study_trials(results)]
    return merge_not_judged(findings, results.round.name)


def _ask(results: Results, study: StudyTrials) -> Finding:
    about, count = study.study.label, len(study.trials)
    if count < _FEWEST:
        facts = {"ended": count, "needed": _FEWEST, "adaptive": study.adaptive}
        why, run = Message("infeasible.few_trials", facts), RunTrials(results.round.name)
        return not_judged("infeasible", about, why, run)
    trials = find_infeasible(results, study)
    bad = len(trials.bad)
    low, high = wilson(bad, count)
    evidence = InfeasibleEvidence(
        infeasible=bad,
        trials=count,
        share=bad / count,
        interval=(low, high),
        far_above=tuple(number for number in trials.far if number is not None),
        reasons=_reasons(study),
        regions=tuple(_evidence(branch, region) for branch, region, _ in trials.regions),
        nearly_all=bad == count or (bad / count > _NEARLY_ALL and low > _MANY),
    )
    verdict, actions = _verdict_of(results, evidence)
    return Finding.of_study("infeasible", about, verdict, evidence, actions)


def _evidence(branch: tuple[Shared, ...], region: Region) -> RegionEvidence:
    return RegionEvidence(
        feature=region.feature.name,
        rises=region.rises,
        between=region.between,
        purity=region.purity,
        recall=region.recall,
        p=region.p,
        clear=region.clear,
        branch=branch,
    )


def _verdict_of(results: Results, seen: InfeasibleEvidence) -> tuple[Verdict, tuple[Action, ...]]:
    name = results.round.name
    look = ShowTrial(name, _first(results))
    if seen.nearly_all:
        return "warn", (Advise("suspect_bug"), look)
    clear = [region for region in seen.regions if region.clear]
    narrower = tuple(Advise("leave_out_region", _facts(region)) for region in clear)
    # or make that region trainable
    remedies: tuple[Action, ...] = (*narrower, Probe("warmup", name), Probe("clip", name))
    if seen.interval[0] > _MANY:
        return "warn", (*remedies, NextRound(name))
    if seen.share >= _USUAL:
        return "note", remedies if clear else (look,)
    return "ok", remedies if clear else ()


def _facts(region: RegionEvidence) -> dict[str, Any]:
    low, high = region.between
    return {"feature": region.feature, "rises": region.rises, "low": low, "high": high}


def _first(results: Results) -> int:
    return next((t.number or 0 for t in results.rows if t.status == "infeasible"), 0)


def _reasons(study: StudyTrials) -> tuple[ReasonCount, ...]:
    counts = Counter(
        trial.reason.code if trial.reason else ""
        for trial in study.trials
        if trial.status == "infeasible"
    )
    return tuple(ReasonCount(*counted) for counted in counts.most_common(_MOST_REASONS))


def _branch(study: StudyTrials, rows: Sequence[int], groups: int) -> tuple[Shared, ...]:
    """The values of the conditional parents these trials share, when there are several groups."""
    if groups == 1:
        return ()
    configuration = study.trials[rows[0]].configuration
    parents = {column for h in study.study.space for column, _ in h.when}
    parents -= set(study.study.scientific)
    return tuple(Shared(p, configuration[p]) for p in sorted(parents) if p in configuration)


# ---- which trials ended finite but absurd: far above all others, and above where they began?
#
# Far above the others alone would call every trial stuck at chance diverged (21 to 43 % in two
# published sets); a diverged one ends worse than it began.


_FEWEST_ENDED = 8  # completed trials
_SPREADS = 6.0
_SMALLEST_SPREAD = 0.02  # of the logarithm
_WORSE_THAN_START = 1.1


def far_above(results: Results, trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The completed trials of one study whose training loss ended far above all others.

    By the training loss, or by the objective where that is minimized and no loss was logged.
    """
    metric = results.meaning.name("train_loss")
    completed = [t for t in trials if t.status == "completed"]
    if not any(t.curves.only(metric) is not None for t in completed):
        metric = results.objective.metric
        if not results.objective.minimize:
            return ()
    ends, starts, owners = [], [], []
    for trial in completed:
        curve = trial.curves.only(metric)
        if curve is None or len(curve) < 2:  # where it began must be known
            continue
        finite = curve.values[np.isfinite(curve.values)]
        if len(finite):
            few = max(1, len(finite) // 20)
            ends.append(float(np.median(finite[-few:])))
            starts.append(float(finite[0]))
            owners.append(trial)
    if len(ends) < _FEWEST_ENDED or min(ends) <= 0:
        return ()
    logs = np.log(ends)
    middle = np.median(logs)
    spread = max(ROBUST * float(np.median(middle - logs[logs <= middle])), _SMALLEST_SPREAD)
    start = results.meaning.number("chance") or float(np.median(starts))
    absurd = (logs > middle + _SPREADS * spread) & (np.array(ends) > _WORSE_THAN_START * start)
    return tuple(trial for trial, is_absurd in zip(owners, absurd, strict=True) if is_absurd)
