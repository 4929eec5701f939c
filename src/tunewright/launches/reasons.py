"""The reasons and caveats of a launch, in sentences with their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from tunewright.launches.arm import Arm
from tunewright.launches.case import Case
from tunewright.launches.plan import MOST_RUNS, Claim, runs_for
from tunewright.stats.spread import Spread

SD_RATIO = 3.0  # between the arms: beyond it five skewed runs cannot tell a shift from a spread
SHRINK = 2.0  # an observed gain of n runs counts n / (n + 2): gains are about one sd large


def shrunk(gain: float, runs: int) -> float:
    """What to expect of a gain seen with so many runs per arm.

    Gains that are launched were lucky ones on average: with five runs each the mean observed gain
    of launched candidates was 1.52 standard deviations, the true one 1.08, the shrunk one 1.09.

    >>> shrunk(1.52, 5).__round__(2)
    1.09
    """
    return gain * runs / (runs + SHRINK)


def sureness(case: Case) -> str:
    """How probable the claim is, and how probable it would have to be."""
    p, sure = case.probability(), case.threshold
    if case.not_worse:
        what = f"{case.candidate.label} is worse than {case.baseline.label} by no more than "
        what += f"{-case.must_exceed:.3g}"
    else:
        worth = f" by more than {case.must_exceed:.3g}" if case.must_exceed else ""
        what = f"{case.candidate.label} is better than {case.baseline.label}{worth}"
    return f"{what} with probability {percent(p)}; it takes {percent(sure)}"


def difference(case: Case) -> str:
    """Both means, and what to expect of the gain."""
    assert case.posterior is not None
    own, other, n = case.candidate, case.baseline, case.runs
    observed = float(case.posterior.mean)
    low, high = (float(end) for end in case.posterior.interval())
    way = "better" if observed > 0 else "worse"
    gained = (
        f"{way} by about {shrunk(abs(observed), n):.3g} ({abs(observed):.3g} as seen, shrunk for "
        "luck; "
    )
    return (
        f"{own.objective.metric} {own.mean:.4g} ({len(own.values)} runs) against {other.mean:.4g} "
        f"({len(other.values)}): {gained if observed else 'equal ('}"
        f"90 % interval {low:.3g} to {high:.3g})"
    )


def planning(case: Case) -> list[str]:
    """How many runs would find a gain of the size that was declared, or seen."""
    n, sd = case.runs, case.sd
    assert case.posterior is not None
    effect = case.detect or shrunk(float(case.posterior.mean), n) - case.must_exceed
    if not effect > 0 or not sd > 0:
        return []
    runs = runs_for(effect / sd, case.threshold)
    if runs <= n:
        return []
    if runs > MOST_RUNS:
        return [
            f"a gain of {effect:.3g} is too small to see: even {MOST_RUNS} runs each would find it "
            "in fewer than 80 of 100 decisions"
        ]
    return [f"to find a gain of {effect:.3g} in 80 of 100 decisions takes about {runs} runs each"]


def errors(case: Case, rate: float) -> str:
    """How often this rule launches what should not be."""
    if case.not_worse:
        what = f"one that is worse by {-case.must_exceed:.3g}"
    elif case.must_exceed:
        what = f"a change that gains no more than {case.must_exceed:.3g}"
    else:
        what = "a change that does nothing"
    most = "at most " if case.plan.looks == (1,) or case.must_exceed > 0 else "about "
    if case.candidates > 1:
        what += f", in any of {case.candidates} candidates,"
    return f"{what} is launched by this rule in {most}{percent(rate)} of decisions"


def about(claim: Claim) -> str:
    """What a claim is about."""
    return "a feature" if claim == "feature" else "hyperparameters only"


def luck(spreads: Sequence[Spread]) -> list[str]:
    """Which luck beside that of the seeds the interval allows for."""
    kinds = {"trial": "the seeds", "study": "tuning", "data": "the evaluation data"}
    return [
        f"the luck of {kinds[one.source]} is in it: a standard deviation of {one.sd:.3g} {one.how}"
        for one in spreads
    ]


def caveats(case: Case, study: Spread | None = None) -> list[str]:
    """What in the runs themselves limits the verdict."""
    own, other = case.candidate, case.baseline
    found = []
    if case.claim == "feature" and study is None and not case.not_worse:
        found.append(
            "about this point: whether the feature helps however it is tuned is not asked here"
        )
    if case.plan.looks == (1,):
        found.append(
            "one run: an effect of two standard deviations is found less than half the time"
        )
    elif case.plan.sequential and case.runs not in case.plan.looks:
        looks = ", ".join(map(str, case.plan.looks))
        found.append(f"judged at {case.runs} runs, which is not one of the planned looks ({looks})")
    if case.posterior is not None and bool(case.posterior.conflict):
        found.append(
            f"earlier repeats had a standard deviation of {float(case.history.sd):.3g}; these "
            "contradict it, and it was left out"
        )
    if own.sd > 0 and other.sd > 0:
        ratio = max(own.sd, other.sd) / min(own.sd, other.sd)
        if ratio > SD_RATIO:
            noisy = own.label if own.sd > other.sd else other.label
            found.append(
                f"{noisy} varies {ratio:.1f} times as much as the other: with skewed noise five "
                "runs each then launch up to 22 % of equal pairs"
            )
    for arm in (own, other):
        if len(arm.values) > 1 and arm.sd == 0 and arm.alike is not False:
            found.append(
                f"all {len(arm.values)} repeats of {arm.label} went the same way: does the "
                "program use its seed?"
            )
        if arm.failed or arm.unfinished:
            lost = [f"{arm.failed} failed"] * bool(arm.failed)
            lost += [f"{arm.unfinished} have not ended"] * bool(arm.unfinished)
            found.append(f"of the {arm.asked} repeats of {arm.label}, {' and '.join(lost)}")
    if other.infeasible > own.infeasible:
        found.append(f"{other.infeasible} of {other.asked} repeats of the baseline were infeasible")
    if own.code and other.code and own.code != other.code:
        found.append(
            f"candidate and baseline ran different code ({', '.join(sorted(own.code))} and "
            f"{', '.join(sorted(other.code))}): the gain is that of everything that changed"
        )
    return found


def fixed_caveats(candidate: Arm, baseline: Arm) -> list[str]:
    """What the rounds held fixed limits every conclusion."""
    rounds = [arm.round for arm in (candidate, baseline) if arm.round is not None]
    return list(dict.fromkeys(caveat for round in rounds for caveat in round.caveats))


def percent(p: float) -> str:
    """A probability in per cent, never rounded to certainty.

    >>> [percent(p) for p in (0.965, 0.78, 0.9999, 0.0001)]
    ['96.5 %', '78 %', 'over 99.9 %', 'below 0.1 %']
    """
    if 0.999 < p < 1:
        return "over 99.9 %"
    if 0 < p < 0.001:
        return "below 0.1 %"
    return f"{100 * p:.3g} %"
