"""The probes against instability on scikit-learn's handwritten digits."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.probes import digits_world

from tunewright.design.objective import minimize
from tunewright.execution.executors.inline import Inline
from tunewright.execution.workload import Workload
from tunewright.probes.stability import stability
from tunewright.probes.warmup import warmup

pytest.importorskip("sklearn")


@pytest.fixture
def digits(tmp_path: Path) -> Workload:
    return Workload(
        digits_world.train,
        minimize("valid_error"),
        store=tmp_path / "tuning.db",
        executor=Inline(),
        off={"schedule": "constant"},
    )


def test_the_best_rate_of_the_digits_lies_just_below_divergence(digits: Workload) -> None:
    found = stability(digits, fixed={"learning_rate": 0.15}, steps=80, factors=(0.5, 1, 2, 5))
    assert [run.stable for run in found.runs] == [True, True, False, False]
    first = found.first_unstable
    assert first is not None and first.what == "diverged" and first.early
    low = stability(digits, fixed={"learning_rate": 0.01}, steps=80, factors=(0.5, 1, 2, 5))
    assert low.unstable_base_learning_rate is None


@pytest.mark.slow
def test_clipping_mends_what_no_warm_up_does(digits: Workload) -> None:
    """A squared error: its sharpness does not fall in training, so warm-up only puts it off."""
    found = warmup(digits, fixed={"learning_rate": 0.15}, steps=200, repeats=0)
    assert len(found.rungs) == 4 and not any(rung.stable for rung in found.rungs)
    assert found.settings == {"clip_norm": found.clip_norm}
    assert found.message.code == "probe.warmup.clipping_works"
