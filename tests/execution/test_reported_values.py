"""What counts as a number, and what is said of the rest."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tunewright.errors import BadValue, WorkloadError
from tunewright.execution.reported_values import as_count, as_number, as_step, on_device, short_text


@given(st.floats() | st.integers(-(2**1000), 2**1000) | st.fractions())
def test_every_real_number_is_accepted(value: float) -> None:
    found = as_number("loss", value)
    assert type(found) is float
    assert found == float(value) or np.isnan(found)


@given(st.floats(width=32, allow_nan=False))
def test_arrays_without_a_shape_are_numbers(value: float) -> None:
    assert as_number("loss", np.array(value)) == value
    assert as_number("loss", np.float32(value)) == value


def test_torch_scalars_are_numbers() -> None:
    torch = pytest.importorskip("torch")
    assert as_number("loss", torch.tensor(0.5, requires_grad=True)) == 0.5
    assert as_number("loss", torch.tensor(3)) == 3.0
    assert as_number("loss", torch.tensor(0.5, dtype=torch.bfloat16)) == 0.5
    assert as_step(torch.tensor(3)) == 3
    assert not on_device(torch.tensor(0.5))
    for refused in (torch.ones(1), torch.tensor(True), torch.tensor(1j)):
        with pytest.raises(BadValue, match="loss: "):
            as_number("loss", refused)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "does the function that computes it return something"),
        (True, "truth value"),
        (np.True_, "truth value"),
        ("0.5", r"such as float\('0.5'\)"),
        ("low", "is text; log a number$"),
        (1j, "abs"),
        ({"a": 1}, "each entry under a separate name"),
        ([1.0], "one number per name"),
        (np.ones(3), r"shape \(3,\) is not one number; log .item\(\)"),
        (10**400, "too large for a float"),
        pytest.param(10**5000, "too large for a float", id="too large to print"),
        (np.array("x"), "is not a number"),
        (object(), "is a object"),
    ],
)
def test_everything_else_is_refused_in_one_line(value: Any, says: str) -> None:
    with pytest.raises(BadValue, match=says) as caught:
        as_number("loss", value)
    assert str(caught.value).startswith("loss: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("step", [True, 1.5, "3", None, -1, 2**63, Fraction(3)])
def test_steps_are_whole_numbers(step: Any) -> None:
    with pytest.raises(BadValue, match="step"):
        as_step(step)


def test_counts_of_steps_may_come_from_a_file() -> None:
    assert as_count(500.0) == as_count(np.int64(500)) == 500
    for refused in (0.5, -1, "many", None, float("inf"), float("nan")):
        with pytest.raises(WorkloadError, match="not a number of training steps"):
            as_count(refused)


def test_a_value_that_cannot_be_shown_is_still_named() -> None:
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError

    assert "Silent" in short_text(Silent())
