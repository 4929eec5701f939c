from __future__ import annotations

import json
import tomllib

import numpy as np
import pytest
from hypothesis import given as forall, strategies as st
from tests.problems import codes
from tests.strategies import moderate_ranges

import tunewright as tw
from tunewright.design.conditions import given
from tunewright.design.range import Belief, has_width
from tunewright.design.ranges import Range
from tunewright.design.registry import read
from tunewright.design.round_file import as_data, declaration_data, from_data
from tunewright.design.workload_file import toml_value
from tunewright.errors import DesignError

RATE = tw.log(1e-5, 1).around(3e-4, factor=3)


def believed(own: Range, position: float, size: float) -> Range:
    """A belief of whichever unit the kind of range takes."""
    value = own.value(position)
    return own.around(value, width=size) if has_width(own) else own.around(value, factor=1 + size)


@forall(moderate_ranges(), st.floats(0, 1), st.floats(0.01, 100))
def test_a_belief_survives_data_and_toml(own: Range, position: float, size: float) -> None:
    made = believed(own, position, size)
    assert made.belief is not None and made != own and hash(made) == hash(made)
    round = tw.Round("r", goal="?", nuisance={"x": made}, trials_per_study=4)
    assert from_data(json.loads(json.dumps(as_data(round)))) == round
    text = tomllib.loads(f"x = {toml_value(declaration_data(made))}")
    (again,) = from_data({**as_data(round), "nuisance": text}).nuisance.values()
    assert again == made
    assert [made.value(u) for u in (0.0, position, 1.0)] == [
        own.value(u) for u in (0.0, position, 1.0)
    ]


def test_how_it_is_written() -> None:
    assert str(RATE) == "log(1e-05, 1).around(0.0003, factor=3)"
    assert RATE.call == "tw.log(1e-05, 1).around(0.0003, factor=3)"
    assert declaration_data(RATE) == {"log": [1e-5, 1.0], "around": 3e-4, "factor": 3.0}
    listed = tw.choice("adam", None).around(None, factor=4)
    assert declaration_data(listed) == {
        "choice": ["adam", None],
        "around": {"none": True},
        "factor": 4.0,
    }
    assert tw.integers(1, 8).around(np.float64(3.0), width=1).belief == Belief(3, width=1.0)


def test_a_range_made_from_it_has_no_belief() -> None:
    wider = RATE.widen("low")
    assert wider is not None and wider.range == tw.log(1e-6, 1)
    assert RATE.narrow(0.0, 1.0) == tw.log(1e-5, 1)
    assert RATE.near(0.01) == tw.log(1e-5, 1).near(0.01)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: tw.log(1, 2).around(3, factor=2), "belief.outside"),
        (lambda: tw.choice("adam", "sgd").around("lion", factor=2), "belief.outside"),
        (lambda: tw.log(1, 2).around(1.5), "belief.other_unit"),
        (lambda: tw.log(1, 2).around(1.5, width=0.1), "belief.other_unit"),
        (lambda: tw.log(1, 2).around(1.5, factor=2, width=0.1), "belief.other_unit"),
        (lambda: tw.linear(1, 2).around(1.5, factor=2), "belief.other_unit"),
        (lambda: tw.choice("a", "b").around("a", width=1), "belief.other_unit"),
        (lambda: tw.log(1, 2).around(1.5, factor=1), "belief.bad_size"),
        (lambda: tw.log(1, 2).around(1.5, factor=float("nan")), "belief.bad_size"),
        (lambda: tw.linear(1, 2).around(1.5, width=0), "belief.bad_size"),
        (lambda: tw.linear(1, 2).around(1.5, width="wide"), "belief.bad_size"),  # type: ignore[arg-type]
        (lambda: read({"log": [1, 2], "factor": 3}), "belief.no_value"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, code: str) -> None:
    with pytest.raises(DesignError) as refused:
        make()  # type: ignore[operator]
    assert codes(refused.value) == [code]


def test_what_is_compared_evenly_has_no_belief() -> None:
    for declared in (tw.choice(1, 2).around(1, factor=2), RATE):
        with pytest.raises(DesignError) as refused:
            tw.Round("r", goal="?", scientific={"x": declared}, trials_per_study=4)
        assert codes(refused.value) == ["round.scientific_belief"]


def test_a_conditional_range_may_have_one() -> None:
    space = {"optimizer": given({"adam": {"rate": RATE}, "sgd": {}})}
    round = tw.Round("r", goal="?", nuisance=space, trials_per_study=4)
    assert from_data(as_data(round)) == round
    assert [h.range.belief for h in round.studies[0].space] == [None, RATE.belief]
