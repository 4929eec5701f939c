from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tunewright.design.conditions import given
from tunewright.design.guards import advise
from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.design.ranges import integers, linear, log
from tunewright.design.round import Round

FINE = Round(
    "depth",
    goal="Do more hidden layers lower the validation error?",
    scientific={"hidden_layers": [1, 2]},
    nuisance={"learning_rate": log(1e-4, 1e-1), "beta1": linear(0.8, 0.99)},
    fixed={"batch_size": 128, "max_train_steps": 500},
    trials_per_study=16,
)


def notes(
    meaning: Meaning | None = None, objective="valid_error", **changes
) -> list[tuple[str, dict[str, Any]]]:
    """Code and facts of every note."""
    round = dataclasses.replace(FINE, **changes)
    found = advise(round, minimize(objective), meaning or Meaning())
    assert all(note.text for note in found)
    return [(note.code, dict(note.facts)) for note in found]


def test_a_good_round_gets_no_notes() -> None:
    assert notes() == []


@pytest.mark.parametrize(
    "changes, note",
    [
        (
            {"scientific": {"hidden_layers": [1, 2], "norm": ["a", "b", "c"]}},
            ("advice.several_scientific", {"names": ["hidden_layers", "norm"], "studies": 6}),
        ),
        (
            {"scientific": {"width": integers(8, 64)}},
            ("advice.scientific_range", {"name": "width"}),
        ),
        (
            {"scientific": {"width": [8]}},
            ("advice.one_value", {"name": "width"}),
        ),
        (
            {"scientific": {"learning_rate": [0.1, 0.2]}, "nuisance": {"beta1": linear(0.8, 0.9)}},
            ("advice.optimizer_scientific", {"name": "learning_rate"}),
        ),
        (
            {"scientific": {"dropout": [0.0, 0.1, 0.2]}},
            ("advice.strength_scientific", {"name": "dropout"}),
        ),
        (
            {"fixed": {"learning_rate": 0.1}, "nuisance": {"beta1": linear(0.8, 0.9)}},
            ("advice.rate_fixed", {"name": "learning_rate"}),
        ),
        ({"nuisance": {}}, ("advice.nothing_nuisance", {})),
        (
            {"nuisance": {"optimizer": ["adam", "sgd"], "learning_rate": log(0.1, 1)}},
            ("advice.optimizer_nuisance", {"name": "optimizer"}),
        ),
        (
            {"nuisance": {**FINE.nuisance, "a": log(1, 2)}},
            (
                "advice.too_few_trials",
                {
                    "trials": 16,
                    "dimensions": 3,
                    "study": "hidden_layers=1",
                    "branches": 1,
                    "suggested": 25,
                },
            ),
        ),
        (
            {"nuisance": {f"a{i}": log(1, 2) for i in range(13)}, "trials_per_study": 1000},
            ("advice.many_dimensions", {"dimensions": 13, "most": 12}),
        ),
        (
            {"nuisance": {f"a{i}": log(1, 2) for i in range(21)}, "trials_per_study": 1000},
            ("advice.sobol", {"dimensions": 21, "most": 20}),
        ),
    ],
)
def test_each_note(changes, note) -> None:
    assert note in notes(**changes)


def test_presence_of_a_regulariser_is_a_good_question() -> None:
    assert notes(scientific={"dropout": [0.0, 0.2]}) == []
    named = Meaning({"regularisers": ["mixup"]}, {"mixup": "no"})
    assert notes(named, scientific={"mixup": ["no", "a"]}) == []
    assert len(notes(named, scientific={"mixup": ["no", "a", "b"]})) == 1
    ranged = notes(scientific={"weight_decay": log(1e-6, 1e-2)}, trials_per_study=25)
    assert len(ranged) == 2  # a range, and strength


def test_a_regulariser_judged_by_the_training_loss() -> None:
    found = notes(objective="train_loss", scientific={"dropout": [0.0, 0.2]})
    facts = {"name": "dropout", "metric": "train_loss"}
    assert found == [("advice.regulariser_on_training_metric", facts)]


def test_batch_sizes_under_an_epoch_budget() -> None:
    sizes = {"scientific": {"batch_size": [128, 256]}}
    epochs = Meaning({"max_train_steps": "epochs"})
    assert notes(**sizes, fixed={"max_train_steps": 500}) == []
    found = notes(epochs, **sizes, fixed={"epochs": 10})
    assert found == [("advice.epoch_budget", {"steps": "epochs"})]
    shrinking = given({128: {"max_train_steps": 1000}, 256: {"max_train_steps": 500}})
    found = notes(**sizes, fixed={"batch_size": shrinking})
    assert found == [("advice.epoch_budget", {"steps": "max_train_steps"})]
    # a whole number of steps: 16 x 200 and 48 x 67 are the same examples but for 0.5 %
    sizes_2 = {"scientific": {"batch_size": [16, 48]}}
    whole = given({16: {"max_train_steps": 200}, 48: {"max_train_steps": 67}})
    found = notes(**sizes_2, fixed={"batch_size": whole})
    assert found == [("advice.epoch_budget", {"steps": "max_train_steps"})]
    free = given({128: {"max_train_steps": 1000}, 256: {"max_train_steps": 900}})
    assert notes(**sizes, fixed={"batch_size": free}) == []


def test_settings_of_different_length() -> None:
    each = given({1: {"max_train_steps": 50}, 2: {"max_train_steps": 200}})
    ((code, facts),) = notes(fixed={"hidden_layers": each})
    assert code == "advice.lengths_differ"
    assert facts["lengths"] == {"hidden_layers=1": 50, "hidden_layers=2": 200}
    alike = given({1: {"max_train_steps": 50}, 2: {"max_train_steps": 50}})
    assert notes(fixed={"hidden_layers": alike}) == []


def test_batch_sizes_without_retuning() -> None:
    found = notes(
        scientific={"batch_size": [128, 256]}, nuisance={"beta1": linear(0.8, 0.9)}, fixed={}
    )
    assert ("advice.rate_not_retuned", {"name": "batch_size"}) in found


def test_branches_share_the_trials() -> None:
    optimizers = given(
        {"adam": {"a": log(1, 2), "b": log(1, 2)}, "sgd": {"a": log(1, 2)}, "plain": {}}
    )
    ((code, facts),) = notes(nuisance={"solver": optimizers}, trials_per_study=15)
    assert code == "advice.too_few_trials"
    assert (facts["trials"], facts["dimensions"], facts["branches"]) == (15, 2, 3)
    assert notes(nuisance={"solver": optimizers}, trials_per_study=16) == []


def test_two_values_far_apart_may_be_meant_as_a_range() -> None:
    two = {"learning_rate": [0.1, 0.001]}
    found = [note for note in notes(nuisance=two) if note[0] == "advice.two_values"]
    assert found == [("advice.two_values", {"name": "learning_rate", "low": 0.001, "high": 0.1})]


@pytest.mark.parametrize("values", [[0.1, 0.2], [0.001, 0.01, 0.1], ["a", "b"], [0, 1], [-1, 1]])
def test_what_is_surely_a_list_gets_no_note_about_a_range(values) -> None:
    rate = {"learning_rate": log(1e-4, 1e-1)}
    codes = [code for code, _ in notes(nuisance=rate | {"choice": values})]
    assert "advice.two_values" not in codes
