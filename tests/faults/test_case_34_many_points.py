"""Case 34: a million reports are batched and none is dropped."""

from __future__ import annotations

import numpy as np
from tests.faults.bad_days import bad_day, check_three_zeros
from tests.store.record_parts import rows

from tunewright.store.schema import curve as curve_table
from tunewright.store.store import Store


def test_case_34(tmp_path):
    day = bad_day(tmp_path, ["logs much"])
    check_three_zeros(day)
    trial = day.of("logs much")
    assert trial.status == "completed"
    assert np.array_equal(trial.curves["valid_error"].steps, np.arange(1, 10**6 + 1))
    with Store.open(tmp_path / "tuning.db") as store:
        batches = [row for row in rows(store, curve_table) if row["trial"] == trial.identity]
    assert len(batches) < 1000, "never a row per point"
