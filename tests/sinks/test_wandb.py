"""W&B: real offline runs, read back by the importer of this package."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.small_disk import small_disk
from tests.sinks import contract
from tests.sinks.contract import Found

import tunewright as tw
from tunewright.design.workload_file import Sink
from tunewright.importers._wandb import _updates, fields, inside, read_run, records

pytest.importorskip("wandb")
pytestmark = pytest.mark.beyond_core
SUMMARY = 3  # the kind of record


def read(where: Path) -> dict[str, Found]:
    found = {}
    for path in where.glob("offline-run-*/*.wandb"):
        own = read_run(path)
        summary = {
            name.removeprefix("tunewright."): value
            for record in records(path)
            for kind, part in fields(record)
            if kind == SUMMARY
            for name, value in _updates(inside(part))
        }
        assert own.exit_code == (0 if summary["status"] == "completed" else 1)
        assert own.name not in found, "one run per trial"
        curves = {
            name: list(zip(steps, values, strict=True))
            for name, (steps, values) in own.points.points().items()
        }
        found[own.name] = Found(summary["status"], own.config, curves, summary)
    return found


def test_offline_runs_hold_what_the_store_holds(tmp_path: Path) -> None:
    sink = Sink("wandb", str(tmp_path / "wandb"))
    contract.check_sink(sink, read, tmp_path)
    back = tw.importers.wandb(tmp_path / "wandb", objective=contract.OBJECTIVE)
    assert [t.status for t in back.trials].count("completed") == 3
    assert set(back.trials[0].configuration) == {"learning_rate", "optimizer", "max_train_steps"}


def test_an_uploaded_run_stays_as_it_is(tmp_path: Path) -> None:
    sink = Sink("wandb", str(tmp_path / "wandb"))
    store = contract.recorded(tmp_path, trials=3)
    assert contract.one(tw_sync(store, sink)).whole
    runs = sorted((tmp_path / "wandb").glob("offline-run-*"))
    for folder in runs:
        next(folder.glob("*.wandb")).with_suffix(".wandb.synced").touch()
    for path in tmp_path.rglob("sinks/*.json"):
        path.unlink()
    assert contract.one(tw_sync(store, sink)).whole
    assert sorted((tmp_path / "wandb").glob("offline-run-*")) == runs


def tw_sync(store: str, sink: Sink) -> tuple[contract.Synced, ...]:
    return contract.sync(store, contract.ROUND, sink)


def test_killed_in_the_middle_and_caught_up(tmp_path: Path) -> None:
    contract.check_killed(Sink("wandb", str(tmp_path / "wandb")), read, tmp_path, (0.0, 0.02))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    contract.check_unreachable(Sink("wandb", str(tmp_path / "wandb")), read, tmp_path)


def test_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 2):
        sink = Sink("wandb", str(tmp_path / "disk" / "wandb"))
        contract.check_full(sink, read, tmp_path, tmp_path / "disk")
