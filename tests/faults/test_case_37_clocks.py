"""Case 37: clocks that jump an hour or differ by ten minutes expire nobody who lives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.endurance import Endurance
from tests.faults.quick_rounds import REPETITIONS, Askers, check, lines

import tunewright as tw

LEASE = {"TUNEWRIGHT_LEASE_S": "3"}
# libfaketime would do, but it breaks Python's time.sleep, and with it everything that waits
WRONG_CLOCK = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
    long seconds = 0;
    FILE *file = fopen(getenv("WRONG_BY"), "r");
    if (file) { if (fscanf(file, "%ld", &seconds) != 1) seconds = 0; fclose(file); }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, clock, now);
    if (!result && clock == CLOCK_REALTIME) now->tv_sec += offset();
    return result;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    """What gives a process a wall clock that is wrong; the monotonic one stays as it is."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("a wrong clock needs Linux and a C compiler")
    built = tmp_path_factory.mktemp("clock") / "wrong_clock.so"
    arguments = [compiler, "-shared", "-fPIC", "-O", "-x", "c", "-", "-o", str(built)]
    done = subprocess.run(arguments, input=WRONG_CLOCK, text=True, capture_output=True, timeout=60)
    if done.returncode:
        pytest.skip(f"cannot be compiled: {done.stderr}")
    return built


@pytest.fixture
def wrong_by(library, tmp_path) -> Callable[[int], dict[str, str]]:
    """The environment of a process whose clock is wrong by so many seconds."""

    def make(seconds: int) -> dict[str, str]:
        file = tmp_path / f"wrong by {seconds}"
        file.write_text(str(seconds))
        return {"LD_PRELOAD": str(library), "WRONG_BY": str(file), **LEASE}

    return make


def check_nobody_expired(round: Endurance) -> None:
    results = round.check()
    assert {t.attempts for t in results.trials} == {1}, "no live trial was taken for dead"
    for trial in results.trials:
        assert 0 < trial.seconds < 60, "durations are of the monotonic clock"


@pytest.mark.parametrize("repetition", REPETITIONS)
@pytest.mark.parametrize("jump_s", [-3600, pytest.param(3600, marks=pytest.mark.slow)])
def test_case_37_a_jump(store_url, tmp_path, wrong_by, jump_s, repetition):
    environment = wrong_by(0)
    round = Endurance(store_url, tmp_path, 6, sleep_s=0.2, environment=environment)
    try:
        owner = round.start()
        round.wait_for("began", 2)
        helper = round.start("join")
        round.wait_for("ended", 1)
        Path(environment["WRONG_BY"]).write_text(str(jump_s))
        for process in (owner, helper):
            _, said = process.communicate(timeout=180)
            assert process.returncode == 0, said
        check_nobody_expired(round)
    finally:
        round.close()


@pytest.mark.parametrize("repetition", REPETITIONS)
def test_case_37_three_clocks(store_url, tmp_path, wrong_by, repetition):
    """One worker's clock is ten minutes ahead of another's, and a third's behind it."""
    journal = tmp_path / "journal"
    askers = Askers(store_url, journal, 9, sleep_s=0.4)
    try:
        askers.start(1, **wrong_by(600))
        askers.start(1, **LEASE)
        askers.start(1, **wrong_by(-600))
        askers.go()
        askers.finish()
    finally:
        askers.close()
    check(tw.load(store_url, "quick"), journal, 9)
    assert {attempt for _, attempt, _ in lines(journal)} == {1}, "no live trial was expired"


@pytest.mark.parametrize("repetition", REPETITIONS)
def test_case_37_a_second_supervisor_with_another_clock(store_url, tmp_path, wrong_by, repetition):
    """To it the owner's last beat is an hour old; but it beats."""
    round = Endurance(store_url, tmp_path, 4, sleep_s=0.1, environment=LEASE)
    round.hold()
    try:
        owner = round.start()
        round.wait_for("began", 2)
        round.environment = wrong_by(3600)
        second = round.start()
        _, said = second.communicate(timeout=180)
        assert second.returncode == 1 and "Busy: another supervisor runs this round" in said, said
        round.go_on()
        assert owner.wait(180) == 0
        check_nobody_expired(round)
    finally:
        round.close()


def test_case_37_the_clock_is_really_wrong(wrong_by):
    """Else the cases above would prove nothing."""
    says = [sys.executable, "-c", "import time; print(time.time(), time.monotonic())"]
    out = subprocess.check_output(says, env={**os.environ, **wrong_by(3600)}, text=True, timeout=60)
    wall, monotonic = map(float, out.split())
    assert wall - time.time() > 3000
    assert abs(time.monotonic() - monotonic) < 600
