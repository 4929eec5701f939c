"""A trial as trackers receive it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.sinks.contract import ROUND, recorded

from tunewright.sinks._trial_run import (
    first_points,
    marks,
    rows,
    same_points,
    trial_run,
    verdicts_of,
)
from tunewright.store.curves import Curve
from tunewright.store.store import Store


def test_keys_names_status_and_summary_of_a_recorded_round(tmp_path: Path) -> None:
    with Store.open(recorded(tmp_path, trials=3, steps=10), create=False) as store:
        record = store.round(ROUND)
        known = marks(store, record)
        runs = [trial_run(store, record, key, {"check.density": "ok"}) for key in known]
        again = [trial_run(store, record, key, {}) for key in known]
        verdicts = verdicts_of(store, ROUND)
    assert [run.name for run in runs] == ["lr-0", "lr-1", "lr-2"]
    assert [run.status for run in runs] == ["completed", "infeasible", "failed"]
    assert [run.key for run in runs] == [run.key for run in again]
    assert len({run.key for run in runs}) == 3 and all(run.over for run in runs)
    assert runs[0].summary["check.density"] == "ok" and "reason" in runs[1].summary
    assert rows(runs[0])[-1] == (10, {n: c.values[-1] for n, c in runs[0].curves.items()})
    assert runs[0].points == 11
    assert verdicts and all(name.startswith("check.") for name in verdicts)


def test_equal_curves() -> None:
    one = Curve(np.array([1, 2]), np.array([0.5, np.nan]))
    assert same_points(one, Curve(np.array([1, 2]), np.array([0.5, np.nan])))
    assert not same_points(one, first_points(one, 1))
