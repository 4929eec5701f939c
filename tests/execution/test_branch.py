"""Branches resume from the snapshot of another trial, whatever interrupts their beginning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.probes.branch_worlds import decaying

import tunewright as tw
from tunewright import snapshot
from tunewright.execution.branch import branch
from tunewright.execution.executors.inline import Inline
from tunewright.messages import Message
from tunewright.store.store import Store

ORIGIN = Message("stopped.branched", {"trial": 0, "round": "a", "step": 60})


def round(name: str, **fixed: Any) -> tw.Round:
    given = {"learning_rate": 0.1, "max_train_steps": 80, "slow": 2.0, "noise": 0.0, **fixed}
    return tw.Round(name, goal="?", nuisance={}, fixed=given, trials_per_study=2)


def test_branches_resume_and_called_again_nothing_changes(tmp_path: Path) -> None:
    work = tw.Workload(
        decaying, tw.minimize("valid_error"), store=tmp_path / "tuning.db", executor=Inline()
    )
    source = snapshot.save(tmp_path / "elsewhere", {"progress": 3.0}, step=60)
    for _ in range(2):
        branch(round("branches"), work, source, ORIGIN)
    with Store.open(work.store) as store:
        before = store.results("branches").trials
        assert [(t.status, t.attempts) for t in before] == [("pending", 1)] * 2
        # somebody claimed one and died before it was begun: it resumes all the same
        worker = store.register(store.round("branches").id, "session", exclusive=False)
        store.claim(store.round("branches").id, worker, 1)
        store.retire(worker)
    branch(round("branches"), work, source, ORIGIN)
    results = tw.run(round("branches"), work)
    assert results.counts == {"completed": 2}
    for trial in results.trials:
        assert trial.curves["valid_error"].steps.tolist() == [65, 70, 75, 80]
    with Store.open(work.store) as store:
        ends = [store.attempts(t.identity)[-1].start_step for t in results.trials]
        causes = [store.attempts(t.identity)[0].cause for t in results.trials]
    assert ends == [60, 60] and causes == [ORIGIN, ORIGIN]
