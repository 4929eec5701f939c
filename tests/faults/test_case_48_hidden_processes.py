"""Case 48: a process that /proc hides from this user (hidepid) is not taken for dead."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tunewright.store import leases
from tunewright.store.leases import has_ended, this_process

HERE = replace(this_process(), pid=2**22 - 7, started="12345")


@pytest.mark.parametrize(
    ("answer", "ended"),
    [(PermissionError, False), (None, False), (ProcessLookupError, True), (OverflowError, True)],
)
def test_case_48(monkeypatch, answer, ended):
    def kill(pid: int, signal: int) -> None:
        assert (pid, signal) == (HERE.pid, 0)
        if answer is not None:
            raise answer

    monkeypatch.setattr(os, "kill", kill)
    monkeypatch.setattr(leases, "_stat", lambda pid: [])
    assert has_ended(HERE) is ended


def test_case_48_a_clone_of_this_machine_is_another_one():
    assert has_ended(HERE), "there is no such process here"
    assert not has_ended(replace(HERE, host="clone")), "and on the clone nobody knows"
