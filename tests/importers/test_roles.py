"""Roles and conditionals are guessed from trials alone, and can be overruled."""

from __future__ import annotations

from typing import Any

import pytest

from tunewright.design.conditions import Given
from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.design.ranges import Choice, Log
from tunewright.errors import DesignError
from tunewright.importers.build_round import take_over
from tunewright.importers.foreign import ForeignTrial, Source
from tunewright.importers.roles import guess_roles
from tunewright.messages import Message
from tunewright.store.results import Results


def trials(*configurations: dict[str, Any]) -> tuple[ForeignTrial, ...]:
    return tuple(
        ForeignTrial(str(n), c, "completed", points={"loss": ([1], [n])})
        for n, c in enumerate(configurations)
    )


CONDITIONAL = trials(
    {"optimizer": "adam", "lr": 1e-3, "beta1": 0.9, "nested": True, "x": 1.0},
    {"optimizer": "adam", "lr": 1e-2, "beta1": 0.95, "nested": False},
    {"optimizer": "adam", "lr": 1e-1, "beta1": 0.8, "nested": True, "x": 2.0},
    {"optimizer": "sgd", "lr": 1e-4, "momentum": 0.9},
    {"optimizer": "sgd", "lr": 1e-0, "momentum": 0.9},
)


def guess(found: tuple[ForeignTrial, ...], **roles: Any) -> Any:
    return guess_roles(found, roles, {}, {}, Meaning())


def test_what_some_trials_have_depends_on_the_choice_that_says_which() -> None:
    found = guess(CONDITIONAL)
    assert isinstance(found.nuisance["lr"], Log)
    given = found.nuisance["optimizer"]
    assert isinstance(given, Given)
    branches = dict(given.branches)
    assert set(branches["adam"]) == {"beta1", "nested"} and branches["sgd"] == {}
    assert set(dict(branches["adam"]["nested"].branches)[True]) == {"x"}
    assert dict(found.fixed["optimizer"].branches)["sgd"] == {"momentum": 0.9}
    assert "x" in found.notes[0].facts["names"]


def test_positions_follow_the_conditions() -> None:
    results = take_over(Source("a test", "r", CONDITIONAL), minimize("loss"), {})
    for trial in results.trials:
        assert trial.unit == results.studies[0].unit(trial.configuration)
    assert "optimizer.adam.nested.True.x" in results.trial(0).unit


def test_a_scientific_parent_keeps_its_children() -> None:
    source = Source("a test", "r", CONDITIONAL)
    results = take_over(source, minimize("loss"), {"roles": {"optimizer": "scientific"}})
    assert [s.label for s in results.studies] == ["optimizer=adam", "optimizer=sgd"]
    assert [t.study for t in results.trials] == [0, 0, 0, 1, 1]
    assert results.round.trials_per_study == 3


def test_what_nothing_explains_has_no_role() -> None:
    found = guess(trials({"a": 1.0, "b": 1.0}, {"a": 2.0}, {"a": 3.0}, {"a": 4.0, "b": 2.0}))
    assert "b" not in found.nuisance and found.incomplete == ()
    assert Message("imported.unexplained", {"names": ["b"]}) in found.notes


def test_true_is_not_one() -> None:
    found = guess(trials({"flag": True}, {"flag": 1}))
    assert found.nuisance["flag"] == Choice((True, 1))


def test_labels_and_seeds_are_no_hyperparameters() -> None:
    found = guess(trials(*({"path": f"/runs/{n}", "seed": n, "lr": 0.1} for n in range(10))))
    assert found.left_out == ("path", "seed") and found.fixed == {"lr": 0.1}
    kept = guess(trials(*({"path": f"/runs/{n}"} for n in range(10))), path="nuisance")
    assert len(kept.nuisance["path"].values) == 10


def test_lengths_that_vary_are_noted() -> None:
    found = guess(trials({"max_train_steps": 10}, {"max_train_steps": 20}))
    assert Message("imported.length_varies", {"name": "max_train_steps"}) in found.notes


