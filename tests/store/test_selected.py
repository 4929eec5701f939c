"""Which snapshot stands for a trial."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st

from tunewright import snapshot
from tunewright.design.objective import maximize, minimize
from tunewright.store.curves import Batch, Curves, pack
from tunewright.store.trial import Trial, select_snapshot

TRIAL = Trial(
    number=0,
    study=0,
    index=0,
    configuration={},
    unit={},
    status="completed",
    value=0.1,
    best_step=30,
    folder="r1/t0",
)


def kept(folder: Path, *steps: int) -> None:
    for step in steps:
        snapshot.save(folder, {"w": np.zeros(1)}, step=step, keep=None)


def test_the_best_step_itself_if_it_was_kept(tmp_path: Path) -> None:
    kept(tmp_path / "r1/t0/snapshots", 10, 30, 40)
    found = select_snapshot(tmp_path, TRIAL)
    assert found is not None
    assert (found.step, found.wanted, found.exact) == (30, 30, True)


def test_snapshots_of_ones_own_folders_count_too(tmp_path: Path) -> None:
    kept(tmp_path / "r1/t0/snapshots", 40, 50)
    kept(tmp_path / "r1/t0/best", 30)
    found = select_snapshot(tmp_path, TRIAL)
    assert found is not None and found.exact
    assert found.path.parent.name == "best"


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.sets(st.integers(0, 60), min_size=1, max_size=4), best=st.integers(0, 60))
def test_none_that_was_kept_is_nearer(tmp_path_factory, steps: set[int], best: int) -> None:
    root = tmp_path_factory.mktemp("kept")
    kept(root / "r1/t0/snapshots", *sorted(steps))
    found = select_snapshot(root, replace(TRIAL, best_step=best))
    assert found is not None
    assert abs(found.step - best) == min(abs(step - best) for step in steps)
    if {best - 1, best + 1} <= steps and best not in steps:
        assert found.step == best + 1, "of two equally near the later one"


def test_nothing_was_kept_or_nothing_is_best(tmp_path: Path) -> None:
    assert select_snapshot(tmp_path, TRIAL) is None
    kept(tmp_path / "r1/t0/snapshots", 10)
    assert select_snapshot(tmp_path, replace(TRIAL, best_step=None)) is None


def judged(values: dict[int, float]) -> Trial:
    points = {"valid_error": (list(values), list(values.values()))}
    best = min(values, key=lambda step: values[step])
    return replace(
        TRIAL, curves=Curves([Batch(1, 0, pack(points))]), value=values[best], best_step=best
    )


def test_of_those_that_were_kept_the_best_by_the_objective(tmp_path: Path) -> None:
    kept(tmp_path / "r1/t0/snapshots", 10, 28, 40)
    trial = judged({10: 0.2, 28: 0.5, 30: 0.1, 40: 0.6})
    found = select_snapshot(tmp_path, trial, minimize("valid_error"))
    assert found is not None and found.step == 10
    other = select_snapshot(tmp_path, trial, minimize("another_metric"))
    assert other is not None and other.step == 28, "nearest, where the objective says nothing"
    higher = select_snapshot(tmp_path, trial, maximize("valid_error"))
    assert higher is not None and higher.step == 40
