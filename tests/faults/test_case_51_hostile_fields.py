"""Case 51: numbers and folders that were altered in files or in the store do no harm."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from tests.faults.quick_rounds import OBJECTIVE, asked, workload

import tunewright as tw
from tunewright import snapshot
from tunewright.errors import Damaged
from tunewright.store.curves import pack
from tunewright.store.spool import read_result
from tunewright.store.store import Store

RESULT = {
    "trial": 1,
    "attempt": 2,
    "status": "completed",
    "reason": "",
    "detail": "",
    "seconds": 1.0,
    "peak_memory_mb": None,
    "died": False,
    "start_step": 0,
    "first": 0,
    "batches": [base64.b64encode(pack({"valid_error": ([1], [0.5])})).decode()],
}


def write(path: Path, content: object) -> Path:
    """A file with a right checksum, whatever it says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    told = json.dumps(content)
    path.write_text(
        f'{{"sha256": "{hashlib.sha256(told.encode()).hexdigest()}", "content": {told}}}'
    )
    return path


@pytest.mark.parametrize(
    "patch",
    [
        {"attempt": 10**30},
        {"attempt": 2_000_000},
        {"first": 10**30},
        {"start_step": 10**30},
        {"trial": 10**30},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"seconds": 10**400},
        {"peak_memory_mb": float("nan")},
    ],
    ids=str,
)
def test_case_51_a_result_with_a_hostile_number_is_passed_over(tmp_path, patch):
    store, journal = tmp_path / "tuning.db", tmp_path / "journal"
    with tw.open_round(asked(journal, 2), OBJECTIVE, store) as session:
        session.ask()  # given back when the session is closed
    (round_folder,) = (tmp_path / "tuning.db.trials").glob("r1-*")
    file = write(round_folder / "t000000" / "result.2.json", {**RESULT, **patch})
    with pytest.raises(Damaged):
        read_result(file)
    results = tw.run(asked(journal, 2), workload(store))
    assert results.counts == {"completed": 2}
    assert all(trial.attempts <= 2 for trial in results.trials)


@pytest.mark.parametrize("kind", ["fifo", "device", "folder"])
def test_case_51_only_plain_files_are_read(tmp_path, kind):
    path = tmp_path / "result.1.json"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    with pytest.raises(Damaged):
        read_result(path)


@pytest.mark.parametrize("folder", ["../../outside/t000000", "{}/outside/t000000"])
def test_case_51_no_trial_is_written_outside_the_root(store_url, tmp_path, folder):
    outside = tmp_path / "outside"
    root = tmp_path / "inner" / "trials"
    work = workload(store_url, root)
    round = asked(tmp_path / "journal", 2)
    with tw.open_round(round, OBJECTIVE, store_url, folder=root):
        pass
    server = store_url.startswith("postgresql")
    url = store_url.replace("postgresql:", "postgresql+psycopg:") if server else store_url
    engine = create_engine(url if server else f"sqlite:///{url}")
    with engine.begin() as connection:
        change = text("UPDATE trial SET folder = :folder WHERE number = 0")
        connection.execute(change, {"folder": folder.format(tmp_path)})
    engine.dispose()
    with pytest.raises(Damaged):
        tw.run(round, work)
    assert not outside.exists() and not (tmp_path / "inner" / "outside").exists()


@pytest.mark.parametrize(
    "files",
    [
        {"tensors.safetensors": 5, "tree.json": None},
        {"tensors.safetensors": {}, "tree.json": {"size": 1}},
        {"tensors.safetensors": {"sha256": "a", "size": "1"}, "tree.json": {"sha256": 1}},
        {
            "tensors.safetensors": {"sha256": "a", "size": 10**40},
            "tree.json": {"sha256": "b", "size": -1},
        },
    ],
)
def test_case_51_a_manifest_of_wrong_types_is_skipped(tmp_path, files):
    good = snapshot.save(tmp_path, {"a": 1}, step=1)
    bad = snapshot.save(tmp_path, {"a": 2}, step=2)
    manifest = json.loads((bad.path / "manifest.json").read_text())
    (bad.path / "manifest.json").write_text(json.dumps({**manifest, "files": files}))
    found = snapshot.latest(tmp_path)
    assert found is not None and found.path == good.path and len(found.skipped) == 1
    assert [one.path for one in snapshot.list_snapshots(tmp_path)] == [good.path]


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("trial", "status", "finished"),
        ("trial", "seconds", "x"),
        ("trial", "seed", "x"),
        ("trial", "configuration", "[]"),
        ("trial", "reason", b"\xff"),
        ("trial", "seconds", 9e999),
        ("attempt", "began", 1e300),
        ("attempt", "began", "x"),
        ("round", "created", 1e300),
        ("round", "created", "x"),
        ("round", "directory", b"\xff"),
        ("provenance", "payload", "[]"),
        ("provenance", "payload", "{}"),
    ],
)
def test_case_51_an_altered_field_is_damage(tmp_path, table, column, value):
    store = tmp_path / "tuning.db"
    tw.run(asked(tmp_path / "journal", 1), workload(store))
    with closing(sqlite3.connect(store)) as connection:
        connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
        connection.commit()
    with pytest.raises(Damaged), Store.open(store, create=False) as opened:
        (found,) = opened.results("quick").trials
        opened.attempts(found.identity)
        opened.provenance(found.identity)
        dict(found.curves)
