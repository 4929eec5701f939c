"""The reasons and caveats of a launch, as codes with their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.design.ranges import Value, same_value
from tunewright.launches.arm import Arm, other_code
from tunewright.launches.case import Case
from tunewright.launches.plan import FEWEST_RUNS, MOST_RUNS, runs_for
from tunewright.messages import Message
from tunewright.stats.shrinkage import shrunk
from tunewright.stats.spread import Spread

_SD_RATIO = 3.0  # between the arms: beyond it five skewed runs cannot tell a shift from a spread


def without_probability(case: Case) -> Message:
    """The difference of two programs without chance."""
    own, other = case.candidate, case.baseline
    return Message(
        "launch.deterministic",
        {
            "metric": own.objective.metric,
            "candidate_mean": own.mean,
            "baseline_mean": other.mean,
            "gain": case.difference,
            **_asked(case),
        },
    )


def sureness(case: Case) -> Message:
    """How probable the claim is, and how probable it would have to be."""
    return Message(
        "launch.probability",
        {
            "candidate": case.candidate.label,
            "baseline": case.baseline.label,
            "probability": case.probability(),
            "threshold": case.threshold,
            **_asked(case),
        },
    )


def difference(case: Case) -> Message:
    """Both means, and what to expect of the gain."""
    assert case.posterior is not None
    own, other = case.candidate, case.baseline
    gain, expected = float(case.posterior.mean), shrunk(case.posterior)
    return Message(
        "launch.difference",
        {
            "metric": own.objective.metric,
            "candidate_mean": own.mean,
            "candidate_runs": len(own.values),
            "baseline_mean": other.mean,
            "baseline_runs": len(other.values),
            "gain": gain,
            "shrunk_gain": expected.mean,
            "interval": list(expected.interval),
        },
    )


def planning(case: Case) -> list[Message]:
    """How many runs would find a gain of the size that was declared, or seen."""
    n, sd = case.runs, case.sd
    assert case.posterior is not None
    effect = case.detect or shrunk(case.posterior).mean - case.must_exceed
    if not effect > 0 or not sd > 0:
        return []
    runs = runs_for(effect / sd, case.threshold)
    if runs <= n:
        return []
    if runs > MOST_RUNS:
        return [Message("launch.too_small_to_find", {"gain": effect, "runs": MOST_RUNS})]
    return [Message("launch.runs_to_find", {"gain": effect, "runs": runs})]


def errors(case: Case, rate: float) -> Message:
    """How often this rule launches what should not be."""
    return Message(
        "launch.false_launches",
        {
            **_asked(case),
            "candidates": case.candidates,
            "rate": rate,
            "at_most": case.plan.looks == (1,) or case.must_exceed > 0,
        },
    )


def included(spreads: Sequence[Spread]) -> list[Message]:
    """Which variances beside that of the seeds the interval includes."""
    return [
        Message("launch.variance_included", {"source": s.source, "sd": s.sd, "how": s.how})
        for s in spreads
    ]


def too_few_runs(case: Case, arm: str, sd_known: bool) -> Message:
    """Too few runs to judge by."""
    return Message(
        "launch.too_few_runs",
        {**_runs(case), "needed": FEWEST_RUNS, "arm": arm, "sd_known": sd_known},
    )


def unbalanced(case: Case, arm: str, more: int) -> Message:
    """One arm has more than twice the runs of the other."""
    return Message("launch.unbalanced", {**_runs(case), "arm": arm, "more": more})


def infeasible_repeats(candidate: Arm, baseline: Arm) -> list[Message]:
    """More repeats of the candidate than of the baseline were infeasible."""
    if candidate.infeasible <= baseline.infeasible:
        return []
    facts = {
        "candidate": candidate.infeasible,
        "candidate_asked": candidate.asked,
        "baseline": baseline.infeasible,
        "baseline_asked": baseline.asked,
    }
    return [Message("launch.infeasible_repeats", facts)]


def caveats(case: Case, study: Spread | None = None) -> list[Message]:
    """What in the runs themselves limits the verdict."""
    own, other = case.candidate, case.baseline
    found: list[Message] = []
    if case.claim == "feature" and study is None and not case.not_worse:
        found.append(Message("launch.only_this_point"))
    if case.plan.looks == (1,):
        found.append(Message("launch.one_run"))
    elif case.plan.sequential and case.runs not in case.plan.looks:
        facts = {"runs": case.runs, "looks": list(case.plan.looks)}
        found.append(Message("launch.unplanned_look", facts))
    if case.posterior is not None and bool(case.posterior.conflict):
        found.append(Message("launch.history_contradicted", {"sd": float(case.history.sd)}))
    if own.sd > 0 and other.sd > 0:
        ratio = max(own.sd, other.sd) / min(own.sd, other.sd)
        if ratio > _SD_RATIO:
            noisy = own.label if own.sd > other.sd else other.label
            found.append(Message("launch.unequal_spread", {"arm": noisy, "ratio": ratio}))
    for arm in (own, other):
        if arm.identical and arm.alike is not False and not case.exact:
            facts = {"runs": len(arm.values), "arm": arm.label}
            found.append(Message("launch.same_curves", facts))
        if arm.failed or arm.unfinished:
            lost = {"asked": arm.asked, "failed": arm.failed, "unfinished": arm.unfinished}
            found.append(Message("launch.lost_runs", {"arm": arm.label, **lost}))
    if other.infeasible > own.infeasible:
        facts = {"infeasible": other.infeasible, "asked": other.asked}
        found.append(Message("launch.baseline_infeasible", facts))
    if other_code(own, other):
        code = {"candidate": sorted(own.code), "baseline": sorted(other.code)}
        found.append(Message("launch.different_code", code))
    return found


def fixed_caveats(candidate: Arm, baseline: Arm) -> list[Message]:
    """What the rounds held fixed limits every conclusion."""
    arms = (candidate, baseline)
    rounds = [arm.round for arm in arms if arm.round is not None]
    fixed = dict.fromkeys(f for round in rounds for study in round.studies for f in study.fixed)
    found: list[Message] = []
    for one in fixed:
        if not all(_has(arm, one.name, one.value) for arm in arms):
            continue  # what the two do not share is what is being compared
        when = [list(condition) for condition in one.when]
        caveat = Message("launch.holds_for", {"name": one.name, "value": one.value, "when": when})
        if caveat not in found:
            found.append(caveat)
    return found


def _has(arm: Arm, name: str, value: Value) -> bool:
    """Whether an arm was trained with this value; one without a configuration may have been."""
    own = arm.configuration
    return not own or (name in own and same_value(own[name], value))


def _asked(case: Case) -> dict[str, float | None]:
    """What the gain has to exceed, or the margin that it may fall short by."""
    margin = -case.must_exceed if case.not_worse else None
    return {"must_exceed": case.must_exceed, "not_worse_by": margin}


def _runs(case: Case) -> dict[str, int]:
    own, other = case.candidate, case.baseline
    return {"candidate_runs": len(own.values), "baseline_runs": len(other.values)}
