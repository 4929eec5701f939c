"""Bytes for a browser: read again by the rules of the format, nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest
from tests.ui.small_world import read_frame

from tunewright.present.live_figures import frame


@pytest.mark.parametrize("size", [0, 1, 7, 8, 1000])
def test_arrays_come_back(size: int) -> None:
    arrays = {
        "small": np.arange(size, dtype=np.uint8),
        "wide": np.arange(2 * size, dtype=np.uint16).reshape(size, 2),
        "value": np.linspace(-1, 1, size, dtype=np.float32),
    }
    head, found = read_frame(frame({"rows": size, "none": float("nan")}, arrays))
    assert head["rows"] == size and head["none"] is None
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name].reshape(array.shape), array)


def test_every_array_lies_where_a_browser_can_view_it() -> None:
    made = frame({"text": "ä"}, {"a": np.zeros(3, np.uint8), "b": np.zeros(5, np.float32)})
    head, _ = read_frame(made)
    start = len(made) - 8 - 24  # padded arrays
    assert start % 8 == 0 and [own["at"] % 8 for own in head["arrays"].values()] == [0, 0]
