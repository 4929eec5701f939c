from __future__ import annotations

import numpy as np
import pytest
from tests.checks.rates import agrees, at_most
from tests.checks.space_worlds import regions

from tunewright.checks._region import Feature, features_of, region
from tunewright.checks.positions import study_trials
from tunewright.design.names import Meaning
from tunewright.design.ranges import integers, linear, log, log_from_one
from tunewright.design.round import Round
from tunewright.testing import Bowl, results

STUDIES = 40


@pytest.mark.parametrize(
    ("count", "world", "flips", "published"),
    # the published rates; at 16 trials ours finds more, since 999 permutations resolve a p of .01
    [(10, "rate", 0.0, 0.0), (30, "rate", 0.0, 1.0), (30, "rate", 0.05, 0.84)],
)
def test_a_threshold_of_the_rate_is_found(
    count: int, world: str, flips: float, published: float
) -> None:
    found, right = regions(count, world, STUDIES, flips)
    assert agrees(found, STUDIES, published, slack=0.06)
    assert right >= found - 3


def test_the_ratio_is_found_and_named_with_enough_trials() -> None:
    found, right = regions(30, "ratio", STUDIES)
    assert found == STUDIES
    assert right / STUDIES >= 0.85


@pytest.mark.parametrize("count", [16, 30])
def test_trials_that_diverge_anywhere_make_no_region(count: int) -> None:
    assert at_most(regions(count, "random", STUDIES)[0], STUDIES, 0.008)


def test_it_needs_three_of_each_kind() -> None:
    feature = [Feature("learning_rate", np.arange(30.0), True)]
    assert region(feature, np.arange(30) > 27, 1) is None
    own = region(feature, np.arange(30) > 26, 1)
    assert own is not None
    assert own.between == pytest.approx((1e26, 1e27)) and own.rises  # decades
    assert region(feature, np.arange(30) < 2, 1) is None
    assert region(feature, np.arange(30) > 1, 1) is None  # two that are feasible


def test_the_threshold_lies_between_two_trials() -> None:
    values = np.log10(np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]) / 100)
    own = region([Feature("learning_rate", values, True)], values > np.log10(0.105), 1)
    assert own is not None
    assert own.clear
    assert own.rises
    assert own.between == pytest.approx((0.1, 0.11))
    assert (own.purity, own.recall) == (1.0, 1.0)


def test_the_threshold_of_momentum_is_on_its_natural_scale() -> None:
    momentum = 1 - np.logspace(-3, -1, 16)
    own = region(
        [Feature("momentum", np.log10(1 - momentum), True, of_one_minus=True)], momentum > 0.99, 1
    )
    assert own is not None
    assert own.rises
    assert own.between[0] < 0.99 < own.between[1]


def test_a_tendency_names_what_separates_best_and_no_threshold() -> None:
    random = np.random.default_rng(0)
    rate = random.random(200)
    bad = random.random(200) < 0.6 * rate
    other = Feature("other", random.random(200), True)
    own = region([other, Feature("learning_rate", rate, True)], bad, 2)
    assert own is not None
    assert not own.clear
    assert (own.feature.name, own.rises) == ("learning_rate", True)


def test_the_effective_rate_is_a_candidate_of_its_own() -> None:
    nuisance = {
        "lr": log(1e-4, 1e-1),
        "momentum": log_from_one(0.8, 0.99),
        "dropout": linear(0.0, 0.5),
        "width": integers(8, 512, log=True),
    }
    made = results(Round("r", goal="?", nuisance=nuisance, trials_per_study=8), Bowl({"lr": 0.5}))
    own = study_trials(made)[0]
    features, singles = features_of(own, range(8), Meaning({"learning_rate": "lr"}))
    names = [feature.name for feature in features]
    assert names[:singles] == ["lr", "momentum", "dropout", "width", "lr / (1 - momentum)"]
    assert "lr * width" in names
    assert not any("dropout" in name for name in names[singles:])
    configuration = own.trials[0].configuration
    effective = configuration["lr"] / (1 - configuration["momentum"])  # type: ignore[operator]
    assert features[4].natural(features[4].values[0]) == pytest.approx(effective)
