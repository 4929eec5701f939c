"""A store of version 1 is migrated whole: what it said then it says now, on both databases."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text
from tests.store.version_1_store import (
    GOLDEN,
    STORE,
    column,
    copied,
    documents,
    findings,
    on_server,
)

from tunewright.campaigns.campaign import read_campaign, read_definition
from tunewright.campaigns.plan import next_step
from tunewright.errors import Busy, StoreError
from tunewright.launches.lineage import Place
from tunewright.store import migrations
from tunewright.store.address import parse
from tunewright.store.database import Database
from tunewright.store.replay import rebuild
from tunewright.store.schema import SCHEMA_VERSION
from tunewright.store.store import Store

OLD = GOLDEN / STORE


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def migrated(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store of version 1 is."""
    if request.param == "sqlite":
        return str(copied(tmp_path))
    url = str(request.getfixturevalue("new_postgres_url")())
    on_server(url)
    return url


def place(told: dict[str, Any] | None) -> Place | None:
    return None if told is None else Place(told["round"], told["trial"], told["configuration"])


def test_everything_that_was_concluded_is_still_there(migrated: str) -> None:
    with Store.open(migrated) as store:
        assert migrations.version_of(store._database) == SCHEMA_VERSION
        launches = [
            (
                one.written.timestamp(),
                one.candidate,
                one.baseline,
                one.verdict,
                one.decision,
                (one.who, one.why, one.goal, one.commit),
            )
            for one in store.launches()
        ]
        assert launches == [
            (
                when,
                place(told["candidate"]),
                place(told["baseline"]),
                told["decision"]["verdict"],
                told["decision"],
                (told["who"], told["why"], told["goal"], told["commit"]),
            )
            for when, told in documents(OLD, "launch")
        ]
        keys = [one.key for one in store.launches()]
        baselines = [
            (b.written.timestamp(), b.place, keys.index(b.launch) + 1, b.runs)
            for b in store.baselines()
        ]
        assert baselines == [
            (when, place(told), told["launch"], told["runs"])
            for when, told in documents(OLD, "baseline")
        ]
        names = ("trial", "number", "step", "metrics", "with_", "workload", "objective", "value")
        evaluations = [
            (e.when.timestamp(), e.look, {name: getattr(e, name) for name in names})
            for e in store.evaluations()
            if e.when is not None
        ]
        assert evaluations == [
            (when, told["look"], {name: told[name] for name in names})
            for when, told in findings(OLD, "evaluation")
        ]
        probes = [(p.written.timestamp(), p.name, p.workload, p.answer) for p in store.probes()]
        assert probes == [
            (when, told["probe"], told.get("subject", ""), told)
            for when, told in documents(OLD, "probe")
        ]
        assert {p.campaign for p in store.probes()} == {None}, "the campaign asked for none"
        notes = [n.text for record in store.rounds() for n in store.notes(record)]
        assert sorted(notes) == sorted(column(OLD, "SELECT text FROM note"))


def test_a_campaign_goes_on_as_it_was(migrated: str) -> None:
    with Store.open(migrated) as store:
        definition = read_definition(store, "tune")
        assert definition is not None
        campaign = read_campaign(store, definition)
    ((began, told),) = findings(OLD, "campaign")
    assert definition.started is not None and definition.started.timestamp() == began
    assert (definition.trials, definition.tests, definition.slots) == (40, True, told["slots"])
    assert definition.incumbent == place(told["incumbent"])
    able = {what: "" if why is None else why.text for what, why in definition.able.items()}
    assert able == told["able"]
    steps = [(s.written.timestamp(), s.kind, s.reason.text, s.round) for s in campaign.log]
    assert steps == [
        (when, step["step"], step["reason"], step["round"])
        for when, step in findings(OLD, "campaign step")
    ]
    assert [s.number for s in campaign.log] == list(range(1, len(steps) + 1))
    assert campaign.kinds == ("explore", "exploit")
    assert [r.round.name for r in campaign.rounds] == ["tune_1_explore", "tune_2_exploit"]
    assert campaign.launched is not None and campaign.launched.verdict == "undecided"
    assert [look.look for look in campaign.looks] == [2]
    assert next_step(campaign).kind == "done"


def test_trials_repeats_and_curves_are_untouched(migrated: str) -> None:
    with Store.open(migrated) as store:
        found = [store.results(record.name) for record in store.rounds()]
    assert [r.round.name for r in found] == column(OLD, "SELECT name FROM round ORDER BY id")
    repeats = column(OLD, "SELECT count(*) FROM trial WHERE parent IS NOT NULL")
    assert sum(len(r.recorded_repeats) for r in found) == repeats[0] > 0
    kept = {t.identity: t for r in found for t in (*r.recorded, *r.recorded_repeats)}
    reasons = dict(zip(
        column(OLD, "SELECT id FROM trial WHERE reason <> ''"),
        column(OLD, "SELECT reason FROM trial WHERE reason <> ''"),
        strict=True,
    ))  # fmt: skip
    assert {key: str(kept[key].reason) for key in reasons} == reasons
    evaluated = next(r for r in found if r.round.name == "optimizer").trial(17)
    assert evaluated.curves["full_valid_error"].steps.tolist() == [36]


