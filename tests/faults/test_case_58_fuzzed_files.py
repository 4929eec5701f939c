"""Case 58: every file that we read, altered at random 500 times, ends in our errors or is read."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.faults.fuzzed import altered, checked, drive, plain
from tests.faults.quick_rounds import OBJECTIVE, asked, workload

import tunewright as tw
from tunewright import snapshot
from tunewright.cli.run import read_list
from tunewright.design.round_file import read_round as read_round_file, write_round
from tunewright.design.workload_file import read_workload
from tunewright.store import spool
from tunewright.store.replay import rebuild
from tunewright.store.store import Store
from tunewright.store.tables import write_export

GOLDEN = Path(__file__).parents[1] / "golden" / "version_1"

ROUND = tw.Round(
    "everything",
    goal="Which optimizer?",
    scientific={"optimizer": ["sgd", "adam"]},
    nuisance={
        "learning_rate": tw.log(1e-5, 1e-1),
        "momentum": tw.linear(0.0, 0.99),
        "layers": tw.integers(1, 8),
    },
    fixed={"batch_size": 128, "path": "data"},
    trials_per_study=4,
)


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> Path:
    """A store whose trial folders hold a round, trials, ends, a note and a probe's answer."""
    folder = tmp_path_factory.mktemp("told")
    store, round = folder / "tuning.db", asked("-", 3)
    tw.run(round, workload(store))
    with Store.open(store) as opened:
        opened.note(round.name, "hello")
    tw.repeat(tw.load(store, round.name).trial(0), workload(store), times=2)
    return store


def test_case_58_round_files(tmp_path):
    path = tmp_path / "everything.toml"
    write_round(ROUND, path)
    sources = [path.read_bytes(), *(p.read_bytes() for p in GOLDEN.glob("rounds/*.toml"))]
    altered_file = tmp_path / "altered.toml"

    def use(chance, number):
        altered_file.write_bytes(altered(chance.choice(sources), chance))
        found = read_round_file(altered_file)
        write_round(found, tmp_path / "again.toml")
        assert len(found.studies) >= 1

    assert drive("round file", use)["read"] > 10


def test_case_58_workload_files(tmp_path):
    source = (GOLDEN / "tunewright.toml").read_bytes()
    path = tmp_path / "tunewright.toml"

    def use(chance, number):
        path.write_bytes(altered(source, chance))
        read_workload(path)

    assert drive("workload file", use)["read"] > 10


def test_case_58_listed_files(tmp_path):
    rows = b'[{"learning_rate": 0.01, "layers": 2}, {"learning_rate": 0.1, "layers": 1}]'
    sources = {"json": rows, "csv": b"learning_rate,layers\n0.01,2\n0.1,1\n"}
    sources["toml"] = b"[[trial]]\nlearning_rate = 0.01\nlayers = 2\n"

    def use(chance, number):
        ending = chance.choice(sorted(sources))
        path = tmp_path / f"listed.{ending}"
        path.write_bytes(altered(sources[ending], chance))
        read_list(path)

    assert drive("listed file", use)["read"] > 10


@pytest.mark.parametrize("kind", ["result.1.json", "trial.json", "round.json"])
def test_case_58_files_of_a_trial_folder(tmp_path, told, kind):
    """Read alone, and by a rebuild of the whole store, which passes torn ones over."""
    read = {
        "result.1.json": spool.read_result,
        "trial.json": spool.read_trial,
        "round.json": spool.read_round,
    }[kind]
    pattern = f"r*/{kind}" if kind == "round.json" else f"r*/t*/{kind}"
    root = tmp_path / "tuning.db.trials"
    shutil.copytree(f"{told}.trials", root)
    sources = {path: path.read_bytes() for path in sorted(root.glob(pattern))}
    store = tmp_path / "tuning.db"

    def use(chance, number):
        path = chance.choice(sorted(sources))
        path.write_bytes(checked(sources[path], chance))
        try:
            if number % 10 == 0:
                made = rebuild(store, root)
                assert made.rounds <= 1
                for left in tmp_path.glob("tuning.db.replaced-*"):
                    left.unlink()
                if made.rounds:
                    with Store.open(store) as opened:
                        for record in opened.rounds():
                            opened.results(record.name)
                            opened.import_spool(record.id, root)
            read(path)
        finally:
            path.write_bytes(sources[path])

    ends = drive(kind, use)
    assert ends["read"] > 5 and ends["Damaged"] > 100, ends


