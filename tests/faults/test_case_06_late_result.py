"""Case 6: a worker that comes back after its lease was taken overwrites nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from tests.faults.quick_rounds import LEASES_S

import tunewright as tw

ROUND = tw.Round("late", goal="Who wins?", nuisance={"x": tw.log(0.1, 1.0)}, trials_per_study=1)
SLEEPER = """
import logging, os, sys, time
import tunewright as tw
from tests.faults.test_case_06_late_result import ROUND

logging.basicConfig()
with tw.open_round(ROUND, tw.minimize("error"), sys.argv[1]) as session:
    trial = session.ask()
    print("asked", flush=True)
    sys.stdin.readline()
    trial.log(1, error=0.25)
    trial.finish()
    print(trial.status, flush=True)
"""


@pytest.fixture(params=LEASES_S)
def lease_s(request, monkeypatch):
    monkeypatch.setenv("TUNEWRIGHT_LEASE_S", str(request.param))
    return request.param


@pytest.fixture
def sleeper(store_url, lease_s):
    path = os.pathsep.join(sys.path)
    process = subprocess.Popen(
        [sys.executable, "-c", SLEEPER, store_url],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.communicate()


def test_case_06(store_url, sleeper, lease_s):
    assert sleeper.stdout.readline() == "asked\n", sleeper.stderr.read()
    os.kill(sleeper.pid, signal.SIGSTOP)
    with tw.open_round(ROUND, tw.minimize("error"), store_url) as session:
        deadline = time.monotonic() + 60 + 2 * lease_s
        while (trial := session.ask()) is None:
            assert time.monotonic() < deadline, "the lease of a silent owner never ran out"
            time.sleep(0.1)
        assert (trial.number, trial.attempt) == (0, 2)
        trial.log(1, error=0.5)
        trial.finish()
    os.kill(sleeper.pid, signal.SIGCONT)
    _, warned = sleeper.communicate("go on\n", timeout=60)
    assert sleeper.returncode == 0, warned
    assert "Nothing was overwritten" in warned, "it is logged"
    result = tw.load(store_url, "late").trial(0)
    assert (result.value, result.attempts) == (0.5, 2)
