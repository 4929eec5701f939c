"""Workloads: which hyperparameters they take, and what is refused."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tunewright.design.conditions import given
from tunewright.design.objective import minimize
from tunewright.design.ranges import log, log_from_one
from tunewright.design.round import Round
from tunewright.errors import DesignError, WorkloadError
from tunewright.execution.command import command
from tunewright.execution.prepare import ready
from tunewright.execution.workload import Workload
from tunewright.search.halton import Halton

OBJECTIVE = minimize("valid_error")
NOTHING = object()


def train(run: Any, learning_rate: float, layers: int = 1, *, data: Any = NOTHING) -> None: ...


def anything(run: Any, /, **hyperparameters: Any) -> None: ...


class Trainer:
    def __call__(self, run: Any, learning_rate: float) -> None: ...

    def train(self, run: Any, learning_rate: float = 0.1) -> None: ...


def test_the_signature_is_the_list_of_hyperparameters() -> None:
    accepts = Workload(train, OBJECTIVE).accepts
    assert accepts.names == {"learning_rate", "layers", "data"}
    assert accepts.required == {"learning_rate"}
    assert accepts.defaults == {"layers": 1}  # an object is no value to record
    assert not accepts.takes_anything
    assert accepts.names_needed(["learning_rate"]) == {"learning_rate"}


def test_other_callables_are_taken_too() -> None:
    assert Workload(anything, OBJECTIVE).accepts.takes_anything
    assert Workload(Trainer(), OBJECTIVE).accepts.required == {"learning_rate"}
    assert Workload(Trainer().train, OBJECTIVE).accepts.defaults == {"learning_rate": 0.1}
    assert Workload(partial(train, layers=3), OBJECTIVE).accepts.defaults == {"layers": 3}


def test_a_command_takes_its_fields() -> None:
    own = Workload(command("p {lr} {momentum} {run.seed}"), OBJECTIVE)
    assert own.accepts.names == own.accepts.required == {"lr", "momentum"}
    # a round that gives momentum only under one optimizer is fine; one that never does is not
    assert own.accepts.names_needed(["lr", "momentum"]) == frozenset()
    assert own.accepts.names_needed(["lr"]) == {"momentum"}
    assert Workload(command("p {overrides}"), OBJECTIVE).accepts.takes_anything
    assert own.name == "p {lr} {momentum} {run.seed}"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("python train.py", r"give a command line as tw.command\('python train.py'\)"),
        (3, "neither a function nor a command"),
        (lambda: None, "takes no handle"),
        (lambda *arguments: None, "takes no handle"),
        (lambda run, lr, /: None, "takes lr by position only"),
    ],
)
def test_what_cannot_be_trained_is_refused(wrong: Any, says: str) -> None:
    with pytest.raises(WorkloadError, match=says):
        Workload(wrong, OBJECTIVE)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(WorkloadError) as caught:
        Workload(3, "valid_error", means={"learning_rat": "lr"})  # type: ignore[arg-type]
    said = str(caught.value)
    assert "neither a function" in said
    assert "minimize(metric)" in said
    assert "Did you mean 'learning_rate'?" in said


@pytest.mark.parametrize("wrong", [0, -3, 2.0, True])
def test_an_interval_of_evaluations_is_a_number_of_steps(wrong: Any) -> None:
    assert Workload(train, OBJECTIVE, eval_every=1).eval_every == 1
    with pytest.raises(WorkloadError, match="give a number of steps, from 1"):
        Workload(train, OBJECTIVE, eval_every=wrong)


def test_meanings_are_the_workloads() -> None:
    own = Workload(train, OBJECTIVE, means={"optimizer": "layers"}, off={"layers": 0})
    assert own.meaning.name("optimizer") == "layers"
    assert own.meaning.off == {"layers": 0}
    assert own.name.endswith("test_workload.train")


def spelled(run: Any, lr: float, bs: int = 8, epochs: int = 3) -> None: ...


def test_undeclared_names_are_read_by_their_spelling() -> None:
    own = Workload(spelled, OBJECTIVE).meaning
    guessed = {"batch_size": "bs", "learning_rate": "lr", "max_train_steps": "epochs"}
    assert own.guessed == guessed and own.means == guessed
    overruled = Workload(spelled, OBJECTIVE, means={"max_train_steps": None}).meaning
    assert overruled.of("epochs") is None and overruled.of("lr") == "learning_rate"
    fields = Workload(command("p --lr={lr} --n={max_iters}"), OBJECTIVE).meaning
    assert fields.of("max_iters") == "max_train_steps"


def test_a_program_that_takes_anything_is_read_with_the_rounds_names() -> None:
    for program in (anything, command("p {overrides}"), command("p {config}")):
        own = Workload(program, OBJECTIVE)
        assert own.meaning.guessed == {}
        assert own.given(["optimizer.lr"]).meaning.of("optimizer.lr") == "learning_rate"
    known = Workload(spelled, OBJECTIVE)
    assert known.given(["x"]) is known


@pytest.mark.parametrize(
    ("means", "off", "code", "near"),
    [
        ({"max_train_steps": "max_steps"}, {}, "meaning.not_taken", "epochs"),
        ({"learning_rate": "lrr"}, {}, "meaning.not_taken", "lr"),
        ({"regularisers": ["drop"]}, {}, "meaning.not_taken", None),
        ({}, {"epoch": 0}, "meaning.off_not_taken", "epochs"),
    ],
)
def test_a_declared_name_that_the_program_does_not_take_is_refused(
    means: dict[str, Any], off: dict[str, Any], code: str, near: str | None
) -> None:
    for program in (spelled, command("p {lr} {bs} {epochs}")):
        with pytest.raises(WorkloadError) as refused:
            Workload(program, OBJECTIVE, means=means, off=off)
        (problem,) = refused.value.problems
        assert (problem.code, problem.facts["near"]) == (code, near)
        assert problem.facts["known"] == ["bs", "epochs", "lr"]


@pytest.mark.parametrize("program", [spelled, anything, command("p {lr} {bs} {epochs}")])
def test_guards_hold_for_undeclared_names(program: Any) -> None:
    asked = Round(
        "r",
        goal="?",
        nuisance={"lr": log(0.1, 1), "epochs": [1, 2], "bs": [8, 16]},
        trials_per_study=2,
    )
    with pytest.raises(DesignError) as refused:
        ready(asked, Workload(program, OBJECTIVE), Halton())
    codes = {problem.code: problem.facts["name"] for problem in refused.value.problems}
    assert codes == {"guard.searched_steps": "epochs", "guard.tuned_batch_size": "bs"}
    free = {"max_train_steps": None, "batch_size": None}
    assert ready(asked, Workload(program, OBJECTIVE, means=free), Halton()).names == asked.names


def test_a_template_and_a_round_are_compared_both_ways() -> None:
    optimizer = given({"nesterov": {"momentum": log_from_one(0.5, 0.99)}, "adam": {}})
    own = Round(
        "r",
        goal="Which?",
        scientific={"optimizer": ["nesterov", "adam"]},
        nuisance={"optimizer": optimizer, "lr": log(1e-4, 1e-1)},
        trials_per_study=2,
    )
    fits = command("p {optimizer} {lr} --momentum={momentum}")
    assert ready(own, Workload(fits, OBJECTIVE), Halton()) == own
    for template, says in (
        ("p {optimizer} {lr} {momentum} {dropout}", "dropout: the training program needs it"),
        ("p {optimizer} {lr}", "momentum"),
        ("p {optimizer} {lr} {momentun}", "momentum.*momentun"),
    ):
        with pytest.raises(DesignError, match=says):
            ready(own, Workload(command(template), OBJECTIVE), Halton())
