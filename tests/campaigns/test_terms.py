"""The terms of a campaign: defaults, and what is refused with the field, the value, the remedy."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest
from tests.campaigns.known_worlds import SPACE, workload

import tunewright as tw
from tunewright.campaigns.request import TuneTerms, define
from tunewright.errors import DesignError


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"extend": 1}, "tune.bad_extend"),
        ({"extend": float("nan")}, "tune.bad_extend"),
        ({"extend_to": 0}, "tune.bad_extend_to"),
        ({"extend_to": 2.5}, "tune.bad_extend_to"),
        ({"detect": 0.0}, "tune.bad_detect"),
        ({"seed": -1}, "tune.bad_seed"),
        ({"seed": True}, "tune.bad_seed"),
        ({"baseline": 0.1}, "tune.bad_baseline"),
    ],
)
def test_a_wrong_field_is_refused_with_its_name_and_value(wrong: dict[str, Any], code: str) -> None:
    with pytest.raises(DesignError) as caught:
        TuneTerms(**wrong)
    (problem,) = caught.value.problems
    ((name, value),) = wrong.items()
    assert problem.code == code and f"{name}={value!r}" in problem.text


def test_one_way_to_train_longer() -> None:
    with pytest.raises(DesignError) as caught:
        TuneTerms(extend=2, extend_to=500)
    assert caught.value.code == "tune.two_lengths"


def test_the_terms_reach_the_definition(tmp_path) -> None:
    terms = TuneTerms(seed=3, detect=0.01, baseline={"learning_rate": 0.2}, extend_to=1000)
    asked = define(workload(tmp_path), SPACE, 20, None, name="tune", terms=terms)
    assert (asked.space.seed, asked.space.detect, asked.extend_to) == (3, 0.01, 1000)
    assert asked.default == {"learning_rate": 0.2}
    plain = define(workload(tmp_path), SPACE, 20, None, name="tune")
    assert (plain.space.seed, plain.extend, plain.extend_to) == (0, None, None)


def test_it_is_public_and_frozen() -> None:
    assert tw.campaigns.TuneTerms is TuneTerms
    with pytest.raises(FrozenInstanceError):
        TuneTerms().seed = 3  # type: ignore[misc]