def test_case_58_results_that_are_taken_over(tmp_path):
    """A spooled result that was altered under a right checksum, at the next start of its round."""
    store, round = tmp_path / "tuning.db", asked("-", 2)
    with tw.open_round(round, OBJECTIVE, store) as session:
        first, second = session.ask(2)
        for trial in (first, second):
            trial.log(1, valid_error=0.5)
            trial.finish()
    (root,) = tmp_path.glob("tuning.db.trials")
    sources = {path: path.read_bytes() for path in sorted(root.glob("r*/t*/*.json"))}
    whole = store.read_bytes()

    def use(chance, number):
        for path in sources:
            path.write_bytes(checked(sources[path], chance))
        for ending in ("-wal", "-shm"):
            Path(f"{store}{ending}").unlink(missing_ok=True)
        store.write_bytes(whole)
        with Store.open(store) as opened:
            with opened._database.writing() as connection:
                connection.exec_driver_sql("UPDATE trial SET status = 'pending', reason = ''")
                connection.exec_driver_sql("UPDATE attempt SET outcome = 'lost'")
            record = opened.rounds()[0]
            opened.import_spool(record.id, root)
            found = opened.results(record.name)
            assert {t.number for t in found.trials} == {0, 1}
            for trial in found.trials:
                dict(trial.curves)
                opened.attempts(trial.identity)

    assert drive("taken over", use)["read"] > 400


def test_case_58_conclusions(tmp_path):
    """Launches, campaigns, probes, evaluations and notes, read by a rebuild."""
    root = tmp_path / "tuning.db.trials"
    shutil.copytree(GOLDEN / "tuning.sqlite.trials", root)
    store = tmp_path / "tuning.db"
    rebuild(store, root)
    with Store.open(store) as opened:  # rewritten in this version's form, beside those of the first
        opened.note(opened.rounds()[0].name, "hello")
        opened.add_probe("norms", "work", {"b": 2})
    rounds = sorted(root.glob("r*"))
    for left_out in rounds[2:]:
        shutil.rmtree(left_out)
    sources = {path: path.read_bytes() for path in sorted(root.glob("**/conclusions/*.json"))}
    assert len(sources) > 10

    def use(chance, number):
        chosen = chance.sample(sorted(sources), 3)
        for path in chosen:
            path.write_bytes(checked(sources[path], chance))
        try:
            rebuild(store, root)
            with Store.open(store) as opened:
                look_at(opened)
        finally:
            for path in chosen:
                path.write_bytes(sources[path])
            for left in tmp_path.glob("tuning.db.replaced-*"):
                left.unlink()

    assert drive("conclusions", use)["read"] > 250


def look_at(opened: Store) -> None:
    """Everything that was concluded."""
    opened.launches(), opened.baselines(), opened.probes(), opened.evaluations()
    for campaign in opened.campaigns():
        opened.campaign_steps(campaign.id), opened.campaign_rounds(campaign.id)
    for record in opened.rounds():
        opened.notes(record.name)


def test_case_58_snapshot_folders(tmp_path):
    folder = tmp_path / "snapshots"
    tree = {"weights": np.arange(6.0), "nested": [1, "a", None, {"b": 2.5}], "step": 3}
    snapshot.save(folder, {"weights": np.zeros(6)}, step=1)
    newest = snapshot.save(folder, tree, step=2)
    sources = {path: path.read_bytes() for path in sorted(newest.path.iterdir())}

    def use(chance, number):
        path = chance.choice(sorted(sources))
        data = sources[path]
        path.write_bytes((plain if path.suffix == ".json" else altered)(data, chance))
        try:
            assert all(one.path.is_dir() for one in snapshot.list_snapshots(folder))
            found = snapshot.latest(folder)
            assert found is not None, "the one before it is whole"
            snapshot.load(found)
            snapshot.load(newest.path)
        finally:
            path.write_bytes(data)

    ends = drive("snapshot", use)
    assert ends["SnapshotError"] > 250, ends


def test_case_58_marks_of_folders(tmp_path, told):
    root = tmp_path / "tuning.db.trials"
    root.mkdir()
    source = Path(f"{told}.trials", "store.json").read_bytes()
    shutil.copy(told, tmp_path / "tuning.db")

    def use(chance, number):
        (root / "store.json").write_bytes(plain(source, chance))
        with Store.open(tmp_path / "tuning.db") as opened:
            assert opened.trial_root() == root

    assert drive("mark", use)["read"] > 5


def test_case_58_backups(tmp_path, told):
    from tunewright.store import backup

    store, source = tmp_path / "tuning.db", told.read_bytes()
    chosen = tmp_path / "chosen.db"

    def use(chance, number):
        chosen.write_bytes(altered(source, chance))
        try:
            backup.restore(store, chosen)
            with Store.open(store, create=False) as opened:
                for record in opened.rounds():
                    for trial in opened.results(record.name).trials:
                        dict(trial.curves)
        finally:
            for left in tmp_path.glob("tuning.db*"):
                left.unlink()

    ends = drive("backup", use)
    assert ends["Damaged"] > 100, ends


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_case_58_exported_tables(tmp_path, told, ending):
    results = tw.load(told, "quick")
    source = write_export(results, tmp_path / f"whole.{ending}", "trials").read_bytes()
    path = tmp_path / f"altered.{ending}"

    def use(chance: random.Random, number: int) -> None:
        path.write_bytes(altered(source, chance))
        tw.importers.tables(path, objective=OBJECTIVE)

    drive(f"export {ending}", use)
    assert os.path.exists(path)