def test_a_trial_that_broke_early_makes_nothing_conditional() -> None:
    early = ForeignTrial("2", {"a": 1.5}, "failed")
    late = ForeignTrial("3", {"a": 1.0, "b": 7.0, "c": 5.0}, "failed")
    good = trials({"a": 1.0, "b": 1.0, "c": 5.0}, {"a": 2.0, "b": 1.0, "c": 5.0})
    found = guess((*good, early, late))
    assert set(found.nuisance) == {"a", "b"}, "what failed trials tried varies too"
    assert found.fixed == {"c": 5.0}


SWEEP: list[dict[str, Any]] = [
    {"lr": 10.0**-n, "optimizer": "adam" if n % 2 else "sgd", "wd": 0.1} for n in range(8)
]


def left_out(results: Results) -> list[str]:
    """The trials that a note names as left out."""
    return [
        name
        for note in results.notes
        if isinstance(note, Message) and note.code == "imported.incomplete"
        for name in note.facts["trials"]
    ]


@pytest.mark.parametrize("has", [(), ("optimizer",), ("lr", "optimizer"), ("optimizer", "wd")])
def test_a_trial_without_a_value_is_left_out_by_name(has: tuple[str, ...]) -> None:
    """A parent run of MLflow has no parameters at all; a table has an empty cell."""
    own = {name: SWEEP[0][name] for name in has}
    odd = ForeignTrial("parent", own, "completed", points={"loss": ([1], [9])})
    source = Source("a test", "r", (*trials(*SWEEP), odd))
    chosen = {"roles": {"lr": "nuisance"}, "ranges": {"lr": Log(1e-9, 10)}}
    results = take_over(source, minimize("loss"), chosen)  # type: ignore[arg-type]
    assert results.round.nuisance == {"lr": Log(1e-9, 10), "optimizer": Choice(("sgd", "adam"))}
    assert results.round.fixed == {"wd": 0.1}
    assert [trial.number for trial in results.trials] == list(range(8))
    assert "parent" in left_out(results)
    assert results.round.trials_per_study == 8


def test_a_value_missing_below_a_condition_costs_its_trial_alone() -> None:
    more = [{"optimizer": "adam", "lr": 0.5, "beta1": 0.1 * n} for n in range(1, 6)]
    found = guess(
        trials(*more, {"optimizer": "adam", "lr": 0.5}, *[t.configuration for t in CONDITIONAL[3:]])
    )
    assert [trial.name for trial in found.incomplete] == ["5"]
    assert set(dict(found.nuisance["optimizer"].branches)["adam"]) == {"beta1"}


def test_a_scientific_value_that_one_trial_lacks() -> None:
    source = Source("a test", "r", trials(*SWEEP, {"lr": 0.3, "wd": 0.1}))
    results = take_over(source, minimize("loss"), {"roles": {"optimizer": "scientific"}})
    assert [s.label for s in results.studies] == ["optimizer=sgd", "optimizer=adam"]
    assert len(results.trials) == 8 and "8" in left_out(results)


@pytest.mark.parametrize(
    ("roles", "ranges"),
    [
        ({"b": "nuisance"}, {}),
        ({"b": "scientific"}, {}),
        ({"b": "fixed"}, {}),
        ({}, {"b": Log(1, 2)}),
        ({"c": "nuisance"}, {}),
        ({"c": "fixed"}, {"c": Log(1, 2)}),
        ({"a": "left_out"}, {"a": Log(1, 2)}),
    ],
)
def test_a_declared_role_is_refused_and_never_ignored(
    roles: dict[str, Any], ranges: dict[str, Any]
) -> None:
    """b is of few trials, and nothing says which; c has one value."""
    found = trials(
        *({"a": float(n), "c": 1.0} for n in range(1, 7)),
        {"a": 8.0, "b": 1.0, "c": 1.0},
        {"a": 9.0, "b": 1.0, "c": 1.0},
    )
    with pytest.raises(DesignError) as refused:
        guess_roles(found, roles, ranges, {}, Meaning())
    codes = {
        "importers.role_of_some_trials",
        "importers.role_without_range",
        "importers.range_without_role",
    }
    assert {problem.code for problem in refused.value.problems} <= codes
    assert next(iter(roles or ranges)) in str(refused.value)
