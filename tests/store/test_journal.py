"""A lost store is made again with all that was concluded from its trials."""

from __future__ import annotations

import logging
import math
import shutil
from pathlib import Path

import pytest
from tests.store.record_parts import begun, curve

from tunewright.launches import lineage
from tunewright.launches.lineage import Place
from tunewright.store import spool
from tunewright.store.journal import FOLDER, leave, read
from tunewright.store.launches import Evaluation, looks
from tunewright.store.outcome import Ended, Outcome
from tunewright.store.replay import rebuild
from tunewright.store.store import Store


def made(path: Path) -> tuple[Place, Place]:
    """A store with ended trials, an evaluation, two looks, launches, a probe and a note."""
    with Store.open(path) as store:
        record, worker = begun(store)
        root = store.trial_root()
        claims = store.claim(record.id, worker, 3)
        for claim in claims:
            batch = curve(0.5, 0.4)
            store.end(claim, Outcome("completed", batches=[batch]))
            spool.write_trial(root / claim.folder, claim)
            ended = Ended(claim.trial, 1, Outcome("completed", batches=(batch,)))
            spool.write_result(root / claim.folder, ended)
        best = claims[1].trial
        store.add_evaluation(record.id, measured(best, 0, full=0.31, odd=math.nan))
        store.add_evaluation(record.id, measured(best, 1, test=0.35))
        store.add_evaluation(record.id, measured(best, 2, test=0.36))
        trials = store.results("depth").trials
        one, other = (Place("depth", n, trials[n].configuration) for n in (0, 1))
        lineage.first_baseline(store, one, "where we begin")
        decision = {"verdict": "keep", "candidate_values": [0.5], "baseline_values": [0.4]}
        lineage.keep_launch(store, decision, other, one, why="no better")
        won = {**decision, "verdict": "launch", "candidate_values": [0.3, 0.3, 0.3]}
        lineage.keep_launch(store, won, other, one, why="better")
        store.add_probe("train_steps", "train", {"settings": {"steps": 9}}, metric="valid_error")
        store.note("depth", "the cluster was slow today")
    return one, other


def measured(trial: int, look: int, **metrics: float) -> Evaluation:
    return Evaluation(trial, 1, 2, metrics, "full", "train", "valid_error", 0.4, look)


def told(path: Path) -> dict[str, object]:
    """All that a store concludes, without its keys."""
    with Store.open(path) as store:
        places = {t.identity: t.folder for t in store.results("depth").trials}
        keys = {one.key: place for place, one in enumerate(lineage.launches(store))}
        return {
            "looks": looks(store.evaluations(), "train"),
            "evaluations": [
                (places[e.trial], e.step, str(e.metrics), e.look, e.when)
                for e in store.evaluations()
            ],
            "launches": [
                (one.written, one.candidate, one.baseline, one.verdict, one.why, one.decision)
                for one in lineage.launches(store)
            ],
            "baselines": [
                (one.written, one.place, one.runs, keys[one.launch])
                for one in lineage.baselines(store)
            ],
            "probes": [(p.written, p.name, p.workload, p.settings) for p in store.probes()],
            "notes": [(n.written, n.text) for n in store.notes("depth")],
            "curves": {
                t.number: {name: c.values.tolist() for name, c in t.curves.items() if name != "odd"}
                for t in store.results("depth").trials
                if t.ended  # those never begun come back with their round
            },
        }


def lose(path: Path) -> None:
    for old in path.parent.glob(f"{path.name}*"):
        if old.is_file():
            old.unlink()


def test_a_store_made_again_has_the_same_history(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    one, other = made(path)
    before = told(path)
    lose(path)
    rebuilt = rebuild(path)
    assert rebuilt.conclusions == 3 + 3 + 2 + 1 + 1
    assert rebuilt.unreadable == ()
    assert told(path) == before
    assert before["looks"] == 2
    with Store.open(path) as store:
        assert lineage.baseline(store).place == other
        assert lineage.count_looks(store, other, one) == 2
        assert math.isnan(store.results("depth").trial(1).curves["odd"].values[0])


def test_made_again_twice_nothing_is_doubled(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    made(path)
    before = told(path)
    for _ in range(2):
        lose(path)
        rebuild(path)
        with Store.open(path) as store:
            store.add_probe("again", "train", {})
    after = told(path)
    assert len(after["probes"]) == len(before["probes"]) + 2
    assert after["evaluations"] == before["evaluations"]
    assert after["launches"] == before["launches"]


def test_a_torn_conclusion_is_passed_over_and_named(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    made(path)
    files = sorted((tmp_path / "tuning.db.trials" / FOLDER).glob("launch-*.json"))
    files[0].write_text(files[0].read_text()[:-9])
    hostile = files[1].with_name("launch-1.json")
    spool.write_checked(hostile, {"kind": "curve", "payload": {}})
    lose(path)
    rebuilt = rebuild(path)
    assert set(rebuilt.unreadable) == {files[0], hostile}
    with Store.open(path) as store:
        assert len(lineage.launches(store)) == 2


def test_what_could_not_be_written_is_written_with_the_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tuning.db"
    blocked = tmp_path / "tuning.db.trials"
    blocked.write_text("not a folder")
    with Store.open(path) as store:
        with caplog.at_level(logging.WARNING):
            store.add_probe("one", "train", {})
        assert "not written beside the trials" in caplog.text
        assert len(store.probes()) == 1, "the store has it all the same"
        blocked.unlink()
        store.add_probe("two", "train", {})
    found, torn = read(blocked)
    assert [one.row["name"] for one in found] == ["one", "two"]
    assert torn == []


def test_what_was_rolled_back_is_never_left(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tuning.db") as store:
        with pytest.raises(ZeroDivisionError), store.transaction():
            store.add_probe("undone", "train", {})
            raise ZeroDivisionError
        store.add_probe("done", "train", {})
    found, _ = read(tmp_path / "tuning.db.trials")
    assert [one.row["name"] for one in found] == ["done"]


def test_a_round_that_keeps_its_trials_elsewhere_keeps_its_conclusions_there(
    tmp_path: Path,
) -> None:
    path, elsewhere = tmp_path / "tuning.db", tmp_path / "elsewhere"
    made(path)
    shutil.move(tmp_path / "tuning.db.trials", elsewhere)
    lose(path)
    rebuild(path, elsewhere)
    with Store.open(path) as store:
        store.note("depth", "moved")
        store.add_probe("of no round", "train", {})
        leave(store._database)
    assert any("moved" in one.read_text() for one in (elsewhere / FOLDER).glob("note-*.json"))
    lose(path)
    assert rebuild(path, elsewhere).conclusions == 12, "those about no round stand by the store"
