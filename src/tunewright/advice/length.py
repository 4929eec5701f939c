"""Is the training long enough, and do two lengths of training rank alike?

Configurations that both rounds trained are compared by rank: Spearman's correlation with a 90 %
interval (Fisher's transformation with the standard error of Bonett and Wright), and how many of the
best k are the same, beside what chance gives. Where the rounds share no configurations their
scientific settings are compared instead. `truncated` makes the short round out of a long one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tunewright import messages
from tunewright.actions import Extend
from tunewright.advice.extend import extension, increasing, steps_of_training, transfer
from tunewright.advice.proposal import Proposal, proposal, successor, warnings
from tunewright.checks.saturated import SaturatedEvidence
from tunewright.checks.still_improving import StillImprovingEvidence
from tunewright.design.ranges import Value
from tunewright.errors import DesignError, TunewrightError
from tunewright.facts import plain
from tunewright.finding import Finding
from tunewright.messages import Message, Text
from tunewright.stats.noise import Floats
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.results import Results
from tunewright.store.trial import Trial

TIMES = 2  # as long, when nothing shows how much longer
_FEWEST = 5  # things ranked
_SIDE = 1.645  # standard errors of a 90 % interval
_TOP = 5


def longer(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """A longer round in the neighbourhood of the best, where training was cut off."""
    cut_off = warnings(findings, "still_improving")
    return _longer(results, cut_off, "proposal.longer") if cut_off else []


def in_doubt(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """Longer, where every one of the best trials was best in the last quarter of training.

    A falling learning rate hides whether training ends too early: when in doubt, longer. Where
    the second half of training changed nothing there is no doubt.
    """
    if warnings(findings, "saturated"):
        return []
    late = [f for f in findings if f.check == "still_improving" and _late(f)]
    proposals = _longer(results, late, "proposal.longer_in_doubt") if late else []
    return [p for p in proposals if p.round is not None]


def _late(finding: Finding) -> bool:
    seen = finding.evidence
    return isinstance(seen, StillImprovingEvidence) and seen.consistently_late


def _longer(results: Results, because: Sequence[Finding], code: str) -> list[Proposal]:
    try:
        steps = TIMES * steps_of_training(results)
        longer = extension(results, steps)
    except TunewrightError as error:
        code = "proposal.longer_impossible"
        return [proposal("longer", code, because, problems=error.problems)]
    extend = (Extend(results.round.name, steps),)
    facts: dict[str, Any] = {"steps": steps, "rule": longer.rule, "lengths": increasing(steps)}
    return [proposal("longer", code, because, longer.round, extend, **facts)]


def shorter(results: Results, findings: Sequence[Finding]) -> list[Proposal]:
    """The same round with fewer steps, where the second half of training changed nothing."""
    if warnings(findings, "still_improving"):
        return []  # what is too short for one study is not shortened for another
    saturated = warnings(findings, "saturated")
    seen = [f.evidence for f in saturated if isinstance(f.evidence, SaturatedEvidence)]
    steps = [e.proposed_max_train_steps for e in seen if e.proposed_max_train_steps]
    name = results.meaning.name("max_train_steps")
    if not steps or name not in results.round.fixed:
        return []
    # enough for every study, and for every step at which one of the best was reached
    long = max([*steps, *(step for evidence in seen for step in evidence.best_steps)])
    now = results.round.fixed[name]
    try:
        if long >= steps_of_training(results):
            return []
    except TunewrightError:
        return []
    shorter_round = successor(
        results.round,
        Message("change.steps", {"steps": long, "before": now}),
        fixed={**results.round.fixed, name: long},
    )
    code = "proposal.shorter"
    return [proposal("shorter", code, saturated, shorter_round, steps=long, before=now)]


@dataclass(frozen=True)
class Agreement:
    """How alike two rounds rank what both of them have."""

    of: Literal["configurations", "settings"]
    ranked: int  # how many both have
    correlation: float | None  # of the ranks; None for too few, or without differences
    interval: tuple[float, float] | None  # 90 %
    top: int  # k
    overlap: int  # how many of the best k are the same
    by_chance: float  # how many would be if the ranks were unrelated
    regret: float | None  # what choosing by the short round costs in the long one; 0 is best

    @property
    def agrees(self) -> bool | None:
        """True or False where the interval excludes the other, None on weak evidence."""
        if self.interval is None:
            return None
        if self.interval[0] > 0.5:
            return True
        return False if self.interval[1] < 0.5 else None

    @property
    def says(self) -> Text:
        """The answer in one sentence."""
        return messages.text("agreement", plain(self))


def agreement(short: Results, long: Results, top: int = _TOP) -> Agreement:
    """Compare the ranking of a round with that of a longer one, by the longer one's objective."""
    if top < 1:
        raise DesignError("agreement.top_not_positive", top=top)
    short = short.with_objective(long.objective)
    short_losses, long_losses = _by_configuration(short, long), _by_configuration(long, short)
    shared = [key for key in short_losses if key in long_losses]
    of: Literal["configurations", "settings"] = "configurations"
    if len(shared) < _FEWEST:
        settings, long_settings = _by_setting(short), _by_setting(long)
        both = [key for key in settings if key in long_settings]
        if len(both) > len(shared):
            short_losses, long_losses, shared, of = settings, long_settings, both, "settings"
    a = np.array([short_losses[key] for key in shared], dtype=float)
    b = np.array([long_losses[key] for key in shared], dtype=float)
    return agreement_of(a, b, of, top)


