from __future__ import annotations

import json

import pytest
from hypothesis import given as forall
from tests.strategies import rounds

from tunewright.design.conditions import given
from tunewright.design.ranges import Choice, choice, integers, log
from tunewright.design.round import Round
from tunewright.design.round_data import as_data, from_data
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
            "trials_per_stdy: not a key of a round. Did you mean 'trials_per_",
        ),
        (
            {"nuisance": {"lr": {"lgo": [1, 2]}}},
            "nuisance lr: 'lgo' is not a kind of range. Did you mean 'log'?",
        ),
        ({"nuisance": {"lr": {"log": [0, 1]}}}, "nuisance lr: log(0, 1): a log range needs 0 <"),
        (
            {"nuisance": {"lr": {"log": [1]}}},
            "nuisance lr: log = [1]: two numbers are needed, log = [low, high].",
        ),
        ({"nuisance": {"lr": {"log": "12"}}}, "nuisance lr: log = '12': two numbers are needed"),
        (
            {"nuisance": {"lr": {"log": [1, 2], "linear": [1, 2]}}},
            "nuisance lr: 'log' cannot stand beside 'linear'",
        ),
        (
            {"nuisance": {"lr": {"log": [1, 2], "step": 3}}},
            "nuisance lr: 'step' cannot stand beside 'log' in one range.",
        ),
        (
            {"nuisance": {"n": {"integers": [1, 2], "log": 3}}},
            "integers(): log is 3; it is True or False.",
        ),
        ({"nuisance": {"lr": {"choice": 3}}}, "nuisance lr: choice = 3 is not a list of values."),
        ({"nuisance": {"lr": {}}}, "nuisance lr: {} is no range. Write { log = [1e-4, 1e-1] }"),
        (
            {"nuisance": {"optimizer": {"rate": {"log": [1, 2]}}}},
            'If optimizer.rate is one name, quote it: "optimizer.rate" = ...',
        ),
        (
            {"nuisance": {"o": {"given": 3}}},
            "nuisance o: given is neither a table of values nor a list",
        ),
        ({"nuisance": {"o": {"given": [[1, 2]]}}}, "nuisance o: given is neither a table"),
        (
            {"nuisance": {"o": {"given": {"adam": {"lr": {"log": [2, 1]}}}}}},
            "nuisance o.adam lr: log(2, 1): low is above high; did you mean log(1, 2)?",
        ),
        ({"nuisance": 3}, "nuisance: 3 is not a table of hyperparameters."),
        ({"fixed": {"width": [1, 2]}}, "fixed width: choice(1, 2) is a range."),
    ],
)
def test_refusals(changes, said) -> None:
    with pytest.raises(DesignError) as refused:
        from_data({**FINE, **changes})
    assert said in str(refused.value)


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
    said = str(refused.value).split("\n")
    assert len(said) == 10, said
    for key in ("gaol", "name", "goal", "trials_per_study", "seed", "scientific layers"):
        assert any(problem.startswith(f"{key}:") for problem in said), key


def test_something_else_is_no_round() -> None:
    with pytest.raises(DesignError, match="a round is a mapping of name, goal"):
        from_data([1])
