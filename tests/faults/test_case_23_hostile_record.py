"""Case 23: pickles and hostile JSON in the store or the spool: rejected, never executed."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import sqlite3
from contextlib import closing

import pytest
from tests.faults.quick_rounds import asked, check, workload
from tests.faults.test_case_22_hostile_checkpoint import Bomb

import tunewright as tw
from tunewright.errors import Damaged, TunewrightError
from tunewright.execution.run import supervise

DEEP = "[" * 100_000
LONG = json.dumps("x" * 100_000_000)
FIELDS = [
    ("trial", "configuration"),
    ("trial", "unit"),
    ("round", "definition"),
    ("round", "objective"),
    ("round", "meaning"),
    ("curve", "points"),
]


def payloads(mark) -> dict[str, object]:
    return {
        "pickle": pickle.dumps(Bomb(str(mark))),
        "deep": DEEP,
        "long": LONG,
        "other": '{"__class__": "os.system", "args": ["true"]}',
    }


@pytest.mark.parametrize(("table", "column"), FIELDS)
def test_case_23_in_the_store(tmp_path, table, column):
    store, mark = tmp_path / "tuning.db", tmp_path / "executed"
    round, work = asked(tmp_path / "journal", 2), workload(store)
    tw.run(round, work)
    for kind, payload in payloads(mark).items():
        if kind == "other" and table == "trial":
            continue  # a configuration may have any names
        if kind == "long" and column != "configuration":
            continue  # one field stands for all: they are read by one function
        with closing(sqlite3.connect(store)) as raw:
            kept = raw.execute(f"SELECT {column} FROM {table}").fetchall()
            raw.execute(f"UPDATE {table} SET {column} = ?", (payload,))
            raw.commit()
        with pytest.raises(TunewrightError) as refused:
            results = tw.load(store, round.name)
            [trial.value for trial in results.trials]
        assert len(str(refused.value)) < 2_000, "the payload itself is not repeated"
        with closing(sqlite3.connect(store)) as raw:
            raw.execute(f"UPDATE {table} SET {column} = ?", kept[0])
            raw.commit()
        assert not mark.exists(), "nothing was unpickled"


def sealed(content: str) -> str:
    """A file of the spool whose checksum is right."""
    digest = hashlib.sha256(content.encode()).hexdigest()
    return f'{{"sha256": "{digest}", "content": {content}}}'


@pytest.mark.parametrize("kind", ["pickle", "deep", "sealed deep", "wrong types", "wrong status"])
def test_case_23_in_a_trial_folder(tmp_path, kind):
    store, journal, mark = tmp_path / "tuning.db", tmp_path / "journal", tmp_path / "executed"
    round, work = asked(journal, 3), workload(store)
    supervise(round, work, trials=2)
    (done,) = tmp_path.glob("tuning.db.trials/r*/t000000")
    real = json.loads((done / "result.1.json").read_text())["content"]
    with closing(sqlite3.connect(store)) as raw:
        (key,) = raw.execute("SELECT id FROM trial WHERE number = 2").fetchone()
    target = done.with_name("t000002")
    target.mkdir()
    forged = {**real, "trial": key, "attempt": 1}
    texts: dict[str, bytes] = {
        "pickle": pickle.dumps(Bomb(str(mark))),
        "deep": DEEP.encode(),
        "sealed deep": sealed('{"trial": ' + DEEP + "]" * 100_000 + "}").encode(),
        "wrong types": sealed(json.dumps({**forged, "seconds": "long", "reason": [1]})).encode(),
        "wrong status": sealed(json.dumps({**forged, "status": "best of all"})).encode(),
    }
    (target / "result.1.json").write_bytes(texts[kind])
    check(tw.run(round, work), journal, 3)
    assert not mark.exists(), "nothing was unpickled"


def test_case_23_a_huge_file_is_not_read(tmp_path):
    store, journal = tmp_path / "tuning.db", tmp_path / "journal"
    tw.run(asked(journal, 1), workload(store))
    (file,) = tmp_path.glob("tuning.db.trials/store.json")
    os.truncate(file, 10 * 2**30)  # a sparse one
    with pytest.raises(Damaged, match="more than the"):
        tw.run(asked(journal, 2), workload(store))
