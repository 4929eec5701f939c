from __future__ import annotations

import dataclasses

import pytest

from tunewright.design.conditions import given
from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.design.ranges import integers, linear, log
from tunewright.design.role_advice import advise
from tunewright.design.round import Round

FINE = Round(
    "depth",
    goal="Do more hidden layers lower the validation error?",
    scientific={"hidden_layers": [1, 2]},
    nuisance={"learning_rate": log(1e-4, 1e-1), "beta1": linear(0.8, 0.99)},
    fixed={"batch_size": 128, "max_train_steps": 500},
    trials_per_study=16,
)


def notes(meaning: Meaning | None = None, objective="valid_error", **changes) -> tuple[str, ...]:
    round = dataclasses.replace(FINE, **changes)
    return advise(round, minimize(objective), meaning or Meaning())


def test_a_good_round_gets_no_notes() -> None:
    assert notes() == ()


@pytest.mark.parametrize(
    "changes, begins",
    [
        (
            {"scientific": {"hidden_layers": [1, 2], "norm": ["a", "b", "c"]}},
            "hidden_layers and norm are all scientific: a round answers one question well.",
        ),
        ({"scientific": {"width": integers(8, 64)}}, "width is a scientific range: its effect is"),
        (
            {"scientific": {"width": [8]}},
            "width is scientific with one value: nothing",
        ),
        (
            {"scientific": {"learning_rate": [0.1, 0.2]}, "nuisance": {"beta1": linear(0.8, 0.9)}},
            "learning_rate is scientific: its best value changes with almost anything else",
        ),
        (
            {"scientific": {"dropout": [0.0, 0.1, 0.2]}},
            "dropout is scientific in its strength: ask whether it helps at all",
        ),
        (
            {"fixed": {"learning_rate": 0.1}, "nuisance": {"beta1": linear(0.8, 0.9)}},
            "learning_rate is fixed while settings are compared",
        ),
        ({"nuisance": {}}, "nothing is nuisance: settings are compared at one configuration each"),
        (
            {"nuisance": {"optimizer": ["adam", "sgd"], "learning_rate": log(0.1, 1)}},
            "optimizer is nuisance: which optimizer is used is usually scientific",
        ),
        (
            {"nuisance": {**FINE.nuisance, "a": log(1, 2)}},
            "16 trials for 3 hyperparameters in study hidden_layers=1: 25 trials would be enough;",
        ),
        (
            {"nuisance": {f"a{i}": log(1, 2) for i in range(13)}, "trials_per_study": 1000},
            "13 hyperparameters are searched at once: beyond 12 quasi-random points are hardly",
        ),
        (
            {"nuisance": {f"a{i}": log(1, 2) for i in range(21)}, "trials_per_study": 1000},
            "21 hyperparameters are searched at once: Halton points degrade beyond 20, so",
        ),
    ],
)
def test_each_note(changes, begins) -> None:
    assert [note for note in notes(**changes) if note.startswith(begins)], notes(**changes)


def test_presence_of_a_regulariser_is_a_good_question() -> None:
    assert notes(scientific={"dropout": [0.0, 0.2]}) == ()
    named = Meaning({"regularisers": ["mixup"]}, {"mixup": "no"})
    assert notes(named, scientific={"mixup": ["no", "a"]}) == ()
    assert len(notes(named, scientific={"mixup": ["no", "a", "b"]})) == 1
    ranged = notes(scientific={"weight_decay": log(1e-6, 1e-2)}, trials_per_study=25)
    assert len(ranged) == 2  # a range, and strength


def test_a_regulariser_judged_by_the_training_loss() -> None:
    (note,) = notes(objective="train_loss", scientific={"dropout": [0.0, 0.2]})
    assert note.startswith("dropout regularises, and train_loss is a training metric")


def test_batch_sizes_under_an_epoch_budget() -> None:
    sizes = {"scientific": {"batch_size": [128, 256]}}
    epochs = Meaning({"max_train_steps": "epochs"})
    said = "batch sizes are compared under an epoch budget"
    assert notes(**sizes, fixed={"max_train_steps": 500}) == ()
    (note,) = notes(epochs, **sizes, fixed={"epochs": 10})
    assert note.startswith(said)
    shrinking = given({128: {"max_train_steps": 1000}, 256: {"max_train_steps": 500}})
    (note,) = notes(**sizes, fixed={"batch_size": shrinking})
    assert note.startswith(said)
    free = given({128: {"max_train_steps": 1000}, 256: {"max_train_steps": 900}})
    assert notes(**sizes, fixed={"batch_size": free}) == ()


def test_batch_sizes_without_retuning() -> None:
    found = notes(
        scientific={"batch_size": [128, 256]}, nuisance={"beta1": linear(0.8, 0.9)}, fixed={}
    )
    assert [n for n in found if "learning rate is not tuned anew under each value" in n]


def test_branches_share_the_trials() -> None:
    optimizers = given(
        {"adam": {"a": log(1, 2), "b": log(1, 2)}, "sgd": {"a": log(1, 2)}, "plain": {}}
    )
    (note,) = notes(nuisance={"solver": optimizers}, trials_per_study=15)
    assert note.startswith(
        "15 trials for 2 hyperparameters in study hidden_layers=1, shared by 3 conditional branches"
    )
    assert notes(nuisance={"solver": optimizers}, trials_per_study=16) == ()
