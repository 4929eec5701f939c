from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from hypothesis import given, strategies as st
from tests.recorded import results
from tests.told import ROUND

from tunewright.present.envelope import as_json, plain


def test_a_round_speaks_the_words_of_its_file() -> None:
    data = json.loads(as_json(ROUND))
    assert data["nuisance"] == {"learning_rate": {"log": [1e-4, 1e-1]}}
    assert data["scientific"] == {"weight_decay": [0.0, 1e-4]}


def test_a_trial_keeps_every_digit_and_its_curves() -> None:
    data = json.loads(as_json(plain(results().trial(2), curves=True)))
    assert data["value"] == 0.202377
    assert data["configuration"]["learning_rate"] == 0.0130001
    curve = data["curves"]["valid_error"]
    assert (curve["steps"], curve["values"]) == ([10, 20, 30], [0.8, 0.202377, 0.21])


def test_arrays_paths_and_what_is_not_finite() -> None:
    found = plain({"x": np.float64("inf"), "y": np.array([1.0, np.nan]), "z": Path("a/b")})
    assert found == {"x": None, "y": [1.0, None], "z": "a/b"}


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(st.recursive(leaves, lambda x: st.lists(x) | st.dictionaries(st.text(), x), max_leaves=20))
def test_it_is_always_valid_json(thing: object) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(as_json(thing).encode("utf-8", "surrogatepass"), parse_constant=refuse)
