"""Opening a store: what is refused, with the reason and the way out."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest
from sqlalchemy import update
from tests.store.record_parts import begin, begun, complete, run_python

from tunewright.errors import Damaged, NotFound, StoreError
from tunewright.store import backup
from tunewright.store.schema import about, trial
from tunewright.store.store import Store


def filled(path: Path) -> None:
    with Store.open(path) as store:
        record, worker = begun(store)
        for claim in store.claim(record.id, worker, 3):
            complete(store, claim)
            (store.trial_root() / claim.folder).mkdir(parents=True, exist_ok=True)


def test_a_missing_store_is_made_or_not_found_as_asked(tmp_path: Path) -> None:
    (tmp_path / "other.db").touch()
    with pytest.raises(NotFound, match=r"no store at .*There is: other\.db"):
        Store.open(tmp_path / "tuning.db", create=False)
    with Store.open(tmp_path / "new" / "tuning.db") as store:
        assert store.rounds() == []
    with Store.open(f"sqlite:///{tmp_path}/new/tuning.db", create=False) as store:
        assert store.path == tmp_path / "new" / "tuning.db"


@pytest.mark.parametrize("name", ["a b?c=d&e.db", "ü %41 #.db", "'; DROP TABLE trial; --.db"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    with Store.open(tmp_path / name) as store:
        begin(store)
        assert backup.newest(tmp_path / name) is not None
    assert (tmp_path / name).is_file() and (tmp_path / f"{name}.trials").is_dir()
    with Store.open(tmp_path / name, create=False) as store:
        assert store.round("depth").counts == {"pending": 6}


def test_it_is_written_ahead_and_flushed(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tuning.db") as store, store._database.reading() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 1,
        "busy_timeout": 60_000,
        "foreign_keys": 1,
    }


@pytest.mark.parametrize("harm", ["half", "middle", "head", "garbage", "text"])
def test_a_damaged_file_is_noticed_and_the_newest_backup_named(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "tuning.db"
    filled(path)
    saved = backup.make(path)
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "half": whole[:middle],
            "middle": whole[: middle - 4096] + os.urandom(8192) + whole[middle + 4096 :],
            "head": os.urandom(200) + whole[200:],
            "garbage": os.urandom(len(whole)),
            "text": b"not a database at all",
        }[harm]
    )
    harmed = path.read_bytes()
    with pytest.raises(Damaged, match="tunewright restore") as refused:
        Store.open(path)
    assert str(saved) in str(refused.value)
    assert path.read_bytes() == harmed, "nothing is written to it"
    backup.restore(path)
    with Store.open(path, create=False) as store:
        assert store.round("depth").counts == {"completed": 3, "pending": 3}


@pytest.mark.parametrize("state", ["empty", "missing"])
def test_an_empty_store_beside_trial_folders_starts_nothing(tmp_path: Path, state: str) -> None:
    path = tmp_path / "tuning.db"
    filled(path)
    for old in tmp_path.glob("tuning.db*"):
        if old.is_file():
            old.unlink()
    if state == "empty":
        path.touch()
    for create in (True, False):
        with pytest.raises(Damaged, match=f"{state}.*3 trial folders.*rebuild"):
            Store.open(path, create=create)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "optuna.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE studies (id INTEGER)")
    connection.close()
    with pytest.raises(StoreError, match=r"another program.*studies"):
        Store.open(path)


def test_a_store_of_a_newer_version_is_refused(store_url: str) -> None:
    with Store.open(store_url) as store, store._database.writing() as connection:
        connection.execute(update(about).where(about.c.key == "schema").values(value="99"))
    with pytest.raises(StoreError, match=r"newer Tunewright \(schema 99.*upgrade"):
        Store.open(store_url)


def test_wrong_addresses_are_answered_with_right_ones(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"SQLite file .* PostgreSQL"):
        Store.open("mysql://host/db")
    with pytest.raises(StoreError, match="a store is a file"):
        Store.open("sqlite://")
    with pytest.raises(StoreError, match="is a folder"):
        Store.open(tmp_path)
    with pytest.raises(StoreError, match="cannot be made"):
        (tmp_path / "file").write_text("")
        Store.open(tmp_path / "file" / "tuning.db")


@pytest.mark.postgres
def test_a_server_that_does_not_answer_is_named_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as refused:
        Store.open(f"postgresql://me:secret@/tuning?host={tmp_path}")
    assert "secret" not in str(refused.value) and "me:***" in str(refused.value)


def test_the_folder_of_trials_knows_its_store(store_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    with Store.open(store_url) as store:
        assert store.trial_root(folder) == folder
        assert store.trial_root(folder) == folder
    with (
        Store.open(tmp_path / "another.db") as other,
        pytest.raises(StoreError, match="trials of another store"),
    ):
        other.trial_root(folder)


@pytest.mark.postgres
def test_postgresql_needs_a_folder_for_trials(new_postgres_url) -> None:
    with (
        Store.open(new_postgres_url()) as store,
        pytest.raises(StoreError, match=r"Workload\(folder"),
    ):
        store.trial_root()


def test_several_processes_may_make_the_store_at_once(store_url: str) -> None:
    stores: list[Store] = []
    threads = [
        threading.Thread(target=lambda: stores.append(Store.open(store_url))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({store.identity for store in stores}) == 1 and len(stores) == 6
    for store in stores:
        store.close()


@pytest.mark.beyond_core
def test_a_store_killed_in_mid_write_opens_with_all_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    code = """
import os, sys
sys.path.insert(0, sys.argv[2])
from tests.store.record_parts import begun, complete
from tunewright.store.store import Store
store = Store.open(sys.argv[1])
record, worker = begun(store)
a, b = store.claim(record.id, worker, 2)
complete(store, a)
print("acknowledged", flush=True)
with store.transaction():
    complete(store, b)
    os._exit(0)
"""
    done = run_python(code, str(path), str(Path(__file__).parent))
    assert done.stdout.strip() == "acknowledged"
    with Store.open(path) as store:
        assert store.round("depth").counts == {"completed": 1, "running": 1, "pending": 4}


def test_a_hostile_field_is_refused_and_not_executed(store_url: str) -> None:
    with Store.open(store_url) as store:
        begin(store)
        for hostile in ("[" * 100_000, "cos\nsystem\n(S'false'\ntR.", "1" * (17 * 2**20)):
            with store._database.writing() as connection:
                chosen = update(trial).where(trial.c.number == 0)
                connection.execute(chosen.values(configuration=hostile))
            with pytest.raises(Damaged, match="trial 0 of depth"):
                store.results("depth")
