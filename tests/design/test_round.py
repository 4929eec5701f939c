from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given as forall
from tests.strategies import rounds

from tunewright.design.conditions import given
from tunewright.design.ranges import choice, linear, log
from tunewright.design.round import Round

DEPTH = Round(
    "depth",
    goal="Do more hidden layers lower the validation error?",
    scientific={"hidden_layers": [1, 2, 3], "norm": ["layer", "batch"]},
    nuisance={"learning_rate": log(1e-4, 1e-1)},
    fixed={"batch_size": 128, "max_train_steps": 500},
    trials_per_study=16,
)


def test_one_study_per_setting_of_the_lists() -> None:
    assert [study.scientific for study in DEPTH.studies] == [
        {"hidden_layers": layers, "norm": norm}
        for layers in (1, 2, 3)
        for norm in ("layer", "batch")
    ]
    assert DEPTH.trials == 6 * 16


def test_a_scientific_range_is_searched_within_one_study() -> None:
    round = dataclasses.replace(DEPTH, scientific={"dropout": linear(0, 0.5)})
    (study,) = round.studies
    assert [h.column for h in study.space] == ["dropout", "learning_rate"]


@forall(rounds())
def test_every_study_carries_the_rounds_seed_and_number(round: Round) -> None:
    assert [study.number for study in round.studies] == list(range(len(round.studies)))
    assert {(s.of, s.seed, s.trials) for s in round.studies} == {
        (len(round.studies), round.seed, round.trials_per_study)
    }
    numbers = {s.trial_number(i) for s in round.studies for i in range(round.trials_per_study)}
    assert numbers == set(range(round.trials))


def test_names_and_caveats() -> None:
    round = Round(
        "r",
        goal="?",
        scientific={"optimizer": ["adam", "sgd"]},
        nuisance={"optimizer": given({"adam": {"beta1": linear(0, 0.9)}, "sgd": {}})},
        fixed={
            "batch_size": 128,
            "optimizer": given({"adam": {"beta2": 0.999}, "sgd": {}}),
        },
        trials_per_study=2,
    )
    assert round.names == ("optimizer", "beta1", "batch_size", "beta2")
    assert [caveat.facts for caveat in round.caveats] == [
        {"fixed": {"batch_size": 128}, "when": {}},
        {"fixed": {"beta2": 0.999}, "when": {"optimizer": "adam"}},
    ]
    assert round.caveats[1].text == "holds for beta2 = 0.999 under optimizer = adam"


def test_lists_are_choices_and_later_changes_change_nothing() -> None:
    layers = [1, 2]
    fixed = {"batch_size": 128}
    round = Round("r", goal="?", scientific={"layers": layers}, fixed=fixed, trials_per_study=1)
    layers.append(3)
    fixed["width"] = 4
    assert round.scientific == {"layers": choice(1, 2)}
    assert round.fixed == {"batch_size": 128}
    with pytest.raises(dataclasses.FrozenInstanceError):
        round.seed = 1


def test_ten_thousand_hyperparameters() -> None:
    round = Round(
        "wide", goal="?", nuisance={f"h{i}": log(1, 2) for i in range(10_000)}, trials_per_study=1
    )
    assert len(round.studies[0].space) == 10_000
