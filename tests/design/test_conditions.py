from __future__ import annotations

import pytest
from tests.problems import codes, states

from tunewright.design.conditions import Given, given, settle, unfold_fixed, unfold_searched
from tunewright.design.ranges import choice, linear, log
from tunewright.errors import DesignError

OPTIMIZERS = given(
    {
        "adam": {"learning_rate": log(1e-5, 1e-2), "beta1": linear(0.8, 0.99)},
        "nesterov": {"learning_rate": log(1e-3, 1.0)},
        "plain": {},
    }
)


def test_the_same_name_under_two_values_is_two_hyperparameters() -> None:
    parents = {"optimizer": ("adam", "nesterov", "plain")}
    found = list(unfold_searched({"optimizer": OPTIMIZERS}, parents))
    assert [(h.name, h.column) for h in found] == [
        ("learning_rate", "optimizer.adam.learning_rate"),
        ("beta1", "optimizer.adam.beta1"),
        ("learning_rate", "optimizer.nesterov.learning_rate"),
    ]
    assert found[0].active({"optimizer": "adam"}) and not found[0].active({"optimizer": "plain"})


def test_a_parent_that_is_not_scientific_is_a_choice_itself() -> None:
    parent, *_ = unfold_searched({"optimizer": OPTIMIZERS}, {})
    assert (parent.column, parent.range) == ("optimizer", choice("adam", "nesterov", "plain"))


def test_givens_nest() -> None:
    inner = given({True: {"power": linear(0, 1)}, False: {}})
    outer = given({"adam": {"decay": inner}, "sgd": {}})
    columns = [h.column for h in unfold_searched({"optimizer": outer}, {})]
    assert columns == ["optimizer", "optimizer.adam.decay", "optimizer.adam.decay.True.power"]


def test_fixed_values_may_depend_on_a_parent_too() -> None:
    steps = given({"small": {"width": 64}, "large": {"width": 1024}})
    found = list(unfold_fixed({"model": steps}, {"model": ("small", "large")}))
    assert [(f.name, f.value, f.when) for f in found] == [
        ("width", 64, (("model", "small"),)),
        ("width", 1024, (("model", "large"),)),
    ]


def test_lists_inside_a_given_are_choices_and_later_changes_change_nothing() -> None:
    children = {"beta1": [0.9, 0.95]}
    made = given({"adam": children, "sgd": {}})
    children["beta1"] = log(0.1, 1)
    assert made.branches[0][1] == {"beta1": choice(0.9, 0.95)}


def test_settling_puts_givens_last() -> None:
    problems: list[str] = []
    settled = settle({"optimizer": OPTIMIZERS, "width": [1, 2]}, "nuisance", problems)
    assert list(settled) == ["width", "optimizer"] and not problems


@pytest.mark.parametrize(
    "attempt, said",
    [
        (lambda: given({}), ("given.no_values", {})),
        (lambda: given([1]), ("given.not_mapping", {"branches": [1]})),
        (
            lambda: given({"adam": None}),
            ("given.not_hyperparameters", {"place": "given(): 'adam'", "children": None}),
        ),
        (lambda: Given(((1, {}), (1.0, {}))), ("range.choice_twice", {"value": 1.0})),
        (
            lambda: given({"adam": {"": 1}}),
            ("name.empty", {"name": "", "within": ["given(): 'adam'"]}),
        ),
        (
            lambda: given({"adam": {"beta1": []}}),
            ("range.no_choices", {"within": ["given(): 'adam'", "beta1"]}),
        ),
        (
            lambda: given({"adam": {"f": print}}),
            (
                "value.not_plain",
                {
                    "place": "f",
                    "value": "<built-in function print>",
                    "type": "builtin_function_or_method",
                    "within": ["given(): 'adam'"],
                },
            ),
        ),
    ],
)
def test_bad_givens_are_refused_when_declared(attempt, said) -> None:
    with pytest.raises(DesignError) as refusal:
        attempt()
    assert states(refusal.value, *said)


def test_all_problems_of_a_given_are_said_at_once() -> None:
    with pytest.raises(DesignError) as refusal:
        given({"adam": {"a": [], "b": [1, 1]}, "sgd": {"c\n": 1}, "x": 3})
    assert codes(refusal.value) == [
        "range.no_choices",
        "range.choice_twice",
        "name.unprintable",
        "given.not_hyperparameters",
    ]
