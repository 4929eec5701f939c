"""Case 52: a snapshot that does not fit on the disk is no death of its trial."""

from __future__ import annotations

import errno

import numpy as np
from tests.faults.quick_rounds import OBJECTIVE

import tunewright as tw
from tunewright import snapshot
from tunewright.execution import ledger
from tunewright.execution.conclude import Seen, conclude, space_needed_mb
from tunewright.execution.processes.attempt import judge
from tunewright.messages import Message
from tunewright.store.outcome import Outcome

TIMES = 5  # more than the three deaths that fail a trial
refused: list[int] = []


def train(run, learning_rate):
    run.log(1, valid_error=learning_rate)
    run.save({"weights": np.zeros(2**18)}, 1)


def test_case_52(tmp_path, monkeypatch):
    refused.clear()
    write = snapshot._write_arrays

    def full(path, encoded) -> None:
        if len(refused) < TIMES:
            refused.append(1)
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, encoded)

    asked: list[float] = []
    look = ledger.short_of_space

    def short(folder, reserve_mb=64):
        asked.append(reserve_mb)
        return look(folder, 0)

    monkeypatch.setattr(snapshot, "_write_arrays", full)
    monkeypatch.setattr(ledger, "short_of_space", short)
    round = tw.Round(
        "large",
        goal="Does it go on?",
        nuisance={"learning_rate": tw.log(1e-4, 1e-1)},
        trials_per_study=2,
    )
    work = tw.Workload(
        train, OBJECTIVE, store=tmp_path / "tuning.db", executor=tw.executors.Inline()
    )
    results = tw.run(round, work)
    assert results.counts == {"completed": 2}, "tried again until it fitted"
    assert sum(trial.attempts for trial in results.trials) == 2 + TIMES
    assert max(asked) >= 64 + 2, "space for such a snapshot is kept free from then on"


def test_case_52_only_a_snapshot_of_ours_waits_for_space():
    error = OSError(errno.ENOSPC, "No space left on device")
    outcome, reason, _ = judge(error)
    end = Outcome(outcome, reason)
    assert space_needed_mb(end) is None and conclude(end, Seen(), OBJECTIVE, 2).status == "failed"
    large = Outcome("died", Message("disk.full", {**reason.facts, "needed_mb": 90}))
    verdict = conclude(large, Seen(), OBJECTIVE, 2)
    assert (verdict.status, verdict.becomes) == ("stopped", "pending")
