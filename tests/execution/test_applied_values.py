"""Reports of applied values become plain data, whatever the program hands over."""

from __future__ import annotations

import numpy as np
import pytest

from tunewright.errors import WorkloadError
from tunewright.execution.reported_values import MOST_VALUES, plain_values


class Odd:
    def __str__(self) -> str:
        raise RuntimeError


def test_values_of_every_kind_become_plain() -> None:
    given = {
        "lr": np.float64(0.1),
        "steps": np.int64(3),
        "nested": {"name": "adam", "betas": (0.9, 0.99), "none": {}},
        "bad": float("nan"),
        "type": int,
        "odd": Odd(),
        "flag": True,
        "nothing": None,
        "nul": "a\0b",
    }
    assert plain_values(given) == {
        "lr": 0.1,
        "steps": 3,
        "nested.name": "adam",
        "nested.betas": [0.9, 0.99],
        "nested.none": "{}",
        "bad": "nan",
        "type": "<class 'int'>",
        "odd": "Odd",
        "flag": True,
        "nothing": None,
        "nul": "a\\x00b",
    }


def test_a_report_is_short() -> None:
    assert len(plain_values({f"v{i}": i for i in range(3 * MOST_VALUES)})) == MOST_VALUES
    assert len(plain_values({"text": "x" * 10_000})["text"]) < 300


def test_what_is_no_mapping_is_refused() -> None:
    with pytest.raises(WorkloadError) as caught:
        plain_values(0.1)  # type: ignore[arg-type]
    assert caught.value.code == "applied.not_a_mapping"
