from __future__ import annotations

import numpy as np
import pytest
from tests.checks.rates import agrees, at_most
from tests.checks.space_worlds import edge_flags, list_flags, pooled_flags

from tunewright.stats.crowding import look, pooled_look

STUDIES = 60


@pytest.mark.parametrize(
    ("count", "optimum", "published"),
    # the published ranges, at their middle; our worlds are known in words only
    [(10, 0.95, 0.52), (10, 1.2, 0.89), (16, 0.95, 0.63), (16, 1.2, 0.97), (30, 1.2, 0.99)],
)
def test_power_at_the_end_is_the_published_one(
    count: int, optimum: float, published: float
) -> None:
    crowd, lone, _ = edge_flags(count, optimum, 0.0, STUDIES)
    assert agrees(crowd + lone, STUDIES, published, slack=0.12)


@pytest.mark.parametrize("count", [10, 16, 30])
@pytest.mark.parametrize("infeasible", [0.0, 0.5])
def test_an_optimum_inside_is_not_flagged_and_what_does_not_matter_rarely(
    count: int, infeasible: float
) -> None:
    crowd, lone, irrelevant = edge_flags(count, 0.5, infeasible, STUDIES)
    assert crowd + lone == 0
    assert at_most(irrelevant, 2 * STUDIES, 0.03)


def test_the_lone_rule_sees_narrow_basins_the_crowd_cannot() -> None:
    crowd, lone, _ = edge_flags(10, None, 0.0, STUDIES)
    assert agrees(crowd, STUDIES, 0.37, slack=0.05)
    assert agrees(crowd + lone, STUDIES, 0.62, slack=0.05)


def test_several_studies_see_together_what_none_sees_alone() -> None:
    assert agrees(pooled_flags(3, 10, 1.2, STUDIES), STUDIES, 0.47, slack=0.12)
    assert at_most(pooled_flags(3, 10, 1.2, STUDIES, axis=2), STUDIES, 0.02)
    assert at_most(pooled_flags(4, 16, 1.2, STUDIES, axis=2, shared=True), STUDIES, 0.02)
    assert pooled_look([np.linspace(0, 1, 10)] * 2, [np.arange(10.0)] * 2) is None


@pytest.mark.parametrize(("values", "published"), [(3, 0.97), (8, 0.75)])
def test_the_last_of_a_list(values: int, published: float) -> None:
    assert list_flags(values, 16, STUDIES) / STUDIES >= published - 0.15
    assert at_most(list_flags(values, 16, STUDIES, axis=2), STUDIES, 0.033)


def test_both_ends_are_treated_alike() -> None:
    units = np.linspace(0, 1, 20)
    losses = (units - 1.3) ** 2
    high, low = look(units, losses), look(1 - units, losses)
    assert (high.side, low.side) == ("high", "low")
    assert high.best == pytest.approx(1 - low.best)


def test_many_trials_are_judged_without_drawing() -> None:
    random = np.random.default_rng(0)
    units = random.random(5000)
    assert look(units, (units - 1.2) ** 2).side == "high"
    assert look(units, (units - 0.5) ** 2).side == ""
    flagged = sum(look(units, random.normal(size=5000)).side != "" for _ in range(40))
    assert at_most(flagged, 40, 0.03)


def test_a_handful_of_trials_says_nothing() -> None:
    assert look(np.linspace(0, 1, 5), -np.linspace(0, 1, 5)).side == ""
    assert look(np.empty(0), np.empty(0)).feasible == 0


@pytest.mark.slow
@pytest.mark.parametrize("infeasible", [0.0, 0.25, 0.5])
def test_irrelevant_hyperparameters_over_all_worlds(infeasible: float) -> None:
    total = flagged = 0
    for count in (10, 16, 30, 50):
        for optimum in (0.5, 0.95, 1.2, None):
            flagged += edge_flags(count, optimum, infeasible, 300)[2]
            total += 600
    assert at_most(flagged, total, 0.03)
