"""Every importer under 500 altered files: a result or an error of ours, and the source untouched.

The files are what the writers of the other tests make, altered in their bytes (flipped, cut, put
in) and in their fields (a number or a word replaced by a hostile one), with fixed seeds. Time is
bounded by the importers' own limits on rows, columns and steps; nothing is timed here.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.importers import event_writer, test_mlflow, test_ray_tune, test_real_files, wandb_writer

from tunewright import importers
from tunewright.design.objective import Objective, minimize
from tunewright.errors import TunewrightError
from tunewright.store.results import Results
from tunewright.store.store import Store

pytestmark = pytest.mark.beyond_core  # minutes in all

MUTATIONS = 500
KEPT = 10  # one result in so many goes into a store
Files = Mapping[str, bytes]
TOKEN = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[A-Za-z_]{2,}|null")
HOSTILE = [
    *(b"nan", b"NaN", b"Infinity", b"-inf", b"1e400", b"-1", b"0", b"9" * 20, b"9" * 5000, b"0x1"),
    *(b"null", b"true", b'""', b"[]", b"{}", b"[[1]]", b'{"a": {"b": []}}', b"\xff\xfe", b"\x00"),
    *("é\u2028".encode(), b"=1+1", b"'", b",,", b"\n", b"status", b"trial", b"value", b"x" * 600),
]


# ways to alter bytes


def flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 3, 30])):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def inserted(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice([chance.randbytes(9), data[: at // 2]]) + data[at:]


def swapped(data: bytes, chance: random.Random) -> bytes:
    """A field replaced by a hostile one, or by another field of the file."""
    tokens = list(TOKEN.finditer(data))
    if not tokens:
        return flipped(data, chance)
    token = chance.choice(tokens)
    new = chance.choice([*HOSTILE, chance.choice(tokens)[0]])
    return data[: token.start()] + new + data[token.end() :]


def altered(data: bytes, chance: random.Random) -> bytes:
    way = chance.choice([flipped, cut, inserted, swapped, swapped, swapped])
    return way(data, chance)


def alter(files: Files, chance: random.Random) -> dict[str, bytes]:
    """One to three files altered, now and then one taken away."""
    changed = dict(files)
    for name in chance.sample(sorted(files), min(len(files), chance.choice([1, 1, 2, 3]))):
        if len(files) > 2 and chance.random() < 0.05:
            del changed[name]
        else:
            changed[name] = altered(files[name], chance)
    return changed


def files_in(folder: Path) -> dict[str, bytes]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def write(folder: Path, files: Files, known: Files) -> None:
    """Put the files into a folder that holds `known`; alike ones stay as they are."""
    for name in {*files, *known}:
        if files.get(name) == known.get(name):
            continue
        path = folder / name
        path.unlink(missing_ok=True)
        if name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name])


# the sources: how a whole one is made, altered and imported

Made = Callable[[Path], object]
Alter = Callable[[Files, random.Random], Mapping[str, bytes]]
Read = Callable[[Path], Results]


def make_csv(folder: Path) -> None:
    lines = [f"n{n},{10.0**-n},{('a', 'b')[n % 2]},{n},completed,{1 / (n + 1)}" for n in range(6)]
    (folder / "t.csv").write_text("\n".join(["name,lr,opt,seed,status,loss", *lines]) + "\n")


def make_json(folder: Path) -> None:
    rows = [
        {"trial": n, "lr": 10.0**-n, "opt": ("a", "b")[n % 2], "loss": 1 / (n + 1), "flag": True}
        for n in range(6)
    ]
    (folder / "t.json").write_text(json.dumps(rows))
    points = [
        {"trial": n, "step": step, "metric": "loss", "value": 1 / step}
        for n in range(6)
        for step in (1, 2)
    ]
    (folder / "c.jsonl").write_text("\n".join(map(json.dumps, points)) + "\n")


def make_parquet(folder: Path) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"lr": [0.1, 0.01, 1.0], "opt": ["a", "b", "a"], "loss": [3, 2, 1]})
    frame.write_parquet(folder / "t.parquet")


def make_wandb_export(folder: Path) -> None:
    lines = [f"n{n},finished,{60 + n},5,{10.0**-n},adam,{1 / (n + 1)}" for n in range(4)]
    head = "Name,State,Runtime,_step,lr,opt,loss"
    (folder / "x.csv").write_text("\n".join([head, *lines]) + "\n")


def wandb_records(chance: random.Random | None) -> list[list[bytes]]:
    runs = []
    for n in range(2):
        records = [
            wandb_writer.run(f"n{n}", lr=0.1 * (n + 1), deep={"a": {"b": 1}}),
            *(wandb_writer.history(step, loss=1 / step) for step in (1, 2)),
            wandb_writer.summary(loss=0.5, best=0.4),
            wandb_writer.ended(0, 7),
        ]
        if chance is not None:  # before the checksums are made
            place = chance.randrange(len(records))
            records[place] = altered(records[place], chance)
        runs.append(records)
    return runs


def make_wandb_runs(folder: Path) -> None:
    for n, records in enumerate(wandb_records(None)):
        wandb_writer.write(folder / f"offline-run-{n}", *records)


def alter_wandb_runs(files: Files, chance: random.Random) -> dict[str, bytes]:
    if chance.random() < 0.3:
        return alter(files, chance)
    made: dict[str, bytes] = {}
    for name, records in zip(sorted(files), wandb_records(chance), strict=True):
        made[name] = wandb_log(records)
    return made


def wandb_log(records: list[bytes]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return wandb_writer.write(Path(folder), *records).read_bytes()


def make_wandb_files(folder: Path) -> None:
    for n in range(2):
        files = folder / f"run-{n}" / "files"
        files.mkdir(parents=True)
        config = f"wandb_version: 1\nlr:\n  desc: null\n  value: 0.{n + 1}\nopt:\n  value: adam\n"
        (files / "config.yaml").write_text(config)
        summary = {"loss": 0.5 + n, "_step": 5, "_runtime": 3.0, "acc": 0.5}
        (files / "wandb-summary.json").write_text(json.dumps(summary))


def events(chance: random.Random | None) -> list[list[bytes]]:
    runs = []
    for n in range(2):
        own = [
            event_writer.event(
                0, event_writer.hyperparameters(lr=0.1 * (n + 1), opt="a", amp=True)
            ),
            *(event_writer.event(s, event_writer.scalar("loss", 1 / s)) for s in (1, 2)),
            event_writer.event(3, event_writer.tensor("loss", 0.2)),
        ]
        if chance is not None:
            place = chance.randrange(len(own))
            own[place] = altered(own[place], chance)
        runs.append(own)
    return runs


def make_tensorboard(folder: Path) -> None:
    for n, own in enumerate(events(None)):
        event_writer.write(folder / f"run{n}", *own)


def alter_tensorboard(files: Files, chance: random.Random) -> dict[str, bytes]:
    if chance.random() < 0.3:
        return alter(files, chance)
    return {
        name: b"".join(event_writer.record(event) for event in own)
        for name, own in zip(sorted(files), events(chance), strict=True)
    }


def make_mlflow_folder(folder: Path) -> None:
    root = test_mlflow.folder_store(folder)
    for place in (1, 3):  # fewer files
        shutil.rmtree(root / "123456" / f"{place:032x}")


def make_mlflow_database(folder: Path) -> None:
    test_mlflow.database_store(folder)


def alter_database(files: Files, chance: random.Random) -> dict[str, bytes]:
    """Bytes of the file, or values of its fields, whatever their declared types."""
    ((name, data),) = files.items()
    if chance.random() < 0.5:
        return {name: chance.choice([flipped, flipped, cut, inserted])(data, chance)}
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(data)
        database.execute("PRAGMA ignore_check_constraints = on")
        tables = [
            row[0]
            for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        for _ in range(chance.choice([1, 1, 2, 4])):
            table = chance.choice(sorted(tables))
            columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
            value = chance.choice([*HOSTILE, "nan", None, -1, 2**62, 1e308, "{", "[1]", '{"a": 1}'])
            column, most = chance.choice(columns), chance.choice([1, 100])
            rows = f'SELECT rowid FROM "{table}" ORDER BY rowid % 7 LIMIT {most}'
            query = f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE rowid IN ({rows})'
            try:
                database.execute(query, (value,))
            except sqlite3.Error:
                continue
        database.commit()
        return {name: bytes(database.serialize())}


def make_ray(folder: Path) -> None:
    for place, rate in enumerate((0.1, 0.3, 0.9)):
        config = {"lr": rate, "opt": {"name": "adam"}}
        own = test_ray_tune.write_trial(folder, place, config, [rate + 1, rate + 0.5])
        (own / "params.pkl").unlink()
    (own / "error.txt").write_text("Traceback:\nValueError: broken\n")
    test_ray_tune.write_state(folder, t00000="TERMINATED", t00001="TERMINATED", t00002="ERROR")


def study(storage: Any) -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    made = optuna.create_study(
        storage=storage, study_name="s", sampler=optuna.samplers.RandomSampler(seed=0)
    )

    def train(trial: Any) -> float:
        rate: float = trial.suggest_float("lr", 1e-5, 1, log=True)
        trial.suggest_int("width", 1, 8, step=2)
        trial.suggest_categorical("opt", ["a", "b"])
        trial.set_user_attr("size", 3)
        trial.report(rate, 1)
        trial.report(rate / 2, 2)
        if trial.number == 2:
            raise optuna.TrialPruned
        return rate / 2

    made.optimize(train, n_trials=4)


def make_optuna_database(folder: Path) -> None:
    optuna = pytest.importorskip("optuna")
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder}/o.db")
    study(storage)
    storage.remove_session()
    storage.engine.dispose()


def make_optuna_journal(folder: Path) -> None:
    optuna = pytest.importorskip("optuna")
    backend = optuna.storages.journal.JournalFileBackend(str(folder / "j.log"))
    study(optuna.storages.JournalStorage(backend))


LOSS = minimize("loss")


def make_trackio(folder: Path) -> None:
    test_real_files.unpacked(folder, "trackio", "0.43.0")
    with closing(sqlite3.connect(folder / "fixture.db")) as database:
        database.execute("PRAGMA journal_mode = delete")  # a copy in memory has no other


SOURCES: dict[str, tuple[Made, Alter, Read]] = {
    "csv": (make_csv, alter, lambda f: importers.tables(f / "t.csv", objective=LOSS)),
    "json": (
        make_json,
        alter,
        lambda f: importers.tables(f / "t.json", f / "c.jsonl", objective=LOSS),
    ),
    "parquet": (make_parquet, alter, lambda f: importers.tables(f / "t.parquet", objective=LOSS)),
    "wandb_export": (
        make_wandb_export,
        alter,
        lambda f: importers.wandb(f / "x.csv", objective=LOSS),
    ),
    "wandb_runs": (make_wandb_runs, alter_wandb_runs, lambda f: importers.wandb(f, objective=LOSS)),
    "wandb_files": (make_wandb_files, alter, lambda f: importers.wandb(f, objective=LOSS)),
    "tensorboard": (
        make_tensorboard,
        alter_tensorboard,
        lambda f: importers.tensorboard(f, objective=LOSS),
    ),
    "ray": (make_ray, alter, lambda f: importers.ray_tune(f, objective=LOSS)),
    "mlflow_folder": (
        make_mlflow_folder,
        alter,
        lambda f: importers.mlflow(f / "mlruns", objective=Objective("val/loss", True)),
    ),
    "mlflow_database": (
        make_mlflow_database,
        alter_database,
        lambda f: importers.mlflow(f / "mlflow.db", objective=Objective("val/loss", True)),
    ),
    "optuna_database": (
        make_optuna_database,
        alter_database,
        lambda f: importers.optuna(str(f / "o.db")),
    ),
    "trackio": (
        make_trackio,
        alter_database,
        lambda f: importers.trackio(f, objective=test_real_files.LOSS),
    ),
    "swanlab": (
        lambda f: test_real_files.unpacked(f, "swanlab", "0.10.3"),
        alter,
        lambda f: importers.swanlab(f, objective=test_real_files.LOSS),
    ),
    "optuna_journal": (
        make_optuna_journal,
        alter,
        lambda f: importers.optuna(str(f / "j.log")),
    ),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.filterwarnings("ignore")
def test_altered_files_end_in_results_or_in_our_errors(tmp_path: Path, source: str) -> None:
    make, change, read = SOURCES[source]
    whole, folder = tmp_path / "whole", tmp_path / "altered"
    whole.mkdir()
    make(whole)
    files = files_in(whole)
    read(whole)
    ends: Counter[str] = Counter()
    changed: Files = {}
    with Store.open(tmp_path / "store.db") as store:
        for number in range(MUTATIONS):
            chance = random.Random(f"{source} {number}")
            known, changed = changed, change(files, chance)
            write(folder, changed, known)
            try:
                found = read(folder)
                assert found.counts
            except TunewrightError as error:
                ends[type(error).__name__] += 1
            except Exception as error:
                raise AssertionError(f"{source}, mutation {number}: {error!r}") from error
            else:
                ends["results"] += 1
                if ends["results"] % KEPT == 0:
                    store.keep(renamed(found, f"round {number}"))
            assert files_in(folder) == changed, f"{source}, mutation {number}: the source changed"
    assert ends["results"] > MUTATIONS / 50, ends


def renamed(found: Results, name: str) -> Results:
    return replace(found, round=replace(found.round, name=name))
