"""Several processes on one store: every trial once, the total as asked, no lock error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.store.record_parts import a_round, begin

from tunewright.store.store import Store

pytestmark = pytest.mark.beyond_core

WRITER = """
import json, sys
sys.path.insert(0, sys.argv[2])
from tests.store.record_parts import STOPPED, curve
from tunewright.store.outcome import Outcome
from tunewright.store.store import Store
with Store.open(sys.argv[1]) as store:
    record = store.round("depth")
    worker = store.register(record.id, "session", exclusive=False)
    print("ready", flush=True)
    sys.stdin.readline()
    done = []
    while claims := store.claim(record.id, worker, 1):
        (claim,) = claims
        store.beat(worker)
        store.log(claim, [curve(float(claim.number))], first=0)
        if claim.number % 7 == 0 and claim.attempt == 1:
            store.end(claim, Outcome("stopped", STOPPED))
            continue
        batches = [curve(float(claim.number), first=2)]
        store.end(claim, Outcome("completed", batches=batches, first=1))
        done.append(claim.number)
    store.retire(worker)
print(json.dumps(done))
"""


def check_writing_together(url: str, processes: int, trials_per_study: int) -> None:
    with Store.open(url) as store:
        begin(store, a_round(trials_per_study=trials_per_study))
    command = [sys.executable, "-c", WRITER, url, str(Path(__file__).parent)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    writers = [subprocess.Popen(command, text=True, **pipes) for _ in range(processes)]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    told: list[int] = []
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        out, problems = writer.communicate()
        assert (writer.returncode, problems) == (0, "")
        told += json.loads(out)
    total = 2 * trials_per_study
    assert sorted(told) == list(range(total)), "each once, as the writers themselves say"
    with Store.open(url) as store:
        results = store.results("depth")
    assert [t.status for t in results.trials] == ["completed"] * total
    for trial in results.trials:
        assert trial.number is not None
        assert trial.attempts == (2 if trial.number % 7 == 0 else 1)
        assert trial.curves["valid_error"].values.tolist() == [float(trial.number)] * 2


@pytest.mark.parametrize("processes", [pytest.param(2, marks=pytest.mark.slow), 4])
def test_writers_share_a_round(store_url: str, processes: int) -> None:
    check_writing_together(store_url, processes, trials_per_study=30)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [8, 16])
def test_many_writers_share_a_round(store_url: str, processes: int) -> None:
    check_writing_together(store_url, processes, trials_per_study=500)
