"""Telling one process from a later one of its pid."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tunewright.store.leases import Process, has_ended, start_of, this_process


def test_this_process_is_alive_and_known_by_its_start() -> None:
    here = this_process()
    assert here.pid == os.getpid() and here.host
    assert not has_ended(here)
    assert here.started == start_of(os.getpid())


@pytest.mark.beyond_core
def test_an_ended_process_is_gone_and_so_is_one_whose_pid_another_has() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    here = this_process()
    assert child.stdin is not None
    other = Process(here.host, here.boot, child.pid, start_of(child.pid))
    assert not has_ended(other)
    child.stdin.close()
    # it is a zombie until it is waited for, and gone all the same
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert has_ended(other)
    child.wait()
    assert has_ended(other)
    assert has_ended(replace(here, started="1"))


def test_what_cannot_be_seen_from_here_is_not_called_gone() -> None:
    here = this_process()
    assert not has_ended(replace(here, boot="another machine", pid=1))
    assert not has_ended(replace(here, boot="", started=""))
