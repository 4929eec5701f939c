from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import tunewright as tw
from tunewright.design.conditions import given
from tunewright.design.study import Study
from tunewright.search.bayesian.bayesian import Bayesian
from tunewright.search.bayesian.encoding import Encoding
from tunewright.search.bayesian.history import history
from tunewright.search.bayesian.model import Recipe
from tunewright.search.bayesian.user_prior import beliefs_of, contradicted, remaining
from tunewright.store.trial import Trial

BOX = {
    "rate": tw.log(1e-5, 1),
    "decay": tw.linear(0, 1),
    "momentum": tw.ranges.log_from_one(0.5, 0.999),
    "warmup": tw.linear(0, 1),
}
GOOD = {
    **BOX,
    "rate": BOX["rate"].around(3e-4, factor=3),
    "decay": tw.linear(0, 1).around(0.7, width=0.1),
}
BAD = {
    **BOX,
    "rate": BOX["rate"].around(0.3, factor=3),
    "decay": tw.linear(0, 1).around(0.1, width=0.1),
}
BEST = {"rate": 0.33, "decay": 0.75, "momentum": 0.6, "warmup": 0.4}  # positions


def study_of(nuisance: Mapping[str, Any], seed: int = 0, trials: int = 30) -> Study:
    round = tw.Round("r", goal="?", nuisance=nuisance, trials_per_study=trials, seed=seed)
    return round.studies[0]


def bowl(unit: Mapping[str, float]) -> float:
    return sum((unit[name] - at) ** 2 for name, at in BEST.items())


def completed(
    index: int, unit: Mapping[str, float], value: float | None, **configuration: Any
) -> Trial:
    """A trial that ended; without a value, one that diverged."""
    status = "infeasible" if value is None else "completed"
    return Trial(
        number=index,
        study=0,
        index=index,
        configuration=configuration,
        unit=unit,
        status=status,  # type: ignore[arg-type]
        value=value,
    )


def ran(
    study: Study,
    count: int,
    value: Callable[[Mapping[str, float]], float] = bowl,
    search: Bayesian | None = None,
) -> list[Trial]:
    trials: list[Trial] = []
    for index in range(count):
        (one,) = (search or Bayesian()).suggest(study, trials, 1)
        found = value(one.unit)
        trials.append(completed(index, one.unit, found, **one.configuration))
    return trials


@pytest.mark.parametrize(
    "own",
    [
        tw.log(1e-5, 1).around(3e-4, factor=3),
        tw.linear(0, 1).around(0.02, width=0.3),
        tw.ranges.log_from_one(0.5, 0.999).around(0.9, factor=2),
        tw.integers(1, 64, log=True).around(8, factor=2),
        tw.ranges.powers_of_two(16, 1024).around(64, factor=2),
        tw.choice("adam", "sgd", "lion").around("sgd", factor=4),
    ],
    ids=str,
)
def test_draws_follow_the_density_and_its_slope_is_its_own(own: Any) -> None:
    (column,) = beliefs_of(Encoding(study_of({"x": own}))).columns
    even = (np.arange(30_000) + 0.5) / 30_000
    density = np.exp(column.log_density(even))
    assert math.isclose(density.mean(), 1.0, rel_tol=1e-3)
    drawn, _ = np.histogram(column.sample(even), bins=3, range=(0, 1))
    expected = density.reshape(3, -1).mean(axis=1)
    assert np.allclose(drawn / len(even) * 3, expected, atol=0.01)
    for at in (0.1, 0.4, 0.9) if column.sd else ():
        pair = column.log_density(np.array([at - 1e-6, at + 1e-6]))
        assert math.isclose(
            column.slope(at), (pair[1] - pair[0]) / 2e-6, rel_tol=1e-3, abs_tol=1e-6
        )


def test_the_first_trial_is_at_the_believed_values_and_every_other_one_near() -> None:
    study = study_of(GOOD)
    first = Bayesian().suggest(study, [], 6)
    assert math.isclose(first[0].configuration["rate"], 3e-4, rel_tol=1e-9)  # type: ignore[arg-type]
    assert math.isclose(first[0].configuration["decay"], 0.7, rel_tol=1e-9)  # type: ignore[arg-type]
    plain = Bayesian().suggest(study_of(BOX), [], 6)
    assert [one.unit for one in first[1::2]] == [one.unit for one in plain[1::2]]
    assert [one.unit["warmup"] for one in first] == [one.unit["warmup"] for one in plain]


