"""Case 9: a trial that dies three times is failed, with cause and log; the round goes on."""

from __future__ import annotations

import os
import signal
from collections import Counter

import pytest
from tests.faults.endurance import note
from tests.faults.quick_rounds import REPETITIONS, lines

import tunewright as tw


def falls(run, kind, journal, nothing=0):
    note(journal, f"{run.number} {run.attempt} began")
    print(f"attempt {run.attempt} stands at the edge", flush=True)
    run.log(1, valid_error=0.5)
    if kind == "falls":
        os.kill(os.getpid(), signal.SIGKILL)
    note(journal, f"{run.number} {run.attempt} ended")


@pytest.mark.parametrize("repetition", REPETITIONS)
def test_case_09(tmp_path, repetition):
    journal = tmp_path / "journal"
    round = tw.Round(
        "deaths",
        goal="Does the round go on?",
        scientific={"kind": ["stands", "falls"]},
        nuisance={"nothing": [0, 1, 2]},
        fixed={"journal": str(journal)},
        trials_per_study=2,
    )
    workload = tw.Workload(
        falls,
        tw.minimize("valid_error"),
        store=tmp_path / "tuning.db",
        executor=tw.Local(workers=2, devices=[]),
    )
    results = tw.run(round, workload)
    assert results.counts == {"completed": 2, "failed": 2}
    began = Counter(line[0] for line in lines(journal) if line[2] == "began")
    for trial in results.trials:
        if trial.status == "completed":
            assert began[trial.number] == trial.attempts == 1
            continue
        assert began[trial.number] == trial.attempts == 3
        assert (trial.reason.code, trial.reason.facts["deaths"]) == ("trial.died_repeatedly", 3)
        assert trial.reason.facts["cause"]["signal"] == "SIGKILL"
        assert "attempt 3 stands at the edge" in trial.detail, "the tail of its log"
    before = journal.read_text()
    assert tw.run(round, workload).counts == results.counts
    assert journal.read_text() == before, "a failed trial is not tried again unless asked for"
