"""Case 27: scalars of NumPy and torch, and large integers, are numbers."""

from __future__ import annotations

import pytest
from tests.execution import misbehaving
from tests.faults import bad_days

from tunewright.execution.executors.inline import Inline


def test_case_27(tmp_path):
    day = bad_days.bad_day(tmp_path, [f"number: {what}" for what in misbehaving.NUMBERS])
    for what, (_, value) in misbehaving.NUMBERS.items():
        trial = day.of(f"number: {what}")
        assert (trial.status, trial.value) == ("completed", value)
        assert trial.number in day.ended


@pytest.mark.torch
def test_case_27_torch(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")

    def tensor(run):
        run.log(1, valid_error=torch.tensor(0.25, requires_grad=True))
        run.log(2, valid_error=torch.tensor(3))

    monkeypatch.setitem(bad_days.KINDS, "tensor", tensor)
    day = bad_days.bad_day(tmp_path, ["tensor"], executor=Inline())  # workers do not know it
    assert day.of("tensor").curves["valid_error"].values.tolist() == [0.25, 3.0]
    assert day.of("tensor").value == 0.25


def test_case_27_a_step_beyond_all_bounds_is_named(tmp_path, monkeypatch):
    def enormous(run):
        run.log(10**30, valid_error=0.5)

    monkeypatch.setitem(bad_days.KINDS, "enormous", enormous)
    trial = bad_days.bad_day(tmp_path, ["enormous"], executor=Inline()).of("enormous")
    assert (trial.status, trial.reason.code) == ("failed", "step.out_of_bounds")