def test_without_a_belief_nothing_changes_and_none_can_be_ignored() -> None:
    plain = ran(study_of(BOX), 12)
    ignoring = ran(study_of(GOOD), 12, search=Bayesian(recipe=Recipe(belief=0.0)))
    assert [t.unit for t in ignoring] == [t.unit for t in plain]


def test_a_good_belief_finds_sooner_and_a_misleading_one_is_dropped() -> None:
    after = {"none": [], "good": [], "bad": []}  # type: dict[str, list[float]]
    for seed in range(2):
        for name, box in (("none", BOX), ("good", GOOD), ("bad", BAD)):
            study = study_of(box, seed)
            trials = ran(study, 25)
            values = [t.value or 0.0 for t in trials]
            after[name].append(min(values[:8]) if name == "good" else min(values))
            known = history(study, trials)
            kept = remaining(beliefs_of(known.encoding), known, 10.0)
            assert len(kept.columns) == {"none": 0, "good": 2, "bad": 0}[name]
            assert kept.weight == 10.0 * 10 / 25**2, "it fades with the square of the outcomes"
    assert np.mean(after["good"]) < 0.05, "eight trials with it"
    assert max(after["bad"]) < 0.1, "25 trials, most of them after it was dropped"


def test_noise_alone_seldom_contradicts() -> None:
    dropped = 0
    for seed in range(40):
        study = study_of(GOOD, seed)
        random = np.random.default_rng(seed)
        positions = random.random((20, 4))
        trials = [
            completed(n, dict(zip(BOX, row, strict=True)), value)
            for n, (row, value) in enumerate(
                zip(positions.tolist(), random.random(20), strict=True)
            )
        ]
        known = history(study, trials)
        dropped += sum(contradicted(one, known) for one in beliefs_of(known.encoding).columns)
    assert dropped <= 20, "of 80, by two tests at every number of trials up to 20"


def test_diverged_trials_in_its_region_contradict() -> None:
    study = study_of({"rate": BAD["rate"]})
    trials = [
        completed(n, {"rate": 0.9}, None) if n % 2 else completed(n, {"rate": 0.04 * n}, 1.0 + n)
        for n in range(16)
    ]
    known = history(study, trials)
    (column,) = beliefs_of(known.encoding).columns
    assert contradicted(column, known)
    assert not contradicted(column, history(study, trials[:4]))


# position and value of each trial; the region of the belief is about 0.33 to 0.67
_LUCKY = [(0.5, 0.0), (0.1, 0.1), (0.2, 0.2), (0.8, 0.3), (0.9, 0.4), (0.05, 0.5), (0.95, 0.6)]
_BAD = [(0.45, 0.9), (0.55, 1.0), (0.4, 1.1), (0.6, 1.2), (0.48, 1.3)]


@pytest.mark.parametrize(
    ("trials", "dropped"),
    [
        (_LUCKY + _BAD, True),  # one of the best is inside, all the others there are the worst
        ([*_LUCKY, *((at, -value) for at, value in _BAD)], False),  # they are the best
        ([*_LUCKY, *_BAD[:1]], False),  # two inside are too few to be compared
        ([(at, 0.1 * ((7 * n) % 12)) for n, (at, _) in enumerate(_LUCKY + _BAD)], False),
    ],
    ids=["worse inside", "better inside", "two inside", "no difference"],
)
def test_worse_trials_in_its_region_contradict(
    trials: list[tuple[float, float]], dropped: bool
) -> None:
    study = study_of({"x": tw.linear(0, 1).around(0.5, width=0.085)})
    known = history(study, [completed(n, {"x": at}, value) for n, (at, value) in enumerate(trials)])
    (column,) = beliefs_of(known.encoding).columns
    assert [bool(one) for one in column.inside(known.rows[:, 0])].count(True) >= 2
    assert contradicted(column, known) is dropped


def test_a_conditional_belief_acts_where_it_is_active() -> None:
    space = {
        "optimizer": given({"adam": {"rate": GOOD["rate"]}, "sgd": {"nesterov": [True, False]}})
    }
    study = study_of(space)
    trials = ran(study, 14, lambda unit: sum(unit.values()))
    assert {t.configuration["optimizer"] for t in trials} == {"adam", "sgd"}
