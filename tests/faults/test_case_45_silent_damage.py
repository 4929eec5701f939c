"""Case 45: a byte that changes inside a record is noticed, and reaches no backup."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from tests.faults.quick_rounds import OBJECTIVE, asked, workload
from typer.testing import CliRunner

import tunewright as tw
from tunewright.cli.main import app
from tunewright.errors import Damaged
from tunewright.execution.run import supervise
from tunewright.store import backup, curves
from tunewright.store.store import Store

POINTS = 199
PAGE = 4096


def recorded(store: Path | str, trials: int = 12) -> tw.types.Results:
    """Trials with curves that take pages of their own."""
    with tw.open_round(asked("-", trials), OBJECTIVE, store) as session:
        while (trial := session.ask()) is not None:
            for step in range(1, POINTS + 1):
                trial.log(step, valid_error=trial.configuration["learning_rate"] + 1 / step)
            trial.finish()
    return tw.load(store, "quick")


def contents(results: tw.types.Results) -> list[object]:
    return [
        (
            t.number,
            t.status,
            t.value,
            dict(t.configuration),
            t.curves["valid_error"].values.tolist(),
        )
        for t in results.trials
    ]


def flip(store: str, column: str = "points", table: str = "curve") -> None:
    """Change one byte in the middle of the first record, as a failing disk might."""
    server = store.startswith("postgresql")
    url = (
        store.replace("postgresql://", "postgresql+psycopg://") if server else f"sqlite:///{store}"
    )
    engine = create_engine(url)
    with engine.begin() as connection:
        key, value = connection.execute(
            text(f"SELECT id, {column} FROM {table} ORDER BY id LIMIT 1")
        ).one()
        data = bytearray(value)
        data[len(data) - 300] ^= 16
        connection.execute(
            text(f"UPDATE {table} SET {column} = :data WHERE id = :key"),
            {"data": bytes(data), "key": key},
        )
    engine.dispose()


def test_case_45_a_changed_curve_is_refused_by_every_reader(store_url):
    recorded(store_url, 3)
    flip(store_url)
    with pytest.raises(Damaged, match="trial 0 of quick") as refused:
        tw.load(store_url, "quick").best()
    assert refused.value.code == "curve.damaged"
    assert refused.value.remedy.kind == "restore"
    with Store.open(store_url, create=False) as store:
        (fault,) = store.faults()
    assert fault.where == "trial 0 of quick"


@pytest.mark.parametrize("damage", ["bytes", "bit", "zeroed", "swapped", "cut"])
def test_case_45_damage_of_curve_pages_never_gives_other_results(tmp_path, damage):
    """The file as it was, or a refusal: never numbers that nobody logged."""
    whole, store, chance = tmp_path / "whole.db", tmp_path / "tuning.db", random.Random(45)
    reference = contents(recorded(whole))
    data = whole.read_bytes()
    pages = range(20, len(data) // PAGE)  # after the tables of the schema
    silent = refused = 0
    for _ in range(25):
        spoilt, at = bytearray(data), chance.choice(pages) * PAGE
        if damage == "bytes":
            spoilt[at + 2048 : at + 2560] = chance.randbytes(512)
        elif damage == "bit":
            spoilt[at + chance.randrange(PAGE)] ^= 1 << chance.randrange(8)
        elif damage == "zeroed":
            spoilt[at : at + PAGE] = bytes(PAGE)
        elif damage == "swapped":
            other = chance.choice(pages) * PAGE
            spoilt[at : at + PAGE], spoilt[other : other + PAGE] = (
                data[other : other + PAGE],
                data[at : at + PAGE],
            )
        else:
            del spoilt[-chance.randrange(1, 3 * PAGE) :]
        store.write_bytes(spoilt)
        for neighbour in tmp_path.glob("tuning.db-*"):
            neighbour.unlink()
        try:
            silent += contents(tw.load(store, "quick")) != reference
        except Damaged:
            refused += 1
    assert silent == 0 and refused > 0


def test_case_45_damage_is_named_and_pushes_no_good_backup_out(tmp_path):
    store, journal = tmp_path / "tuning.db", tmp_path / "journal"
    round, work = asked(journal, 6), workload(store)
    supervise(round, work)
    good = backup.backups(store)
    assert good
    with closing(sqlite3.connect(store)) as connection:
        (points,) = connection.execute("SELECT points FROM curve WHERE id = 1").fetchone()
        changed = points[:-1] + bytes([points[-1] ^ 1])
        connection.execute("UPDATE curve SET points = ? WHERE id = 1", (changed,))
        connection.commit()
    for _ in range(backup.KEPT + 1):
        with pytest.raises(Damaged) as refused:
            backup.make(store)
        assert refused.value.code == "store.damaged"
    assert backup.backups(store) == good
    doctor = next(one for one in tw.project.doctor(str(store)) if one.what == "store")
    assert doctor.verdict == "bad" and doctor.found.code == "doctor.damaged"
    assert doctor.found.facts["faults"][0]["where"] == "trial 0 of quick"
    done = CliRunner().invoke(app, ["restore", "--store", str(store)])
    assert done.exit_code == 0, done.output
    supervise(round, work)  # what is younger than the backup comes from the trial folders
    assert tw.load(store, "quick").counts == {"completed": 6}


def test_case_45_a_changed_row_differs_from_its_trial_folder(tmp_path):
    """Rows carry no checksum: `doctor --deep` compares them with the files that do."""
    store = tmp_path / "tuning.db"
    supervise(asked(tmp_path / "journal", 3), workload(store))
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE trial SET configuration = replace(configuration, '0.0', '0.1')")
        connection.execute("UPDATE trial SET status = 'failed' WHERE number = 2")
        connection.commit()
    with Store.open(store, create=False) as opened:
        assert opened.faults() == []
        found = opened.faults(folders=True)
    assert {fault.where for fault in found} >= {"trial 2 of quick"}
    deep = next(one for one in tw.project.doctor(str(store), deep=True) if one.what == "store")
    assert deep.verdict == "bad"


def test_case_45_a_backup_that_was_damaged_later_is_not_restored(tmp_path):
    store = tmp_path / "tuning.db"
    recorded(store, 2)
    saved = backup.make(store)
    flip(str(saved))
    before = store.read_bytes()
    with pytest.raises(Damaged):
        backup.restore(store, saved)
    assert store.read_bytes() == before


def test_case_45_batches_of_an_older_program_are_still_read(tmp_path):
    store = tmp_path / "tuning.db"
    reference = contents(recorded(store, 2))
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT id, points FROM curve").fetchall()
        for key, points in rows:
            assert points[:4] == curves.MAGIC
            older = curves.UNCHECKED + points[8:]
            connection.execute("UPDATE curve SET points = ? WHERE id = ?", (older, key))
        connection.commit()
    assert contents(tw.load(store, "quick")) == reference
