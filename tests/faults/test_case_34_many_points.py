"""Case 34: a million reports are batched and none is dropped."""

from __future__ import annotations

import numpy as np
from tests.faults.bad_days import bad_day, check_three_zeros

from tunewright.store.store import Store


def test_case_34(tmp_path):
    day = bad_day(tmp_path, ["logs much"])
    check_three_zeros(day)
    trial = day.of("logs much")
    assert trial.status == "completed"
    assert np.array_equal(trial.curves["valid_error"].steps, np.arange(1, 10**6 + 1))
    with Store.open(tmp_path / "tuning.db") as store:
        batches = [batch for key, batch in store.changes(0).batches if key == trial.identity]
    assert len(batches) < 1000, "never a row per point"
