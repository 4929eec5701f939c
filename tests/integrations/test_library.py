"""What integrations share: numbers, missing libraries, values of one rank."""

from __future__ import annotations

import numpy as np
import pytest

from tunewright.errors import WorkloadError
from tunewright.integrations._library import any_rank, from_all_ranks, library, numbers_in
from tunewright.measured import Measured


def test_only_numbers_are_measured() -> None:
    given = {"loss": np.float32(0.5), "n": 3, "note": "a", "flag": True, "many": np.zeros(2)}
    assert numbers_in({**given, "step": 9, "none": None}) == {"loss": np.float32(0.5), "n": 3}
    assert numbers_in(None) == {}


def test_a_standard_error_logged_beside_a_metric_is_its_uncertainty() -> None:
    found = numbers_in({"acc": 0.5, "acc_stderr": 0.1, "loss": 1.0, "loss_sd": -1.0})
    assert found["acc"] == Measured(0.5, sd=0.1) and found["acc_stderr"] == 0.1
    assert found["loss"] == 1.0, "no standard deviation is negative"
    assert numbers_in({"acc": Measured(0.5, sd=0.1, n=9)}) == {"acc": Measured(0.5, sd=0.1, n=9)}


def test_a_library_that_is_missing_is_named() -> None:
    with pytest.raises(WorkloadError) as caught:
        library("no_such_library.part", "no-such-library")
    assert caught.value.code == "integration.missing"
    assert caught.value.facts["package"] == "no-such-library"


def test_one_rank_decides_alone() -> None:
    assert any_rank(True) and not any_rank(False)
    assert from_all_ranks({"lr": 0.1}) == {"lr": 0.1}
