"""Each interaction speaks where it should, and is silent where the design has provided for it."""

from __future__ import annotations

from typing import Any

import pytest

from tunewright.design.conditions import given
from tunewright.design.guards import FIXED_WHILE_COMPARED, notes_on_interactions
from tunewright.design.names import Meaning
from tunewright.design.ranges import integers, log
from tunewright.design.round import Round

RATE = {"learning_rate": log(1e-4, 1e-1)}


def notes(meaning: Meaning | None = None, **roles: Any) -> list[tuple[str, dict[str, Any]]]:
    round = Round("r", goal="?", trials_per_study=10, **roles)
    found = list(notes_on_interactions(round, meaning or Meaning()))
    assert all(note.text for note in found)
    return [(note.code, dict(note.facts)) for note in found]


def test_architecture_as_nuisance() -> None:
    found = notes(nuisance={**RATE, "hidden_layers": integers(1, 4)})
    assert found == [("advice.architecture_nuisance", {"names": ["hidden_layers"]})]
    assert notes(scientific={"hidden_layers": [1, 4]}, nuisance=RATE) == []
    assert notes(scientific={"hidden_layers": integers(1, 4)}, nuisance=RATE) == []
    assert notes(nuisance=RATE, fixed={"hidden_layers": 3}) == []


def test_one_rate_for_all_compared_optimizers() -> None:
    compared = {"scientific": {"optimizer": ["adam", "sgd"]}}
    ((code, facts),) = notes(**compared, nuisance=RATE)
    assert code == "advice.shared_by_optimizers"
    assert facts["names"] == ["learning_rate"] and facts["values"] == ["adam", "sgd"]
    each = given({"adam": RATE, "sgd": {"learning_rate": log(1e-2, 1)}})
    assert notes(**compared, nuisance={"optimizer": each}) == []
    assert notes(scientific={"hidden_layers": [1, 4]}, nuisance=RATE) == []
    spelled = Meaning({"optimizer": "opt", "learning_rate": "lr"})
    ((code, facts),) = notes(spelled, scientific={"opt": ["a", "b"]}, nuisance={"lr": log(0.1, 1)})
    assert facts["names"] == ["lr"]


@pytest.mark.parametrize(
    ("compared", "fixed"),
    [
        ({"width": [64, 256]}, {"weight_decay": 1e-4}),
        ({"n_layer": [2, 4]}, {"dropout": 0.1}),
        ({"batch_size": [64, 256]}, {"label_smoothing": 0.1}),
        ({"batch_size": [64, 256]}, {"momentum": 0.9}),
        ({"mixup": ["no", "yes"]}, {"weight_decay": 1e-4}),
    ],
)
def test_what_is_fixed_while_something_that_acts_on_it_is_compared(
    compared: dict[str, Any], fixed: dict[str, Any]
) -> None:
    ((code, facts),) = notes(scientific=compared, nuisance=RATE, fixed=fixed)
    assert code == "advice.fixed_while_compared"
    assert (facts["compared"], facts["fixed"]) == (list(compared), fixed)
    (name,) = fixed
    # tuned anew, switched off, chosen for each setting, or nothing compared: silence
    assert notes(scientific=compared, nuisance={**RATE, name: log(0.01, 0.5)}) == []
    assert notes(Meaning(off={name: 0.0}), scientific=compared, fixed={name: 0.0}) == []
    (asked,) = compared
    first, second = compared[asked]
    each = given({first: {name: 0.1}, second: {name: 0.2}})
    assert notes(scientific=compared, nuisance=RATE, fixed={asked: each}) == []
    assert notes(nuisance=RATE, fixed=fixed) == []


def test_what_does_not_act_on_it_is_silent() -> None:
    assert notes(scientific={"width": [1, 2]}, fixed={"momentum": 0.9, "batch_size": 64}) == []
    assert notes(scientific={"tokenizer": ["a", "b"]}, fixed={"weight_decay": 1e-4}) == []


def test_every_row_has_a_reason() -> None:
    assert len({(one.compared, one.fixed) for one in FIXED_WHILE_COMPARED}) == len(
        FIXED_WHILE_COMPARED
    )
