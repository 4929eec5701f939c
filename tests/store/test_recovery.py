"""Results that reached the trial folder but not the store are taken over, once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.store.record_parts import KILLED, begin, begun, complete, curve

from tunewright.errors import OutOfDate
from tunewright.store import backup
from tunewright.store.leases import LeaseWatch
from tunewright.store.outcome import Ended, Outcome
from tunewright.store.spool import write_result, write_trial
from tunewright.store.store import Claim, Store


def spooled(claim: Claim, **changes: object) -> Ended:
    batches = (curve(0.3, first=2), curve(0.2, first=3))
    outcome = Outcome("completed", seconds=4.0, first=1, batches=batches)
    return Ended(claim.trial, claim.attempt, replace(outcome, **changes))


def test_a_result_left_by_a_dead_owner_is_taken_over_with_its_points(
    store_url: str, tmp_path: Path
) -> None:
    root = tmp_path / "trials"
    with Store.open(store_url) as store:
        record, worker = begun(store)
        a, b = store.claim(record.id, worker, 2)
        store.log(a, [curve(0.9)], first=0)
        store.log(a, [curve(0.3, first=2)], first=1)  # told, but the answer was lost
        write_result(root / a.folder, spooled(a))
        assert store.import_spool(record.id, root) == [], "its owner lives and will tell it"
        store.retire(worker)
        taken = store.reclaim(record.id, LeaseWatch(), root)
        assert [(one.number, one.ended_as) for one in taken] == [(0, "completed"), (1, None)]
        trial = store.results("depth").trials[0]
        assert (trial.status, trial.value, trial.seconds) == ("completed", 0.2, 4.0)
        assert list(trial.curves["valid_error"].values) == [0.9, 0.3, 0.2]
        assert store.import_spool(record.id, root) == [], "twice is once"
        with pytest.raises(OutOfDate):
            complete(store, b)


def test_a_result_found_later_is_taken_over_unless_the_trial_runs_again(
    store_url: str, tmp_path: Path
) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        a, b = store.claim(record.id, worker, 2)
        store.retire(worker)
        store.reclaim(record.id, LeaseWatch())  # by somebody who cannot see the folders
        new = store.register(record.id, "session", exclusive=False)
        (again,) = store.claim(record.id, new, 1)
        assert (again.number, again.attempt) == (0, 2)
        write_result(tmp_path / a.folder, spooled(a, first=0))
        write_result(tmp_path / b.folder, spooled(b, first=0))
        (only,) = store.import_spool(record.id, tmp_path)
        assert (only.number, only.status) == (1, "completed")
        complete(store, again, 0.7)
        assert [t.value for t in store.results("depth").trials[:2]] == [0.7, 0.2]


def test_a_spooled_release_counts_its_death_once(store_url: str, tmp_path: Path) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        result = spooled(claim, status="died", reason=KILLED, first=0)
        write_result(tmp_path / claim.folder, result)
        store.retire(worker)
        store.reclaim(record.id, LeaseWatch(), tmp_path)
        assert store.import_spool(record.id, tmp_path) == []
        new = store.register(record.id, "session", exclusive=False)
        (again,) = store.claim(record.id, new, 1)
        assert (again.attempt, again.attempts_died) == (2, 1)
        assert store.attempts(claim.trial)[0].outcome == "died"


def test_results_of_other_trials_and_torn_ones_are_passed_over(
    store_url: str, tmp_path: Path
) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        write_result(tmp_path / claim.folder, replace(spooled(claim), trial=claim.trial + 1))
        store.retire(worker)
        assert store.reclaim(record.id, LeaseWatch(), tmp_path)[0].ended_as is None
        path = write_result(tmp_path / claim.folder, spooled(claim))
        path.write_bytes(path.read_bytes()[:-20])
        assert store.import_spool(record.id, tmp_path) == []
        assert store.round("depth").counts == {"pending": 6}


def test_results_newer_than_a_restored_backup_are_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "tuning.db"
    with Store.open(path) as store:
        record = begin(store, suggestions=None, search="bayesian")
        worker = store.register(record.id, "session", exclusive=False)
        root = store.trial_root()
        saved = store.back_up()
        (first,) = store.claim(record.id, worker, 1)
        store.fill(first, {"layers": 1, "learning_rate": 0.07}, {"learning_rate": 0.9})
        store.end(first, Outcome("died", KILLED))
        write_result(root / first.folder, spooled(first, status="died", first=0))
        (again,) = store.claim(record.id, worker, 1)
        write_trial(root / again.folder, again)
        complete(store, again, 0.9)
        write_result(root / again.folder, spooled(again, start_step=1, first=0))
    backup.restore(path, saved)
    with Store.open(path) as store:
        assert store.round("depth").counts == {"pending": 6}
        taken = store.import_spool(record.id, root)
        assert [(one.number, one.status) for one in taken] == [(0, "pending"), (0, "completed")]
        trial = store.results("depth").trials[0]
        assert (trial.status, trial.value, trial.attempts) == ("completed", 0.2, 2)
        assert trial.configuration == {"layers": 1, "learning_rate": 0.07}
        assert [a.outcome for a in store.attempts(trial.identity)] == ["died", "completed"]
        assert store.import_spool(record.id, root) == []


def test_the_round_is_left_beside_its_trials(tmp_path: Path) -> None:
    with Store.open(tmp_path / "tuning.db") as store:
        record = begin(store)
        assert (store.trial_root() / record.directory / "round.json").is_file()
