from __future__ import annotations

import pytest

from tunewright.design.conditions import given
from tunewright.design.ranges import integers, linear, log
from tunewright.design.round import Round
from tunewright.errors import DesignError

LR = {"learning_rate": log(1e-4, 1e-1)}


def refusal(**changes) -> str:
    """What is said of a round that is fine but for these changes."""
    fine = {"goal": "Does it help?", "nuisance": LR, "trials_per_study": 4}
    name = changes.pop("name", "fine")
    with pytest.raises(DesignError) as refused:
        Round(name, **{**fine, **changes})
    return str(refused.value)


@pytest.mark.parametrize("name", ["", "  ", None, 3, "a\nb", "a\0b", "x" * 201, "\ud800"])
def test_odd_names_of_rounds_and_hyperparameters(name) -> None:
    assert refusal(name=name).startswith("the round: the name ")
    assert "nuisance: the name " in refusal(nuisance={name: log(1, 2)})
    assert "fixed: the name " in refusal(fixed={name: 1})


@pytest.mark.parametrize("goal", ["", " \n ", None, 7])
def test_a_goal_is_required(goal) -> None:
    assert refusal(goal=goal).startswith("goal: empty. A round asks one question; write it down")


def test_text_that_no_record_can_hold() -> None:
    assert "goal: 'a\\x00' holds a NUL or half a character." in refusal(goal="a\0")
    assert "fixed name: 'a\\x00' holds a NUL" in refusal(fixed={"name": "a\0"})


@pytest.mark.parametrize("trials", [0, -1, 2.0, True, "8", None, 10**8])
def test_trials_per_study_is_a_count(trials) -> None:
    said = f"trials_per_study: {trials!r} is not a whole number from 1 to 10,000,000."
    assert said in refusal(trials_per_study=trials)


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, True, None])
def test_seeds(seed) -> None:
    assert f"seed: {seed!r} is not a whole number from 0 to 2**63 - 1." in refusal(seed=seed)


@pytest.mark.parametrize("detect", [0, -1, float("nan"), float("inf"), True, "1", 10**400])
def test_detect_is_a_difference(detect) -> None:
    assert f"detect: {detect!r} is not a positive number." in refusal(detect=detect)


@pytest.mark.parametrize(
    "changes, said",
    [
        (
            {"scientific": {"layers": 2}},
            "scientific layers: 2 is a plain value. A scientific hyperparameter has a list of "
            "values (one study each) or a range; a single value belongs into fixed=.",
        ),
        (
            {"scientific": {"optimizer": given({"adam": {}})}},
            "scientific optimizer: given() belongs under the same name in nuisance= or fixed=; "
            "list the values here: ['adam'].",
        ),
        ({"scientific": {"layers": []}}, "scientific layers: choice(): no values."),
        ({"scientific": [1, 2]}, "scientific: [1, 2] is not a mapping of names to ranges"),
        (
            {"nuisance": {"learning_rate": 0.1}},
            "nuisance learning_rate: 0.1 is a plain value, with nothing to search. Move it to "
            "fixed=, or give a range such as log(1e-4, 1e-1) or a list.",
        ),
        (
            {"nuisance": {"optimizer": given({"adam": {"beta1": 0.9}, "sgd": {"m": 0.9}})}},
            "nuisance optimizer.sgd.m: 0.9 is a plain value",
        ),
        (
            {"fixed": {"width": [1, 2]}},
            "fixed width: choice(1, 2) is a range. A fixed hyperparameter has one value; move it "
            "to nuisance= to search it.",
        ),
        ({"fixed": {"model": print}}, "fixed model: <built-in function print> is a builtin"),
        ({"fixed": {"width": 2**60}}, f"fixed width: {2**60} is beyond 2**53"),
        ({"fixed": {"width": float("inf")}}, "fixed width: inf is not a finite number."),
        (
            {"fixed": {"learning_rate": 0.1}},
            "learning_rate: stands in nuisance and fixed; in a round it has one role.",
        ),
        (
            {"fixed": {"optimizer": given({"adam": {"a": 1}})}},
            "optimizer: given() needs optimizer to have several values. List ['adam'] in "
            "scientific= or nuisance=.",
        ),
        (
            {
                "scientific": {"optimizer": ["adam", "sgd"]},
                "nuisance": {"optimizer": given({"adam": {}})},
            },
            "nuisance optimizer: given() says nothing of ['sgd']. A value without hyperparameters "
            "of its own maps to {}.",
        ),
        (
            {
                "scientific": {"optimizer": ["adam"]},
                "nuisance": {"optimizer": given({"adam": {}, "sgd": {}})},
            },
            "nuisance optimizer: given() names ['sgd'], but its values are ['adam'].",
        ),
        (
            {
                "scientific": {"width": integers(1, 8)},
                "nuisance": {"width": given({1: {}, 2: {}})},
            },
            "nuisance width: given() needs a list of values, but scientific width is "
            "integers(1, 8). List the values [1, 2] there.",
        ),
        (
            {"nuisance": {**LR, "optimizer": given({"adam": LR, "sgd": {}})}},
            "learning_rate: declared twice for all; a name may stand under several values of a "
            "given(), but not beside itself.",
        ),
        (
            {
                "nuisance": {"opt": ["a", "b"], **LR},
                "fixed": {"opt": given({"a": {"learning_rate": 1.0}, "b": {}})},
            },
            "learning_rate: declared twice for all;",
        ),
        (
            {"nuisance": {"o": given({"a": LR}), "o.a.learning_rate": linear(0, 1)}},
            "o.a.learning_rate: two hyperparameters would both be recorded under this column; "
            "rename one of them.",
        ),
        (
            {"nuisance": {"flag": given({True: LR, "True": LR})}},
            "flag.True.learning_rate: two hyperparameters would both be recorded",
        ),
        (
            {"scientific": {f"s{i}": list(range(30)) for i in range(3)}},
            "scientific: the lists make 27000 studies, more than 10000.",
        ),
        (
            {"scientific": {"s": list(range(1000))}, "trials_per_study": 100_000},
            "trials_per_study: 1000 studies of 100000 are more than 10000000 trials.",
        ),
        (
            {"nuisance": {f"g{i}": given({1: {f"x{i}": log(1, 2)}, 2: {}}) for i in range(10)}},
            "all: the given()s of nuisance= make more than 1000 combinations",
        ),
    ],
)
def test_every_refusal_says_what_and_what_to_do(changes, said) -> None:
    assert said in refusal(**changes)


def test_all_problems_are_said_at_once() -> None:
    said = refusal(
        name="",
        goal="",
        trials_per_study=0,
        seed=-1,
        detect=0,
        scientific={"layers": 2},
        nuisance={"optimizer": given({"adam": {"beta1": 0.9}, "sgd": {"m": 0.9}}), "x": []},
        fixed={"width": [1, 2], "model": print},
    )
    assert len(said.split("\n")) == 11
