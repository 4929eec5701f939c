"""Case 55: what ask and tell was told outlives the store: in trial folders and in a backup."""

from __future__ import annotations

import pytest
from tests.faults.quick_rounds import OBJECTIVE, asked, workload

import tunewright as tw
from tunewright.errors import Damaged
from tunewright.store import backup
from tunewright.store.replay import rebuild

TRIALS = 5


def tell(store, round, trials: int, folder=None) -> tw.types.Results:
    with tw.open_round(round, OBJECTIVE, store, folder=folder) as session:
        for _ in range(trials):
            trial = session.ask()
            trial.log(1, valid_error=2 * trial.configuration["learning_rate"])
            trial.log(2, valid_error=trial.configuration["learning_rate"])
            if trial.number == 1:
                trial.infeasible("it does not fit")
            else:
                trial.finish()
        return session.results()


def facts(results: tw.types.Results) -> list[tuple]:
    return [
        (t.number, t.status, t.value, t.seed, dict(t.configuration), t.reason)
        for t in results.trials
        if t.status != "pending"
    ]


def lose(tmp_path) -> None:
    for path in tmp_path.glob("tuning.db*"):
        if path.is_file():
            path.unlink()


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_case_55_a_lost_store_is_rebuilt_from_what_was_told(tmp_path, how):
    store, round = tmp_path / "tuning.db", asked(tmp_path / "journal", TRIALS + 1)
    before = tell(store, round, TRIALS)
    lose(tmp_path)
    if how == "empty":
        store.touch()
    for use in (lambda: tell(store, round, 1), lambda: tw.run(round, workload(store))):
        with pytest.raises(Damaged) as refused:
            use()
        assert refused.value.code == "store.orphan_folders"
        assert not store.exists() or not store.stat().st_size, "nothing was made in its place"
    made = rebuild(store)
    assert (made.rounds, made.trials, made.ended, made.unreadable) == (1, TRIALS, TRIALS, ())
    assert facts(tw.load(store, round.name)) == facts(before)
    after = tell(store, round, 1)
    assert len(facts(after)) == TRIALS + 1 and facts(after)[:TRIALS] == facts(before)


def test_case_55_a_round_without_a_finished_trial_is_not_replaced_either(tmp_path):
    store, round = tmp_path / "tuning.db", asked(tmp_path / "journal", 2)
    with tw.open_round(round, OBJECTIVE, store):
        pass
    lose(tmp_path)
    with pytest.raises(Damaged):
        tw.open_round(round, OBJECTIVE, store)
    assert not store.exists()


def test_case_55_the_end_of_a_session_makes_a_backup(tmp_path):
    store, round = tmp_path / "tuning.db", asked(tmp_path / "journal", TRIALS)
    before = tell(store, round, TRIALS)
    store.write_bytes(b"torn")
    backup.restore(store)
    assert facts(tw.load(store, round.name)) == facts(before)


def test_case_55_ends_after_a_backup_come_from_the_trial_folders(tmp_path):
    store, round = tmp_path / "tuning.db", asked(tmp_path / "journal", TRIALS)
    tell(store, round, 1)
    old = backup.newest(store)
    before = tell(store, round, TRIALS - 1)
    store.write_bytes(b"torn")
    backup.restore(store, old)
    assert len(facts(tw.load(store, round.name))) == 1
    with tw.open_round(round, OBJECTIVE, store) as session:
        assert session.ask() is None
    assert facts(tw.load(store, round.name)) == facts(before)


def test_case_55_a_folder_elsewhere_serves_on_both_stores(store_url, request, tmp_path):
    folder, round = tmp_path / "trials", asked(tmp_path / "journal", TRIALS)
    before = tell(store_url, round, TRIALS, folder)
    server = store_url.startswith("postgresql")
    fresh = request.getfixturevalue("new_postgres_url")() if server else str(tmp_path / "new.db")
    assert rebuild(fresh, folder).ended == TRIALS
    assert facts(tw.load(fresh, round.name)) == facts(before)
