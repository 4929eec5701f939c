from __future__ import annotations

import pytest

from tunewright.design.conditions import given
from tunewright.design.ranges import choice, linear, log
from tunewright.design.round import Round
from tunewright.errors import DesignError
from tunewright.search.listed import Listed
from tunewright.store.trial import Trial
from tunewright.testing import check_search

DEPTH = Round(
    "depth",
    goal="Do more layers help?",
    scientific={"layers": [1, 2]},
    nuisance={"learning_rate": log(1e-4, 1), "norm": choice("layer", "batch")},
    fixed={"batch_size": 128},
    trials_per_study=2,
)
HAND = [
    {"learning_rate": 0.1, "norm": "layer"},
    {"learning_rate": 0.3, "norm": "batch", "layers": 2},
    {"learning_rate": 0.01, "norm": "batch", "batch_size": 128},
    {"learning_rate": 0.2, "norm": "batch", "layers": 1},
]


def test_it_keeps_the_contract() -> None:
    check_search(Listed(HAND), DEPTH.studies)


def test_each_study_gets_its_own_in_order_and_completed() -> None:
    one, two = (Listed(HAND).suggest(study, [], 10) for study in DEPTH.studies)
    assert [s.configuration for s in one] == [
        {"learning_rate": 0.1, "norm": "layer", "layers": 1, "batch_size": 128},
        {"learning_rate": 0.01, "norm": "batch", "layers": 1, "batch_size": 128},
        {"learning_rate": 0.2, "norm": "batch", "layers": 1, "batch_size": 128},
    ]
    assert [s.configuration["learning_rate"] for s in two] == [0.1, 0.3, 0.01]
    assert one[0].unit == {"learning_rate": log(1e-4, 1).unit(0.1), "norm": 0.25}


def test_it_continues_after_the_claimed_ones() -> None:
    study = DEPTH.studies[0]
    claimed = [
        Trial(number=0, study=0, index=0, configuration={}, unit={}, status="running"),
        Trial(number=4, study=0, index=None, configuration={}, unit={}, status="running"),
    ]
    (next_one,) = Listed(HAND).suggest(study, claimed, 1)
    assert next_one.configuration["learning_rate"] == 0.01
    assert (
        Listed(HAND).suggest(
            study,
            [Trial(number=4, study=0, index=2, configuration={}, unit={}, status="running")],
            5,
        )
        == []
    )


def test_a_grid() -> None:
    grid = Listed.grid(learning_rate=[0.1, 0.01], norm=["layer", "batch"])
    assert [tuple(c.values()) for c in grid.configurations] == [
        (0.1, "layer"),
        (0.1, "batch"),
        (0.01, "layer"),
        (0.01, "batch"),
    ]
    check_search(grid, DEPTH.studies)


def test_conditional_configurations() -> None:
    round = Round(
        "r",
        goal="?",
        nuisance={"optimizer": given({"adam": {"beta1": linear(0, 1)}, "sgd": {}})},
        fixed={"optimizer": given({"adam": {}, "sgd": {"momentum": 0.9}})},
        trials_per_study=2,
    )
    listed = Listed([{"optimizer": "adam", "beta1": 0.5}, {"optimizer": "sgd"}])
    listed.check(round.studies)
    adam, sgd = listed.suggest(round.studies[0], [], 2)
    assert adam.unit == {"optimizer": 0.25, "optimizer.adam.beta1": 0.5}
    assert sgd.configuration == {"optimizer": "sgd", "momentum": 0.9}


def test_later_changes_change_nothing() -> None:
    mine = [{"learning_rate": 0.1, "norm": "layer"}]
    listed = Listed(mine)
    mine[0]["learning_rate"] = 7
    mine.append({})
    assert listed.configurations == ({"learning_rate": 0.1, "norm": "layer"},)


@pytest.mark.parametrize(
    "configuration, said",
    [
        (
            {"norm": "layer"},
            "configuration 0: the configuration lacks learning_rate: log(0.0001, 1)",
        ),
        ({"learning_rate": 5, "norm": "layer"}, "learning_rate: 5 lies outside log(0.0001, 1)."),
        ({"learning_rate": 1, "norm": "group"}, "norm: 'group' is not one of ['layer', 'batch']."),
        (
            {"learning_rate": 1, "norm": "layer", "batch_size": 64},
            "batch_size = 64, but the round fixes it at 128.",
        ),
        (
            {"learning_rate": 1, "norm": "layer", "batchsize": 64},
            "study layers=1 has no 'batchsize'. Did you mean 'batch_size'?",
        ),
    ],
)
def test_a_configuration_that_does_not_fit(configuration, said) -> None:
    with pytest.raises(DesignError) as refused:
        Listed([configuration]).suggest(DEPTH.studies[0], [], 1)
    assert said in str(refused.value)


def test_all_misfits_are_said_at_once() -> None:
    listed = Listed([{"layers": 3}, {"layers": 1}, *HAND[:2]])
    with pytest.raises(DesignError) as refused:
        listed.check(DEPTH.studies)
    said = str(refused.value).split("\n")
    assert said[0].startswith("Listed(): configuration 0, {'layers': 3}, belongs to none of")
    assert said[1].startswith("Listed(): configuration 1: the configuration lacks learning_rate")
    assert len(said) == 2
    with pytest.raises(DesignError, match="study layers=1 has 1 configurations for 2 trials"):
        Listed(HAND[:2]).check(DEPTH.studies)
    Listed(HAND).check(DEPTH.studies)


def test_nothing_listed() -> None:
    with pytest.raises(DesignError, match="no configurations"):
        Listed([])
    with pytest.raises(DesignError, match="configuration 0, 3, is not a mapping"):
        Listed([3])
