"""Case 2: the trial of a machine that is lost comes to those who ask for one, in time."""

from __future__ import annotations

import time

import psycopg
import pytest
from tests.faults.endurance import kill
from tests.faults.quick_rounds import LEASES_S, OBJECTIVE, Askers, asked, lines, rates

import tunewright as tw


@pytest.mark.postgres
@pytest.mark.parametrize("lease_s", LEASES_S)
def test_case_02_lost_host(new_postgres_url, tmp_path, monkeypatch, lease_s):
    monkeypatch.setenv("TUNEWRIGHT_LEASE_S", str(lease_s))
    store, journal = new_postgres_url(), tmp_path / "journal"
    askers = Askers(store, journal, 2, sleep_s=30.0)
    try:
        askers.start(1)
        askers.go()
        while not lines(journal):
            time.sleep(0.02)
        kill(askers.processes[0].pid)
    finally:
        askers.close()
    with psycopg.connect(store) as raw:  # its process cannot be looked at from here
        raw.execute("UPDATE worker SET host = 'lost', boot = 'another machine'")
    with tw.open_round(
        asked(journal, 2, sleep_s=30.0), OBJECTIVE, store, search=rates(2)
    ) as session:
        numbers = []
        while (trial := session.ask()) is not None:
            numbers.append((trial.number, trial.attempt))
            time.sleep(1.5 * lease_s)  # it asks more seldom than it would have to look
            trial.log(1, valid_error=0.5)
            trial.finish()
    assert numbers == [(1, 1), (0, 2)]
    assert tw.load(store, "quick").counts == {"completed": 2}
