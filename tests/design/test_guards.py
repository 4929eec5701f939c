from __future__ import annotations

import dataclasses

import pytest

from tunewright.design.conditions import given
from tunewright.design.guards import refuse
from tunewright.design.names import Meaning
from tunewright.design.objective import Objective, maximize, minimize
from tunewright.design.ranges import integers, log
from tunewright.design.round import Round
from tunewright.errors import DesignError

FINE = Round(
    "depth",
    goal="Do more hidden layers lower the validation error?",
    scientific={"hidden_layers": [1, 2]},
    nuisance={"learning_rate": log(1e-4, 1e-1)},
    fixed={"batch_size": 128, "max_train_steps": 500},
    trials_per_study=16,
)
TAKES = frozenset({"hidden_layers", "learning_rate", "batch_size", "max_train_steps", "beta1"})
ERROR = minimize("valid_error")


def said(
    round: Round,
    objective: Objective = ERROR,
    meaning: Meaning | None = None,
    accepts: frozenset[str] | None = None,
    required: frozenset[str] = frozenset(),
    takes_anything: bool = False,
) -> str:
    try:
        refuse(round, objective, meaning or Meaning(), accepts, required, takes_anything)
    except DesignError as error:
        return str(error)
    return ""


def changed(**changes) -> Round:
    return dataclasses.replace(FINE, **changes)


def test_a_good_round_is_let_through() -> None:
    assert said(FINE, accepts=TAKES, required=frozenset({"learning_rate"})) == ""


@pytest.mark.parametrize(
    "round",
    [
        changed(scientific={"max_train_steps": [100, 200]}, fixed={}),
        changed(nuisance={"max_train_steps": integers(100, 200)}, fixed={}),
        changed(scientific={"max_train_steps": integers(100, 200)}, fixed={}),
        changed(
            fixed={},
            nuisance={"model": given({"a": {"max_train_steps": [1, 2]}, "b": {}})},
        ),
    ],
)
def test_the_number_of_steps_is_never_searched(round: Round) -> None:
    assert said(round) == (
        "max_train_steps cannot be searched: pick one value and use it for every trial (put it in "
        "fixed=)."
    )


def test_the_number_of_steps_goes_by_its_meaning() -> None:
    round = changed(nuisance={"epochs": integers(1, 20)}, fixed={})
    assert said(round) == ""
    assert said(round, meaning=Meaning({"max_train_steps": "epochs"})).startswith(
        "epochs (it means max_train_steps) cannot be searched"
    )


def test_one_length_within_a_study() -> None:
    lengths = given({"a": {"max_train_steps": 1}, "b": {"max_train_steps": 2}})
    within = changed(nuisance={"model": ["a", "b"]}, fixed={"model": lengths})
    assert "max_train_steps takes 2 values (1, 2) within one study" in said(within)
    between = changed(scientific={"model": ["a", "b"]}, fixed={"model": lengths})
    assert said(between) == ""


def test_batch_size_is_not_tuned_for_validation() -> None:
    round = changed(nuisance={"batch_size": [64, 128]}, fixed={})
    assert said(round).startswith("batch_size cannot be a nuisance hyperparameter of valid_error:")
    assert "the largest that trains fast" in said(round)
    assert said(round, maximize("throughput")) == ""
    assert said(round, minimize("train_loss")) == ""
    spelled = changed(nuisance={"bs": [64, 128]}, fixed={})
    assert said(spelled) == ""
    assert said(spelled, meaning=Meaning({"batch_size": "bs"})).startswith("bs cannot be")
    assert said(changed(scientific={"batch_size": [64, 128]}, fixed={})) == ""


def test_names_the_program_does_not_take() -> None:
    round = changed(nuisance={"learning_rat": log(0.1, 1)})
    assert said(round, accepts=TAKES) == (
        "learning_rat: the training program takes no hyperparameter of this name. Did you mean "
        "'learning_rate'?"
    )
    assert said(round, accepts=TAKES, takes_anything=True) == ""
    assert said(round, accepts=None) == ""
    odd = changed(fixed={**FINE.fixed, "qqq": 1})
    assert "It takes: batch_size, beta1, hidden_layers" in said(odd, accepts=TAKES)
    assert "It takes: none." in said(odd, accepts=frozenset())


def test_arguments_without_a_value() -> None:
    required = frozenset({"learning_rate", "width"})
    assert said(FINE, required=required) == (
        "width: the training program needs it, and the round gives it no value. Put it in fixed= "
        "with one value, or in nuisance= to search it."
    )
    some = changed(
        scientific={"model": ["a", "b"]},
        fixed={"model": given({"a": {"width": 1}, "b": {}})},
    )
    assert "gives it no value under model = b. Put" in said(some, required=required)


@pytest.mark.parametrize("role", ["scientific", "nuisance", "fixed"])
@pytest.mark.parametrize("name", ["seed", "random_seed", "data.seed", "random_state"])
def test_a_seed_is_no_hyperparameter(role: str, name: str) -> None:
    declared = 3 if role == "fixed" else [1, 2, 3]
    round = changed(**{role: {**getattr(FINE, role), name: declared}})
    problems = said(round, accepts=TAKES).split("\n")
    assert len(problems) == 1
    assert problems[0].startswith(f"{name}: a seed is no hyperparameter;")
    assert "run.seeds.init" in problems[0] and "{run.seed}" in problems[0]


def test_all_reasons_are_said_at_once() -> None:
    round = changed(
        scientific={"max_train_steps": [1, 2], "seed": [1, 2]},
        nuisance={"batch_size": [1, 2], "lr": log(0.1, 1)},
        fixed={},
    )
    reasons = said(round, accepts=TAKES, required=frozenset({"learning_rate"})).split("\n")
    assert [reason.split(":")[0].split()[0] for reason in reasons] == [
        "max_train_steps",
        "batch_size",
        "seed",
        "lr",
        "learning_rate",
    ]
