from __future__ import annotations

import numpy as np
import pytest

from tunewright.design.range import as_plain, check_plain, is_number, same_value, short
from tunewright.errors import DesignError


def test_numbers_of_numpy_become_pythons_own() -> None:
    assert type(as_plain(np.float64(0.5))) is float and as_plain("adam") == "adam"


def test_true_is_not_one_and_one_is_one() -> None:
    assert same_value(1, 1.0) and not same_value(True, 1)
    assert is_number(3) and not is_number(True) and not is_number(float("inf"))


def test_no_digit_is_lost() -> None:
    assert [short(x) for x in (1e-5, 0.1 + 0.2, "a")] == ["1e-05", "0.30000000000000004", "'a'"]


@pytest.mark.parametrize("value", [float("nan"), 2**60, [1], "\0"])
def test_a_value_that_no_store_can_hold_is_refused(value: object) -> None:
    with pytest.raises(DesignError):
        check_plain(value, "x")
