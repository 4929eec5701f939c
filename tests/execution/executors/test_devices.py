"""Devices and cores: found without torch, shared out to trials."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.execution.driving import drive

from tunewright.errors import WorkloadError
from tunewright.execution.executors import devices
from tunewright.execution.executors.local import Local
from tunewright.execution.training_run import Run


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("", ()),
        ("-1", ()),
        ("0", ("0",)),
        ("2, 0", ("2", "0")),
        ("0,-1,1", ("0",)),  # CUDA stops at the first one that is none
        ("GPU-8932f937,MIG-d5a1", ("GPU-8932f937", "MIG-d5a1")),
    ],
)
def test_the_variable_decides(
    monkeypatch: pytest.MonkeyPatch, variable: str, expected: tuple[str, ...]
) -> None:
    monkeypatch.setenv(devices.VISIBLE, variable)
    assert devices.visible_devices() == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("printf '0\\n1\\n'", ("0", "1")), ("echo No devices were found", ()), ("exit 9", ())],
)
def test_else_the_driver_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str, expected: tuple[str, ...]
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.delenv(devices.VISIBLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert devices.visible_devices() == expected


@pytest.mark.beyond_core
def test_torch_is_not_needed_to_find_them() -> None:
    source = "import sys; from tunewright.execution.executors import local; local.Local().slots; "
    source += "print('torch' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True)
    assert answer.stdout.strip() == b"False"


@given(st.integers(0, 20), st.integers(1, 8))
def test_groups_share_the_devices_out(count: int, per_trial: int) -> None:
    all_devices = [str(at) for at in range(count)]
    if 0 < count < per_trial:
        with pytest.raises(WorkloadError, match="lower it, or name more devices"):
            devices.groups(all_devices, per_trial)
        return
    groups = devices.groups(all_devices, per_trial)
    assert len(groups) == count // per_trial
    assert all(len(group) == per_trial for group in groups)
    shared = [device for group in groups for device in group]
    assert len(set(shared)) == len(shared)


def test_slots_go_by_devices_else_by_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Local(devices=[0, 1, 2, 3], devices_per_trial=2).slots == 2
    assert Local(workers=3, devices=[0]).slots == 3
    assert Local(devices=[]).slots == devices.cores() >= 1
    monkeypatch.setenv(devices.VISIBLE, "4,5,6")
    assert Local().slots == 3


def tells_its_devices(run: Run) -> None:
    visible, threads = os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ["OMP_NUM_THREADS"]
    (run.folder / "devices").write_text(f"{visible} {','.join(run.devices)} {threads}")
    while len(list(run.folder.parent.glob("*/devices"))) < 2:  # both at once
        pass
    run.log(1, valid_error=0.5)


@pytest.mark.beyond_core
def test_each_trial_sees_its_own_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    executor = Local(devices=["3", "4", "5", "7"], devices_per_trial=2)
    try:
        told = drive(executor, tells_its_devices, tmp_path, [{}, {}])
    finally:
        executor.close()
    found = {(each.folder / "devices").read_text() for each in told}
    threads = max(1, devices.cores() // 2)
    assert found == {f"3,4 3,4 {threads}", f"5,7 5,7 {threads}"}
    assert {each.began[0].devices for each in told} == {("3", "4"), ("5", "7")}
