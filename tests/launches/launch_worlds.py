"""Simulated and recorded launches: how often does each rule launch, and with how many runs?

Everything goes through the formulas of the product (`gain`, `Plan.threshold`), thousands of
decisions at a time; effects are in standard deviations between runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tests.launches.arms import noise

from tunewright.launches.launch import FIVE_LOOKS, FUTILE, Claim, Plan, fixed
from tunewright.stats.gain import NOTHING, Gain, History, gain, paired_gain
from tunewright.stats.shrinkage import shrunk

NOISES = ("normal", "skew", "t3", "outlier")
HISTORIES = ("none", "fresh", "half", "double")
MOST_SHRUNK = 2000  # launches whose expected gain is computed one by one
CLAIMS: tuple[Claim, Claim] = ("feature", "hyperparameters")


def history(kind: str, noises: str, count: int, seed: int) -> History:
    """What is known before: nothing, five earlier runs that drifted, or an sd wrong by 2."""
    if kind == "none":
        return NOTHING
    if kind == "fresh":
        earlier = noise(noises, (count, 5), seed + 900)
        drift = np.exp(0.25 * np.random.default_rng(seed + 901).standard_normal(count))
        return History.from_repeats(drift * earlier.std(axis=1, ddof=1), 4)
    return History.from_repeats(np.full(count, 0.5 if kind == "half" else 2.0), 4)


def arms(kind: str, count: int, runs: int, effect: float, seed: int, ratio: float = 1.0):
    """Candidate and baseline, one decision per row; the candidate may be noisier."""
    both = noise(kind, (2, count, runs), seed)
    return effect + ratio * both[0], both[1]


@dataclass(frozen=True)
class Rates:
    """How often a rule launched, by claim, and how many runs of each arm it took."""

    launched: tuple[float, float]
    runs: tuple[float, float]


def fixed_rates(
    kind: str, past: str, runs: int, effect: float, count: int, seed: int, cost: float = 0.0
) -> Rates:
    """One look at so many runs of each."""
    b, a = arms(kind, count, runs, effect, seed)
    sure = gain(b, a, history(past, kind, count, seed)).probability(cost)
    plan = fixed(runs)
    shares = [float((sure >= plan.threshold(c, not_worse=False)).mean()) for c in CLAIMS]
    return Rates((shares[0], shares[1]), (runs, runs))


def sequential_rates(
    kind: str,
    past: str,
    effect: float,
    count: int,
    seed: int,
    plan: Plan = FIVE_LOOKS,
    margin: float | None = None,
    candidates: int = 1,
) -> Rates:
    """Several looks, with the futility stop; `margin`: is it worse by no more than this?"""
    b, a = arms(kind, count, plan.looks[-1], effect, seed)
    known = history(past, kind, count, seed)
    shares, spent = [], []
    for claim in CLAIMS:
        going, launched = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
        runs = np.full(count, plan.looks[-1])
        threshold = plan.threshold(claim, not_worse=margin is not None, candidates=candidates)
        for place, look in enumerate(plan.looks):
            found = gain(b[:, :look], a[:, :look], known)
            cost = 0.0 if margin is None else -margin
            sure = found.probability(cost)
            worth = found.probability(cost if margin is not None else cost + found.sd)
            over = going & (sure >= threshold)
            futile = going & ~over & (worth <= FUTILE) & (place > 0) & plan.stops_early
            launched |= over
            runs[over | futile] = look
            going &= ~(over | futile)
        shares.append(float(launched.mean()))
        spent.append(float(runs.mean()))
    return Rates((shares[0], shares[1]), (spent[0], spent[1]))


def one_run_rates(
    kind: str, freedom: int, drift: float, effect: float, count: int, seed: int
) -> Rates:
    """One run each, with an sd known from earlier runs of so many degrees of freedom."""
    b, a = arms(kind, count, 1, effect, seed)
    earlier = noise(kind, (count, freedom + 1), seed + 900).std(axis=1, ddof=1)
    earlier = earlier * np.exp(drift * np.random.default_rng(seed + 901).standard_normal(count))
    sure = gain(b, a, History.from_repeats(earlier, freedom)).probability()
    plan = fixed(1)
    shares = [float((sure >= plan.threshold(c, not_worse=False)).mean()) for c in CLAIMS]
    return Rates((shares[0], shares[1]), (1, 1))


def paired_rates(share: float, splits: int, effect: float, count: int, seed: int) -> Rates:
    """Both arms on the same splits, which make this share of the variance of a run."""
    random = np.random.default_rng([seed, splits])
    common = np.sqrt(share) * random.standard_normal((count, splits))
    own = np.sqrt(1 - share) * random.standard_normal((2, count, splits))
    earlier = np.sqrt(1 - share) * random.standard_normal((count, 5)).std(axis=1, ddof=1)
    b, a = effect + common + own[0], common + own[1]
    sure = paired_gain(b - a, History.from_repeats(earlier, 4)).probability()
    plan = fixed(splits)
    shares = [float((sure >= plan.threshold(c, not_worse=False)).mean()) for c in CLAIMS]
    return Rates((shares[0], shares[1]), (splits, splits))


def any_of(candidates: int, count: int, seed: int) -> Rates:
    """How often any of several equal candidates is launched over one baseline, 5 runs each."""
    both = noise("normal", (candidates + 1, count, 5), seed)
    plan = fixed(5)
    shares = []
    for claim in CLAIMS:
        threshold = plan.threshold(claim, not_worse=False, candidates=candidates)
        any_one = np.zeros(count, dtype=bool)
        for own in both[1:]:
            any_one |= gain(own, both[0]).probability() >= threshold
        shares.append(float(any_one.mean()))
    return Rates((shares[0], shares[1]), (5, 5))


@dataclass(frozen=True)
class Curse:
    """The mean gain of what was launched: as seen, shrunk, and true."""

    seen: float
    shrunk: float
    true: float


def launched_gains(claim: Claim, runs: int, count: int, seed: int) -> Curse:
    """Candidates whose effects are normal with one standard deviation between runs."""
    effects = np.random.default_rng([seed, runs]).standard_normal(count)
    b, a = arms("normal", count, runs, 0.0, seed)
    found = gain(b + effects[:, None], a)
    over = found.probability() >= fixed(runs).threshold(claim, not_worse=False)
    seen = float(found.mean[over].mean())
    rows = np.flatnonzero(over)[:MOST_SHRUNK]
    expected = float(np.mean([shrunk(_one(found, row)).mean for row in rows]))
    return Curse(seen, expected, float(effects[over].mean()))


def _one(many: Gain, row: int) -> Gain:
    """One decision of a simulation of many."""
    own = (np.asarray(part)[row] for part in (many.mean, many.error, many.freedom, many.sd))
    return Gain(*own, np.zeros((), dtype=bool), many.runs)


def tuning_curse(trials: int, spread: float, repeats: int, count: int, seed: int):
    """By how much the best of a study is too good: as found by tuning, and trained again."""
    random = np.random.default_rng([seed, trials])
    truth = spread * random.standard_normal((count, trials))
    seen = truth + random.standard_normal((count, trials))
    best = seen.argmax(axis=1)
    rows = np.arange(count)
    again = truth[rows, best] + random.standard_normal((repeats, count)).mean(axis=0)
    tuned = seen[rows, best] - truth[rows, best]
    return float(tuned.mean()), float((again - truth[rows, best]).mean())


def halves_of(values: np.ndarray, runs: int, count: int, seed: int):
    """Two disjoint random draws of so many runs from one group: the same pipeline twice."""
    random = np.random.default_rng([seed, runs, len(values)])
    order = random.random((count, len(values))).argsort(axis=1)
    return values[order[:, :runs]], values[order[:, runs : 2 * runs]]
