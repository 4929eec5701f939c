"""A lost store is made again from its trial folders."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from tests.store.record_parts import KILLED, a_round, begin, begun, curve

from tunewright.errors import NotFound
from tunewright.store import spool
from tunewright.store.judge import not_finite
from tunewright.store.outcome import Ended, Outcome
from tunewright.store.replay import rebuild
from tunewright.store.store import Claim, Store


def leave(store: Store, root: Path, claim: Claim, *results: Ended) -> None:
    spool.write_trial(root / claim.folder, claim)
    for result in results:
        spool.write_result(root / claim.folder, result)


def test_rounds_trials_curves_and_repeats_come_back(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    with Store.open(path) as store:
        root = store.trial_root()
        record, worker = begun(store)
        a, b, c = store.claim(record.id, worker, 3)
        store.log(a, [curve(0.9, 0.8)])
        store.end(a, Outcome("died", KILLED))
        died = Ended(a.trial, 1, Outcome("died", KILLED, batches=(curve(0.9, 0.8),)))
        (again,) = store.claim(record.id, worker, 1)
        store.began(again, 1, "here")
        store.end(again, Outcome("completed", batches=[curve(0.4, first=2)], seconds=2.0))
        done = Ended(
            a.trial,
            2,
            Outcome("completed", seconds=2.0, start_step=1, batches=(curve(0.4, first=2),)),
        )
        leave(store, root, again, died, done)
        diverged = not_finite("valid_error", math.nan, 1)
        store.end(b, Outcome("infeasible", diverged))
        leave(
            store,
            root,
            b,
            Ended(b.trial, 1, Outcome("infeasible", not_finite("valid_error", math.nan, 1))),
        )
        leave(store, root, c)  # it was running when the store was lost
        store.add_repeats(record.id, 0, 1)
        (repeat,) = store.claim_repeats(record.id, worker, 0, 1)
        store.end(repeat, Outcome("completed", batches=[curve(0.41)]))
        leave(
            store,
            root,
            repeat,
            Ended(repeat.trial, 1, Outcome("completed", batches=(curve(0.41),))),
        )
        added = store.add(record.id, worker, {"layers": 2, "learning_rate": 0.05}, 1, {})
        store.end(added, Outcome("completed", batches=[curve(0.6)]))
        leave(
            store, root, added, Ended(added.trial, 1, Outcome("completed", batches=(curve(0.6),)))
        )
        before = store.results("depth")
        identity = store.identity
    for old in tmp_path.glob("tuning.db*"):
        if old.is_file():
            old.unlink()
    rebuilt = rebuild(path)
    assert (rebuilt.rounds, rebuilt.trials, rebuilt.ended) == (1, 5, 4)
    assert rebuilt.unreadable == ()
    with Store.open(path) as store:
        assert store.identity == identity
        assert begin(store).continued, "the trials never begun come back with their round"
        after = store.results("depth")
        store.trial_root()
    assert [t.number for t in after.trials] == [t.number for t in before.trials]
    for old_trial, new_trial in zip(before.trials, after.trials, strict=True):
        expected = "pending" if old_trial.status == "running" else old_trial.status
        assert (new_trial.status, new_trial.value) == (expected, old_trial.value)
        assert new_trial.configuration == old_trial.configuration
        assert new_trial.folder == old_trial.folder and new_trial.seed == old_trial.seed
    assert list(after.trials[0].curves["valid_error"].values) == [0.9, 0.4]
    assert after.trials[0].attempts == 2 and after.trials[2].attempts == 1
    assert after.repeats(0)[0].value == 0.41


def test_torn_files_are_passed_over_and_named_and_the_old_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    with Store.open(path) as store:
        root = store.trial_root()
        record, worker = begun(store)
        a, b = store.claim(record.id, worker, 2)
        leave(store, root, a, Ended(a.trial, 1, Outcome("completed", batches=(curve(0.1),))))
        leave(store, root, b, Ended(b.trial, 1, Outcome("completed", batches=(curve(0.2),))))
    torn = root / a.folder / "trial.json"
    torn.write_text(torn.read_text()[:-9])
    path.write_bytes(b"torn")
    rebuilt = rebuild(path)
    assert (rebuilt.trials, rebuilt.ended, rebuilt.unreadable) == (1, 1, (torn,))
    assert next(tmp_path.glob("tuning.db.replaced-*")).read_bytes() == b"torn"
    with Store.open(path) as store:
        begin(store, a_round())
        assert store.round("depth").counts == {"pending": 5, "completed": 1}


def test_a_folder_elsewhere_is_remembered(tmp_path: Path) -> None:
    path, folder = tmp_path / "tuning.db", tmp_path / "elsewhere"
    with Store.open(path) as store:
        record = begin(store, folder=str(folder))
        worker = store.register(record.id, "session", exclusive=False)
        (claim,) = store.claim(record.id, worker, 1)
        leave(store, folder, claim, Ended(claim.trial, 1, Outcome("failed", KILLED)))
    path.unlink()
    assert rebuild(path, folder).ended == 1
    with Store.open(path) as store:
        assert store.results("depth").root == str(folder)


def test_without_folders_there_is_nothing_to_rebuild_from(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no rounds to rebuild"):
        rebuild(tmp_path / "tuning.db")
