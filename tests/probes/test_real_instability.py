"""The probes against instability on scikit-learn's handwritten digits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.probes import digits_world, residual_world

from tunewright.actions import Advise, Probe
from tunewright.checks.checklist import check
from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.execution.executors.inline import Inline
from tunewright.execution.run import run
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


@pytest.mark.slow
def test_an_unstable_training_is_offered_the_fixes_in_the_order_of_the_playbook(
    tmp_path: Path,
) -> None:
    """Row 82: a residual network that blows up early, trained, recorded and checked."""
    workload = Workload(
        residual_world.train,
        minimize("valid_loss"),
        store=tmp_path / "tuning.db",
        executor=Inline(),
    )
    asked = Round(
        "residual",
        goal="Which learning rate?",
        nuisance={"learning_rate": log(3e-4, 3e-3)},
        fixed={"max_train_steps": 200, "schedule": "constant"},
        trials_per_study=8,
    )
    found = [f for f in check(run(asked, workload)) if f.check == "instability"]
    assert [f.verdict in ("note", "warn") for f in found] == [True]
    assert found[0].actions[:6] == (
        Probe("warmup", "residual"),
        Probe("clip", "residual"),
        Advise("try_another_optimizer"),
        Advise("normalise_residual_branches"),
        Advise("start_residual_branches_at_zero"),
        Advise("lower_learning_rate"),
    )
    calm = replace(asked, name="calm", fixed={**asked.fixed, "residual_scale": 0.3})
    (quiet,) = [f for f in check(run(calm, workload)) if f.check == "instability"]
    assert quiet.verdict == "ok" and not quiet.actions
