from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.problems import problems

from tunewright.design.conditions import given
from tunewright.design.guards import meaning_problems, refusals
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
) -> list[tuple[str, dict[str, Any]]]:
    """Code and facts of every problem."""
    found = refusals(round, objective, meaning or Meaning(), accepts, required, takes_anything)
    return problems(DesignError.several(found)) if found else []


def changed(**changes) -> Round:
    return dataclasses.replace(FINE, **changes)


def test_a_good_round_is_let_through() -> None:
    assert said(FINE, accepts=TAKES, required=frozenset({"learning_rate"})) == []


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
    assert said(round) == [("guard.searched_steps", {"name": "max_train_steps"})]


def test_the_number_of_steps_goes_by_its_meaning() -> None:
    round = changed(nuisance={"horizon": integers(1, 20)}, fixed={})
    assert said(round) == []
    found = said(round, meaning=Meaning({"max_train_steps": "horizon"}))
    assert found == [("guard.searched_steps", {"name": "horizon"})]


@pytest.mark.parametrize("name", ["epochs", "n_steps", "max_iters", "trainer.max_steps"])
def test_undeclared_lengths_are_guarded_unless_declared_otherwise(name: str) -> None:
    round = changed(nuisance={name: integers(1, 20)}, fixed={})
    assert said(round) == [("guard.searched_steps", {"name": name})]
    assert said(round, meaning=Meaning({"max_train_steps": None})) == []
    within = changed(
        nuisance={"model": ["a", "b"]}, fixed={"model": given({"a": {name: 1}, "b": {name: 2}})}
    )
    assert [code for code, _ in said(within)] == ["guard.steps_differ"]


def test_declared_names_that_the_program_does_not_take() -> None:
    meaning = Meaning({"max_train_steps": "max_steps", "train_loss": "loss"}, {"dropout": 0.0})
    near, off = meaning_problems(meaning, ["max_train_steps", "lr"])
    assert near.code == "meaning.not_taken"
    assert (near.facts["spelled"], near.facts["near"]) == ("max_steps", "max_train_steps")
    assert near.facts["known"] == ["lr", "max_train_steps"]
    assert (off.code, off.facts["name"]) == ("meaning.off_not_taken", "dropout")
    assert list(meaning_problems(meaning, ["max_steps", "dropout"])) == []
    assert list(meaning_problems(Meaning({"max_train_steps": None}), ["epochs"])) == []


def test_declared_names_are_compared_with_the_round_where_no_program_is_known() -> None:
    meaning = Meaning({"max_train_steps": "max_steps"})
    ((code, facts),) = said(FINE, meaning=meaning)
    assert (code, facts["near"]) == ("meaning.not_taken", "max_train_steps")


def test_a_program_that_takes_anything_may_have_more_than_the_round() -> None:
    def found(meaning: Meaning) -> list[str]:
        taken = {"accepts": frozenset[str](), "takes_anything": True}
        return [code for code, _ in said(FINE, meaning=meaning, **taken)]

    assert found(Meaning({"max_train_steps": "max_steps"})) == ["meaning.not_taken"]
    assert found(Meaning({"schedule": "hidden_layer"})) == ["meaning.not_taken"]
    assert found(Meaning({"clip_norm": "optimizer.clip"})) == []


def test_one_length_within_a_study() -> None:
    lengths = given({"a": {"max_train_steps": 1}, "b": {"max_train_steps": 2}})
    within = changed(nuisance={"model": ["a", "b"]}, fixed={"model": lengths})
    facts = {"name": "max_train_steps", "values": [1, 2]}
    assert said(within) == [("guard.steps_differ", facts)]
    between = changed(scientific={"model": ["a", "b"]}, fixed={"model": lengths})
    assert said(between) == []


def test_batch_size_is_not_tuned_for_validation() -> None:
    round = changed(nuisance={"batch_size": [64, 128]}, fixed={})
    facts = {"name": "batch_size", "metric": "valid_error"}
    assert said(round) == [("guard.tuned_batch_size", facts)]
    assert said(round, maximize("throughput")) == []
    assert said(round, minimize("train_loss")) == []
    spelled = changed(nuisance={"bs": [64, 128]}, fixed={})
    assert said(spelled) == []
    ((code, facts),) = said(spelled, meaning=Meaning({"batch_size": "bs"}))
    assert (code, facts["name"]) == ("guard.tuned_batch_size", "bs")
    assert said(changed(scientific={"batch_size": [64, 128]}, fixed={})) == []


def test_names_the_program_does_not_take() -> None:
    round = changed(nuisance={"learning_rat": log(0.1, 1)})
    facts = {"name": "learning_rat", "near": "learning_rate", "known": sorted(TAKES)}
    assert said(round, accepts=TAKES) == [("guard.unknown_name", facts)]
    assert said(round, accepts=TAKES, takes_anything=True) == []
    assert said(round, accepts=None) == []
    odd = changed(fixed={**FINE.fixed, "qqq": 1})
    ((_, facts),) = said(odd, accepts=TAKES)
    assert facts == {"name": "qqq", "near": None, "known": sorted(TAKES)}
    assert ("guard.unknown_name", {"name": "qqq", "near": None, "known": []}) in said(
        odd, accepts=frozenset()
    )


def test_arguments_without_a_value() -> None:
    required = frozenset({"learning_rate", "width"})
    assert said(FINE, required=required) == [("guard.missing_name", {"name": "width", "under": {}})]
    some = changed(
        scientific={"model": ["a", "b"]},
        fixed={"model": given({"a": {"width": 1}, "b": {}})},
    )
    facts = {"name": "width", "under": {"model": "b"}}
    assert said(some, required=required) == [("guard.missing_name", facts)]


@pytest.mark.parametrize("role", ["scientific", "nuisance", "fixed"])
@pytest.mark.parametrize("name", ["seed", "random_seed", "data.seed", "random_state"])
def test_a_seed_is_no_hyperparameter(role: str, name: str) -> None:
    declared = 3 if role == "fixed" else [1, 2, 3]
    round = changed(**{role: {**getattr(FINE, role), name: declared}})
    assert said(round, accepts=TAKES) == [("guard.seed", {"name": name})]


def test_all_reasons_are_said_at_once() -> None:
    round = changed(
        scientific={"max_train_steps": [1, 2], "seed": [1, 2]},
        nuisance={"batch_size": [1, 2], "lr": log(0.1, 1)},
        fixed={},
    )
    reasons = said(round, accepts=TAKES, required=frozenset({"learning_rate"}))
    assert [facts["name"] for _, facts in reasons] == [
        "max_train_steps",
        "batch_size",
        "seed",
        "lr",
        "learning_rate",
    ]
