from __future__ import annotations

import json

import pytest
from hypothesis import given as forall
from tests.problems import codes, states
from tests.strategies import rounds

from tunewright.design.conditions import given
from tunewright.design.ranges import Choice, choice, integers, log
from tunewright.design.round import Round
from tunewright.design.round_file import as_data, from_data
from tunewright.errors import DesignError

FINE = {"name": "r", "goal": "Does it help?", "trials_per_study": 4}


@forall(rounds())
def test_a_round_survives_as_plain_data(round: Round) -> None:
    text = json.dumps(as_data(round), allow_nan=False)
    again = from_data(json.loads(text))
    assert again == round
    assert [list(getattr(again, role)) for role in ("scientific", "nuisance", "fixed")] == [
        list(getattr(round, role)) for role in ("scientific", "nuisance", "fixed")
    ]
    assert _types(again) == _types(round)  # True is not 1, and 1 is not 1.0


def _types(round: Round) -> list[object]:
    fixed = [type(value) for value in round.fixed.values()]
    lists = [
        [type(v) for v in d.values] for d in round.scientific.values() if isinstance(d, Choice)
    ]
    return [fixed, lists]


def test_the_words_are_those_of_the_file() -> None:
    round = Round(
        "r",
        goal="?",
        scientific={"optimizer": ["adam", "sgd"]},
        nuisance={
            "width": integers(64, 1024, log=True),
            "optimizer": given({"adam": {"lr": log(1e-4, 1)}, "sgd": {}}),
            "flag": given({True: {"k": choice(None, 1)}, 2: {}}),
        },
        fixed={"steps": 10},
        trials_per_study=4,
        detect=0.5,
    )
    assert as_data(round) == {
        "name": "r",
        "goal": "?",
        "trials_per_study": 4,
        "seed": 0,
        "detect": 0.5,
        "scientific": {"optimizer": ["adam", "sgd"]},
        "nuisance": {
            "width": {"integers": [64, 1024], "log": True},
            "optimizer": {"given": {"adam": {"lr": {"log": [1e-4, 1.0]}}, "sgd": {}}},
            "flag": {"given": [[True, {"k": [None, 1]}], [2, {}]]},
        },
        "fixed": {"steps": 10},
    }


@pytest.mark.parametrize(
    "changes, said",
    [
        (
            {"trials_per_stdy": 3},
            (
                "file.unknown_key",
                {"key": "trials_per_stdy", "of": "round", "near": "trials_per_study"},
            ),
        ),
        (
            {"nuisance": {"lr": {"lgo": [1, 2]}}},
            ("declaration.unknown_kind", {"key": "lgo", "near": "log", "within": ["nuisance lr"]}),
        ),
        (
            {"nuisance": {"lr": {"log": [0, 1]}}},
            ("range.log_from_zero", {"range": "log(0, 1)", "within": ["nuisance lr"]}),
        ),
        (
            {"nuisance": {"lr": {"log": [1]}}},
            (
                "declaration.not_two_bounds",
                {"kind": "log", "bounds": [1], "within": ["nuisance lr"]},
            ),
        ),
        (
            {"nuisance": {"lr": {"log": "12"}}},
            (
                "declaration.not_two_bounds",
                {"kind": "log", "bounds": "12", "within": ["nuisance lr"]},
            ),
        ),
        (
            {"nuisance": {"lr": {"log": [1, 2], "linear": [1, 2]}}},
            (
                "declaration.two_kinds",
                {"others": ["log"], "kind": "linear", "within": ["nuisance lr"]},
            ),
        ),
        (
            {"nuisance": {"lr": {"log": [1, 2], "step": 3}}},
            (
                "declaration.two_kinds",
                {"others": ["step"], "kind": "log", "within": ["nuisance lr"]},
            ),
        ),
        (
            {"nuisance": {"n": {"integers": [1, 2], "log": 3}}},
            ("range.bad_log_flag", {"log": 3, "within": ["nuisance n"]}),
        ),
        (
            {"nuisance": {"lr": {"choice": 3}}},
            ("declaration.bad_choice", {"data": 3, "within": ["nuisance lr"]}),
        ),
        (
            {"nuisance": {"lr": {}}},
            (
                "declaration.no_range",
                {"declared": {}, "name": "lr", "key": None, "within": ["nuisance lr"]},
            ),
        ),
        (
            {"nuisance": {"optimizer": {"rate": {"log": [1, 2]}}}},
            (
                "declaration.no_range",
                {
                    "declared": {"rate": {"log": [1, 2]}},
                    "name": "optimizer",
                    "key": "rate",
                    "within": ["nuisance optimizer"],
                },
            ),
        ),
        (
            {"nuisance": {"o": {"given": 3}}},
            ("declaration.bad_given", {"within": ["nuisance o"]}),
        ),
        (
            {"nuisance": {"o": {"given": [[1, 2]]}}},
            ("declaration.bad_given", {"within": ["nuisance o"]}),
        ),
        (
            {"nuisance": {"o": {"given": {"adam": {"lr": {"log": [2, 1]}}}}}},
            (
                "range.low_above_high",
                {"kind": "log", "low": "2", "high": "1", "within": ["nuisance o.adam lr"]},
            ),
        ),
        ({"nuisance": 3}, ("round.role_not_table", {"role": "nuisance", "declared": 3})),
        (
            {"fixed": {"width": [1, 2]}},
            (
                "declaration.fixed_range",
                {"column": "width", "range": "choice(1, 2)", "within": ["fixed"]},
            ),
        ),
    ],
)
def test_refusals(changes, said) -> None:
    with pytest.raises(DesignError) as refused:
        from_data({**FINE, **changes})
    assert states(refused.value, *said)


def test_all_problems_are_said_at_once() -> None:
    data = {
        "gaol": "?",
        "seed": -1,
        "scientific": {"layers": 2},
        "nuisance": {"lr": {"log": [0, 1]}, "o": {"given": {"a": {"x": {"log": [2, 1]}, "y": []}}}},
        "fixed": {"width": [1, 2]},
    }
    with pytest.raises(DesignError) as refused:
        from_data(data)
    assert codes(refused.value) == [
        "file.unknown_key",
        "round.key_missing",
        "round.key_missing",
        "round.key_missing",
        "range.log_from_zero",
        "range.low_above_high",
        "range.no_choices",
        "round.bad_seed",
        "round.scientific_value",
        "declaration.fixed_range",
    ]


def test_something_else_is_no_round() -> None:
    with pytest.raises(DesignError) as refused:
        from_data([1])
    assert states(refused.value, "round.not_mapping", {"data": [1]})
