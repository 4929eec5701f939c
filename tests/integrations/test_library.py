"""What integrations share: numbers, missing libraries, values of one rank."""

from __future__ import annotations

import numpy as np
import pytest

from tunewright.errors import WorkloadError
from tunewright.integrations._library import any_rank, from_all_ranks, library, measured


def test_only_numbers_are_measured() -> None:
    given = {"loss": np.float32(0.5), "n": 3, "note": "a", "flag": True, "many": np.zeros(2)}
    assert measured({**given, "step": 9, "none": None}) == {"loss": np.float32(0.5), "n": 3}
    assert measured(None) == {}


def test_a_library_that_is_missing_is_named() -> None:
    with pytest.raises(WorkloadError) as caught:
        library("no_such_library.part", "no-such-library")
    assert caught.value.code == "integration.missing"
    assert caught.value.facts["package"] == "no-such-library"


def test_one_rank_decides_alone() -> None:
    assert any_rank(True) and not any_rank(False)
    assert from_all_ranks({"lr": 0.1}) == {"lr": 0.1}
