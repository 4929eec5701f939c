"""The train-steps probe on real images: what it proposes is enough, and half of it is not."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("sklearn")

from tests.probes import digits_network as network

import tunewright as tw
from tunewright.execution.executors.inline import Inline
from tunewright.probes.critical_batch import critical_batch
from tunewright.probes.train_steps import train_steps

OFF = {"schedule": "constant"}


def workload(train, folder) -> tw.Workload:
    objective = tw.minimize("valid_error")
    return tw.Workload(train, objective, store=folder / "tuning.db", executor=Inline(), off=OFF)


def errors(own: tw.Workload, learning_rate: float, steps: int) -> list[float]:
    """The last training errors of three new seeds, trained as the probe did."""
    round = tw.Round(
        f"again_{steps}",
        goal="Is it enough?",
        fixed={"learning_rate": learning_rate, "max_train_steps": steps, "dropout": 0.0, **OFF},
        trials_per_study=3,
        seed=5,
    )
    return [float(t.curves["train_error"].values[-1]) for t in tw.run(round, own).trials]


def test_digits_are_fit_in_as_many_steps_as_proposed(tmp_path):
    own = workload(network.train_digits, tmp_path)
    found = train_steps(own, learning_rate=0.1)
    assert found.verdict == "fits" and found.criterion.facts["limit"] == 0.001
    assert found.off == {"schedule": "constant", "dropout": 0.0}
    assert found.resolution <= 0.03 * found.fit_steps
    assert sorted(errors(own, found.learning_rate, found.max_train_steps))[1] <= 0.005
    assert sorted(errors(own, found.learning_rate, found.fit_steps // 2))[1] > 0.001


@pytest.mark.slow
@pytest.mark.skipif(not network.FASHION.exists(), reason="Fashion-MNIST is not here")
def test_fashion_mnist_is_fit_well_enough_in_as_many_steps_as_proposed(tmp_path):
    """To an error of 5 %: a perfect fit of these 4,000 images takes 7,300 steps, which is long."""
    own = workload(network.train_fashion, tmp_path)
    found = train_steps(own, learning_rate=0.03, metric="train_error", at_most=0.05)
    assert found.verdict == "fits" and found.criterion.facts["limit"] == 0.05
    assert sorted(errors(own, found.learning_rate, found.max_train_steps))[1] <= 0.09
    assert sorted(errors(own, found.learning_rate, found.fit_steps // 2))[1] > 0.05


@pytest.mark.slow
def test_digits_have_a_critical_batch_size(tmp_path):
    found = critical_batch(
        workload(network.train_digits, tmp_path),
        batch_sizes=[8, 16, 32, 64],
        nuisance={"learning_rate": tw.log(1e-3, 1.0)},
        fixed={"dropout": 0.0, **OFF},
        max_train_steps=400,
        trials=12,
    )
    steps = [point.steps for point in found.sizes if point.valid]
    assert len(steps) >= 3 and steps[0] > steps[-1]
    assert found.verdict in ("inside", "below", "above") and found.settings
