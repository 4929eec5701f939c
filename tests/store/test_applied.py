"""Applied values travel from a program to `trial.applied`, beside the provenance."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

import tunewright as tw
from tunewright.execution.training_run import Run
from tunewright.execution.workload import Workload
from tunewright.store.schema import provenance
from tunewright.store.store import Store

ROUND = tw.Round(
    name="rates", goal="Which?", nuisance={"lr": tw.log(1e-3, 1.0)}, trials_per_study=3
)
PROGRAM = """
import json, sys
lr = float(sys.argv[1])
print(json.dumps({"applied": {"lr": lr, "optimizer": {"name": "adam"}}}))
print(json.dumps({"applied": "not ours"}))
print(json.dumps({"step": 1, "valid_error": lr, "applied": 2.0}))
"""


def clips(run: Run, lr: float) -> None:
    run.applied(lr=min(lr, 0.01))
    run.applied({"momentum": 0.9})
    run.log(1, valid_error=lr)


def silent(run: Run, lr: float) -> None:
    run.log(1, valid_error=lr)


def applied_by(train: Any, place: Path, executor: Any = None) -> list[Mapping[str, Any] | None]:
    store, ran_by = str(place / "tuning.db"), executor or tw.executors.Inline()
    workload = Workload(train, tw.minimize("valid_error"), store=store, executor=ran_by)
    results = tw.run(ROUND, workload, progress="off")
    return [trial.applied for trial in results.trials]


def test_a_function_reports_what_it_used(tmp_path: Path) -> None:
    found = applied_by(clips, tmp_path)
    with Store.open(tmp_path / "tuning.db") as store:
        trials = store.results("rates").trials
        assert [trial.applied for trial in trials] == found
        assert all(store.trial(t.identity).applied == t.applied for t in trials)
        origins = store.results("rates").origins
        # the shared provenance is found behind every trial, and stored once
        assert {trial.identity for trial in trials} == set(origins)
        assert all(store.provenance(trial) == origins[trial.identity] for trial in trials)
        assert len({origin.sha256 for origin in origins.values()}) == 1
        with store._database.reading() as connection:
            rows = connection.execute(select(func.count()).select_from(provenance)).scalar_one()
        assert rows <= 1 + len(trials)
    for trial in trials:
        lr = min(float(trial.configuration["lr"] or 0), 0.01)  # type: ignore[arg-type]
        assert trial.applied == {"lr": lr, "momentum": 0.9}


def test_without_a_report_there_is_none(tmp_path: Path) -> None:
    assert applied_by(silent, tmp_path) == [None, None, None]


@pytest.mark.beyond_core
def test_worker_processes_and_commands_report_it_too(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    command = tw.command(f"{sys.executable} {tmp_path / 'train.py'} {{lr}}")
    for train, name in ((clips, "momentum"), (command, "optimizer.name")):
        place = tmp_path / name
        place.mkdir()
        found = applied_by(train, place, tw.Local(workers=1))
        assert all(own is not None and name in own for own in found)