def agreement_of(
    short: Floats,
    long: Floats,
    of: Literal["configurations", "settings"] = "configurations",
    top: int = _TOP,
) -> Agreement:
    """The agreement of two lists of losses (lower is better) of the same things."""
    count = len(short)
    k = max(1, min(top, count // 2))
    if count == 0:
        return Agreement(
            of=of,
            ranked=0,
            correlation=None,
            interval=None,
            top=k,
            overlap=0,
            by_chance=0.0,
            regret=None,
        )
    first = np.argsort(short, kind="stable")
    overlap = len(set(first[:k].tolist()) & set(np.argsort(long, kind="stable")[:k].tolist()))
    correlation = _correlation(short, long) if count >= _FEWEST else None
    interval = None if correlation is None else _interval(correlation, count)
    regret = float(long[first[0]] - long.min())
    return Agreement(
        of=of,
        ranked=count,
        correlation=correlation,
        interval=interval,
        top=k,
        overlap=overlap,
        by_chance=k * k / count,
        regret=regret,
    )


def truncated(results: Results, steps: int) -> Results:
    """The results as they would be had every training stopped at this step.

    The schedule is that of the longer training, so a curve that is still to decay looks worse here
    than in a round of this length.
    """
    if steps < 1:
        raise DesignError("agreement.truncated_too_short", steps=steps)
    return replace(
        results,
        recorded=tuple(_cut(trial, steps) for trial in results.recorded),
        recorded_repeats=tuple(_cut(trial, steps) for trial in results.recorded_repeats),
    )


def _cut(trial: Trial, steps: int) -> Trial:
    points, later, finite = {}, False, True
    for name, curve in trial.curves.items():
        kept = curve.steps <= steps
        later |= not kept.all()
        if kept.any():
            points[name] = (curve.steps[kept], curve.values[kept])
            finite &= bool(np.isfinite(curve.values[kept]).all())
    curves = Curves([Batch(1, 0, pack(points))] if points else ())
    if trial.status == "infeasible" and later and finite and points:
        return replace(trial, curves=curves, status="completed", reason=None)  # it diverged later
    return replace(trial, curves=curves)


def _by_configuration(results: Results, other: Results) -> dict[object, float]:
    """The loss of each completed configuration, without what makes the rounds differ in length."""
    names = {n for t in results.rows for n in t.configuration}
    names &= {n for t in other.rows for n in t.configuration}
    kept = {n for n in names if transfer(n, results.meaning).area not in ("length", "schedule")}
    losses: dict[object, float] = {}
    for trial in results.top():  # the best of equal ones comes first
        assert trial.value is not None
        losses.setdefault(_key(trial.configuration, kept), -results.objective.sign * trial.value)
    return losses


def _by_setting(results: Results) -> dict[object, float]:
    """The best loss of each scientific setting."""
    losses: dict[object, float] = {}
    for trial in results.top():
        assert trial.value is not None
        setting = results.studies[trial.study].scientific
        losses.setdefault(_key(setting, setting), -results.objective.sign * trial.value)
    return losses


def _key(configuration: Mapping[str, Value], names: Collection[str]) -> object:
    return tuple(sorted((n, repr(v)) for n, v in configuration.items() if n in names))


def _correlation(a: Floats, b: Floats) -> float | None:
    """Spearman's rank correlation; None when one of them has no differences."""
    from scipy.stats import rankdata

    x, y = rankdata(a), rankdata(b)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _interval(correlation: float, count: int) -> tuple[float, float] | None:
    if count < _FEWEST:
        return None
    near = min(max(correlation, -1 + 1e-9), 1 - 1e-9)
    error = _SIDE * math.sqrt((1 + near * near / 2) / (count - 3))
    return math.tanh(math.atanh(near) - error), math.tanh(math.atanh(near) + error)