def test_a_migrated_store_has_the_tables_of_a_new_one(migrated: str, tmp_path: Path) -> None:
    fresh = str(tmp_path / "fresh.db")
    described = []
    for url in (migrated, fresh):
        with Store.open(url) as store, store._database.reading() as connection:
            look = inspect(connection)
            described.append(
                {
                    name: (
                        {(c["name"], c["nullable"]) for c in look.get_columns(name)},
                        {
                            (tuple(k["constrained_columns"]), k["referred_table"])
                            for k in look.get_foreign_keys(name)
                        },
                        {tuple(u["column_names"]) for u in look.get_unique_constraints(name)},
                    )
                    for name in look.get_table_names()
                    if not name.startswith("v1_")
                }
            )
    assert described[0] == described[1]


def test_the_store_as_it_was_is_kept(migrated: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), Store.open(migrated) as store:
        path = store.path
        if path is None:
            with store._database.reading() as connection:
                kept = connection.execute(text("SELECT count(*) FROM v1_finding")).scalar_one()
                sentences = connection.execute(text("SELECT reason FROM v1_trial")).scalars()
                assert "the width is odd" in set(sentences)
            assert kept == len(documents(OLD, "finding"))
            assert "v1_*" in caplog.text
            return
    saved = path.with_name(f"{path.name}.version-1.backup")
    assert str(saved) in caplog.text
    assert documents(saved, "launch") == documents(OLD, "launch")
    assert column(saved, "SELECT value FROM about WHERE key = 'schema'") == ["1"]
    Store.open(path).close()
    assert len(caplog.records) == 1, "once"


def test_reading_alone_leaves_an_old_file_as_it_is(tmp_path: Path) -> None:
    path = copied(tmp_path)
    before = path.read_bytes()
    with Store.open(path, read_only=True) as store:
        assert (len(store.launches()), store.path) == (4, path)
        assert store.results("rate").best().number == 11
        assert store.results("rate").root == f"{path}.trials"
        copy = Path(store._database.engine.url.database or "")
        assert copy.exists() and copy != path
        with pytest.raises(StoreError, match="reading only"):
            store.note("rate", "no")
    assert not copy.exists()
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.backup"))


@pytest.mark.postgres
def test_a_server_of_an_old_schema_is_not_read_alone(new_postgres_url: Any) -> None:
    url = new_postgres_url()
    on_server(url)
    with pytest.raises(StoreError, match=r"schema 1.*pg_dump"):
        Store.open(url, read_only=True)
    Store.open(url).close()
    with Store.open(url, read_only=True) as store:
        assert len(store.launches()) == 4
        with pytest.raises(StoreError, match="reading only"):
            store.note("rate", "no")


def test_nothing_is_migrated_under_a_process_of_version_1(migrated: str) -> None:
    database = Database(parse(migrated))
    try:
        with database.writing() as connection:
            connection.execute(
                text("UPDATE worker SET beaten = :now, host = 'far' WHERE retired IS NULL"),
                {"now": time.time()},
            )
    finally:
        database.close()
    with pytest.raises(Busy, match=r"schema 1.*still works on it \(host far"):
        Store.open(migrated)
    if "://" not in migrated:
        with Store.open(migrated, read_only=True) as store:
            assert len(store.campaigns()) == 1


def test_a_lost_store_of_version_1_is_rebuilt(tmp_path: Path) -> None:
    path = copied(tmp_path)
    path.unlink()
    rebuilt = rebuild(path)
    assert rebuilt.unreadable == ()
    with Store.open(path) as store:
        assert [one.why for one in store.launches()] == [
            told["why"] for _, told in documents(OLD, "launch")
        ]
        assert len(store.baselines()) == 2
        assert [e.look for e in store.evaluations()] == [0, 0, 0, 1, 2]
        definition = read_definition(store, "tune")
        assert definition is not None
        campaign = read_campaign(store, definition)
        assert campaign.kinds == ("explore", "exploit")
        assert len(campaign.log) == 10
        assert campaign.log[0].round == "tune_1_explore"
        evaluated = store.results("optimizer").trial(17)
        assert evaluated.curves["full_valid_error"].steps.tolist() == [36]
        store.note("rate", "after")  # leaves the files of version 2 beside those of version 1
    path.unlink()
    again = rebuild(path)
    with Store.open(path) as store:
        assert (len(store.launches()), len(store.evaluations())) == (4, 5), "each once"
        campaign = read_campaign(store, definition)
        assert len(campaign.log) == 10 and campaign.kinds == ("explore", "exploit")
    assert again.conclusions == rebuilt.conclusions + 1
