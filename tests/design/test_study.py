from __future__ import annotations

import pytest
from hypothesis import given as forall, strategies as st
from tests.problems import states
from tests.strategies import rounds

from tunewright.design.conditions import given
from tunewright.design.ranges import linear, log
from tunewright.design.round import Round
from tunewright.errors import DesignError

OPTIMIZER = Round(
    "optimizer",
    goal="Is NAdam better than Nesterov momentum here?",
    scientific={"optimizer": ["nadam", "nesterov"]},
    nuisance={
        "optimizer": given(
            {
                "nadam": {"learning_rate": log(1e-5, 1e-2), "beta1": linear(0.8, 0.99)},
                "nesterov": {"learning_rate": log(1e-3, 1.0)},
            }
        ),
        "weight_decay": log(1e-6, 1e-2),
    },
    fixed={
        "max_train_steps": 2000,
        "optimizer": given({"nadam": {"beta2": 0.999}, "nesterov": {}}),
    },
    trials_per_study=4,
)


@forall(rounds(), st.data())
def test_a_configuration_and_its_position_agree(round: Round, data: st.DataObject) -> None:
    for study in round.studies:
        unit = {h.column: data.draw(st.floats(0, 1)) for h in study.space}
        configuration = study.configuration(unit)
        position = study.unit(configuration)
        assert study.configuration(position) == configuration
        active = [h for h in study.space if h.column in position]
        names = [*study.scientific, *(h.name for h in active)]
        fixed = [name for name in configuration if name not in names]
        assert len(names) + len(fixed) == len(configuration)


@forall(rounds())
def test_branches_partition_the_space(round: Round) -> None:
    for study in round.studies:
        covered = {h.column for branch in study.branches for h in branch.dimensions}
        parents = {column for branch in study.branches for column in branch.settings}
        assert covered | parents == {h.column for h in study.space}
        settings = [tuple(branch.settings.items()) for branch in study.branches]
        assert len(set(map(repr, settings))) == len(settings)


def test_conditional_names_keep_their_own_ranges() -> None:
    nadam, nesterov = OPTIMIZER.studies
    middle = {h.column: 0.5 for study in OPTIMIZER.studies for h in study.space}
    assert nadam.configuration(middle)["learning_rate"] == pytest.approx(10**-3.5)
    assert nesterov.configuration(middle)["learning_rate"] == pytest.approx(10**-1.5)
    assert "beta1" not in nesterov.configuration(middle)
    assert nadam.configuration(middle)["beta2"] == 0.999
    assert "beta2" not in nesterov.configuration(middle)


def test_what_every_study_has_comes_first() -> None:
    assert [study.space[0].column for study in OPTIMIZER.studies] == ["weight_decay"] * 2


def test_numbers_interleave_the_studies() -> None:
    numbers = [[study.trial_number(i) for i in range(3)] for study in OPTIMIZER.studies]
    assert numbers == [[0, 2, 4], [1, 3, 5]]


def test_a_nuisance_parent_makes_branches() -> None:
    round = Round(
        "r",
        goal="?",
        nuisance={
            "decay": given({True: {"power": linear(0, 1)}, False: {}}),
            "optimizer": given(
                {"adam": {"fused": given({1: {"a": linear(0, 1)}, 2: {}})}, "sgd": {}}
            ),
        },
        trials_per_study=2,
    )
    (study,) = round.studies
    assert len(study.branches) == 2 * 3  # fused exists under adam only
    assert study.branches[0].settings == {
        "decay": True,
        "optimizer": "adam",
        "optimizer.adam.fused": 1,
    }


def test_a_list_with_fixed_children_is_a_parent_too() -> None:
    round = Round(
        "r",
        goal="?",
        nuisance={"model": ["small", "large"], "learning_rate": log(0.1, 1)},
        fixed={"model": given({"small": {"width": 8}, "large": {"width": 64}})},
        trials_per_study=2,
    )
    (study,) = round.studies
    assert [b.settings for b in study.branches] == [{"model": "small"}, {"model": "large"}]
    large = study.configuration({"model": 0.75, "learning_rate": 0.0})
    assert large == {"model": "large", "learning_rate": 0.1, "width": 64}


def test_labels() -> None:
    assert [study.label for study in OPTIMIZER.studies] == [
        "optimizer=nadam",
        "optimizer=nesterov",
    ]
    assert Round("r", goal="?", trials_per_study=1).studies[0].label == "all"


@pytest.mark.parametrize(
    "configuration, said",
    [
        (
            {"optimizer": "nesterov"},
            ("study.other_setting", {"name": "optimizer", "given": "nesterov", "setting": "nadam"}),
        ),
        (
            {"weight_decay": 1e-3},
            ("study.other_setting", {"name": "optimizer", "given": None, "setting": "nadam"}),
        ),
        (
            {"optimizer": "nadam"},
            ("study.configuration_lacks", {"name": "weight_decay", "range": "log(1e-06, 0.01)"}),
        ),
        (
            {"optimizer": "nadam", "weight_decay": 5.0},
            (
                "range.value_outside",
                {"value": 5.0, "range": "log(1e-06, 0.01)", "within": ["weight_decay"]},
            ),
        ),
    ],
)
def test_a_configuration_of_another_study_has_no_position(configuration, said) -> None:
    with pytest.raises(DesignError) as refusal:
        OPTIMIZER.studies[0].unit(configuration)
    assert states(refusal.value, *said)


def test_a_missing_position_is_named() -> None:
    with pytest.raises(DesignError) as refusal:
        OPTIMIZER.studies[1].configuration({})
    assert states(refusal.value, "study.no_position", {"column": "weight_decay"})
