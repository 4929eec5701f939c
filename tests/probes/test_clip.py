"""Clipping: from recorded norms, and by training where it is unstable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.probes import residual_world, sharpness_world
from tests.probes.short_curves import noisy, results_of

from tunewright.design.objective import minimize
from tunewright.errors import DesignError
from tunewright.execution.command import command
from tunewright.execution.executors.inline import Inline
from tunewright.execution.workload import Workload
from tunewright.messages import Message
from tunewright.probes.clip import HALVINGS, clip
from tunewright.probes.probe import Answer, as_document
from tunewright.store.store import Store

HOLD = {"schedule": "constant"}


@pytest.fixture
def workload(tmp_path: Path) -> Any:
    def make(train: Any = sharpness_world.train, **more: Any) -> Workload:
        given = {"off": HOLD, **more}
        store = tmp_path / "tuning.db"
        return Workload(train, minimize("valid_loss"), store=store, executor=Inline(), **given)

    return make


def norms_of(rng: np.random.Generator, many: int, points: int = 500) -> np.ndarray:
    return rng.lognormal(0.0, 0.4, (many, points))


def test_recorded_norms_give_the_threshold_without_training() -> None:
    rng = np.random.default_rng(0)
    norms = norms_of(rng, 2)
    found = clip(results_of(list(noisy(rng, 2, 500, 0.02)), norms=list(norms)), trial=1)
    assert isinstance(found, Answer)
    assert found.clip_norm == pytest.approx(np.percentile(norms[1, 5:], 90), rel=0.01)
    assert found.settings == {"clip_norm": found.clip_norm}
    facts = found.message.facts
    assert found.message.code == "probe.clip.recorded"
    assert facts["clipped"]["share"] == pytest.approx(0.1, abs=0.01)
    assert facts["stable"] and not facts["clipped"]["too_often"]
    assert (found.round, found.trial) == ("made_up", 1)


def test_the_steps_of_a_spike_do_not_raise_the_threshold() -> None:
    rng = np.random.default_rng(1)
    losses, norms = noisy(rng, 1, 500, 0.02), norms_of(rng, 1)
    losses[0, 200:280] *= 4
    norms[0, 199:281] *= 50  # a sixth of the steps: the plain percentile would be inside the spike
    found = clip(results_of(list(losses), norms=list(norms)))
    assert np.percentile(norms[0], 90) > 20
    assert found.clip_norm is not None and found.clip_norm < 3
    assert not found.message.facts["stable"]


def test_norms_that_grow_are_clipped_too_often() -> None:
    rng = np.random.default_rng(2)
    norms = norms_of(rng, 1) * np.where(np.arange(500) < 450, 1.0, 6.0)
    found = clip(results_of(list(noisy(rng, 1, 500, 0.02)), norms=list(norms)))
    assert not found.settings
    assert found.message.facts["clipped"]["too_often"]


def test_what_recorded_rounds_lack_is_said() -> None:
    rng = np.random.default_rng(3)
    losses, norms = list(noisy(rng, 1, 200, 0.02)), norms_of(rng, 1, 200)
    (said,) = clip(results_of(losses)).missing
    assert said == Message("probe.clip.no_norms", {"name": "gradient_norm"})
    assert 'means={"gradient_norm": ...}' in said.text
    after = results_of(losses, norms=list(np.minimum(norms, 1.0)), clip_norm=1.0)
    (said,) = clip(after).missing
    assert said.code == "probe.clip.norms_after_clipping"


def test_an_outlier_gradient_is_mended_by_clipping(workload: Any) -> None:
    own = workload()
    found = clip(own, fixed={"learning_rate": 0.02, "sharp": 5.0, "burst": 40.0})
    assert found.learning_rate == pytest.approx(0.02)  # though half of it is unstable as well
    assert found.tried[-1].stable and found.clip_norm == found.tried[-1].clip_norm
    assert found.settings == {"clip_norm": found.clip_norm}
    assert found.clipped is not None and found.clipped.share < 0.5
    assert found.message.code == "probe.clip.stable"
    assert found.message.facts["clip_norm"] == found.clip_norm
    with Store.open(own.store) as store:
        kept = store.probes()[-1].answer
    assert kept["probe"] == "clip" and kept["clip_norm"] == found.clip_norm
    assert json.loads(json.dumps(as_document(found)))["tried"][0]["runs"]


def test_clipping_every_update_is_called_what_it_is(workload: Any) -> None:
    found = clip(workload(), fixed={"learning_rate": 0.01})
    assert found.tried[-1].stable and not found.settings
    assert found.message.facts["clipped"]["too_often"]


def test_a_stable_world_has_nothing_to_clip_for(workload: Any) -> None:
    found = clip(workload(), fixed={"learning_rate": 0.01, "sharp": 1.0})
    assert not found.tried and not found.settings and found.clip_norm
    assert found.message.code == "probe.clip.not_needed"


def test_it_clips_harder_while_unstable_and_gives_up(workload: Any) -> None:
    def stubborn(
        run: Any,
        learning_rate: float,
        clip_norm: float | None = None,
        schedule: str = "constant",
        max_train_steps: int = 1000,
    ) -> None:
        """Unstable above a learning rate of 0.1, however it is clipped."""
        for step in run.steps(max_train_steps):
            loss = 3.0 if learning_rate > 0.1 and 3 < step < 40 else 1.0
            run.log(step, train_loss=loss, valid_loss=loss, gradient_norm=1.0 + step % 7)

    found = clip(workload(stubborn), fixed={"learning_rate": 0.1}, steps=100)
    norms = [one.clip_norm for one in found.tried]
    assert len(norms) == HALVINGS + 1
    assert norms == pytest.approx([norms[0] / 2**n for n in range(4)], rel=0.01)
    assert found.clip_norm is None and not found.settings
    assert found.message.code == "probe.clip.still_unstable"
    assert found.message.facts["learning_rate"] == 0.125


def test_it_starts_from_training_without_clipping(workload: Any) -> None:
    own = workload()
    fixed = {"learning_rate": 0.02, "sharp": 5.0, "burst": 40.0, "clip_norm": 3.0}
    found = clip(own, fixed=fixed, steps=350)
    with Store.open(own.store) as store:
        unclipped = store.results(found.round).trials
    assert all(trial.configuration["clip_norm"] is None for trial in unclipped)


def test_what_is_missing_is_named(workload: Any) -> None:
    def bare(run: Any, learning_rate: float = 0.1, max_train_steps: int = 100) -> None:
        raise AssertionError("nothing may train")

    (said,) = clip(workload(bare, off=None)).missing
    assert said.code == "probe.takes_no_hyperparameter"
    assert said.facts == {"name": "clip_norm", "meaning": "clip_norm"}
    program = command("python train.py {learning_rate} {max_train_steps} {clip_norm}")
    fixed = {"learning_rate": 0.1, "max_train_steps": 100, "clip_norm": 1.0}
    (said,) = clip(workload(program, off=None), fixed=fixed).missing
    assert said == Message("probe.unclipped_unknown", {"name": "clip_norm"})
    assert said.text.endswith('off={"clip_norm": ...}')
    with pytest.raises(DesignError, match="give the trial itself"):
        clip(workload(), trial=3)


@pytest.mark.slow
def test_a_residual_network_is_made_stable_by_clipping(workload: Any) -> None:
    found = clip(workload(residual_world.train), fixed={"learning_rate": 3e-4}, steps=150)
    assert found.learning_rate == pytest.approx(1.5e-3, rel=0.5)
    assert found.tried[-1].stable and found.clip_norm
