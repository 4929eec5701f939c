"""The ledger: many accounts in one commit, and a store out of reach is waited for."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import replace

import pytest
from sqlalchemy import event

from tunewright import snapshot
from tunewright.design.names import Meaning
from tunewright.design.objective import minimize
from tunewright.design.ranges import log
from tunewright.design.round import Round
from tunewright.errors import Damaged, StoreError
from tunewright.execution import ledger as flushing
from tunewright.execution.account import FLUSH_S, Account, join_batches
from tunewright.execution.executors.executor import Logged, Saved
from tunewright.execution.ledger import Ledger
from tunewright.execution.retry import PATIENCE_S
from tunewright.messages import Message
from tunewright.search.halton import Halton
from tunewright.store.curves import pack, unpack
from tunewright.store.outcome import Outcome
from tunewright.store.spool import results_in
from tunewright.store.store import Store

ROUND = Round(
    "r", goal="?", nuisance={"learning_rate": log(1e-4, 1e-1)}, trials_per_study=4, seed=0
)


class Unreliable:
    """A store whose transactions fail as often as a test says, before or after the commit."""

    def __init__(self, store):
        self.store = store
        self.failures = []  # "before" or "after", in the order they are to happen

    def __getattr__(self, name):
        return getattr(self.store, name)

    @contextlib.contextmanager
    def transaction(self):
        when = self.failures.pop(0) if self.failures else None
        if when == "before":
            raise StoreError("error.text", text="the server is restarting.")
        with self.store.transaction():
            yield
        if when == "after":
            raise StoreError("error.text", text="the connection was lost.")


@pytest.fixture
def desk(tmp_path):
    """A store with one round, a ledger, and four accounts of running trials."""
    with Store.open(tmp_path / "tuning.db") as store:
        search = Halton()
        record = store.begin(
            ROUND,
            minimize("valid_error"),
            Meaning(),
            search="halton",
            suggestions=lambda study, count: search.suggest(study, (), count),
        )
        worker = store.register(record.id, "supervisor", exclusive=True)
        unreliable = Unreliable(store)
        told = []
        ledger = Ledger(unreliable, store.trial_root(), told.append)
        claims = store.claim(record.id, worker, 4)
        for claim in claims:
            ledger.open_folder(claim)
        accounts = [Account(claim, ["valid_error"], 0.0) for claim in claims]
        yield store, unreliable, ledger, accounts, told


def log_points(account, steps, value=0.5):
    claim = account.claim
    points = pack({"valid_error": (steps, [value] * len(steps))})
    account.take(Logged(claim.trial, claim.attempt, points))


def end(account, status="completed"):
    account.end(Outcome(status, Message("stopped.asked")))


def steps_of(store, number):
    curve = store.results("r").trial(number).curves.only("valid_error")
    return [] if curve is None else curve.steps.tolist()


def test_points_wait_for_company_and_longer_in_old_trials(desk):
    _, _, _, accounts, _ = desk
    account = accounts[0]
    assert not account.due(1e9), "there is nothing to say"
    log_points(account, [1])
    assert not account.due(FLUSH_S - 0.1)
    assert account.due(FLUSH_S)
    account.unsaid()
    account.settle(10_000.0)
    log_points(account, [2])
    assert not account.due(10_000.0 + FLUSH_S)
    assert account.due(10_000.0 + 102.0), "one percent of its age"
    end(account)
    assert account.due(10_000.0), "an end is told at once"


def test_many_accounts_are_one_commit(desk):
    store, _, ledger, accounts, _ = desk
    commits = []
    event.listen(store._database.engine, "commit", commits.append)
    for account in accounts:
        log_points(account, [1, 2])
    assert ledger.commit(accounts, 5.0).written == accounts
    assert len(commits) == 1
    assert [steps_of(store, n) for n in range(4)] == [[1, 2]] * 4


def test_batches_are_joined_before_they_are_stored():
    parts = [pack({"a": ([1, 2], [0.1, 0.2])}), pack({"a": ([3], [0.3]), "b": ([3], [1.0])})]
    curves = unpack(join_batches(parts))
    assert curves["a"].steps.tolist() == [1, 2, 3]
    assert curves["a"].values.tolist() == [0.1, 0.2, 0.3]
    assert curves["b"].values.tolist() == [1.0]
    assert join_batches(parts[:1]) is parts[0]


def test_a_store_out_of_reach_loses_nothing(desk):
    store, unreliable, ledger, accounts, told = desk
    account = accounts[0]
    log_points(account, [1])
    unreliable.failures = ["before", "before"]
    assert ledger.commit([account], 5.0).written == []
    log_points(account, [2])
    end(account)
    assert ledger.commit([account], 6.0).written == []
    (spooled,) = results_in(store.trial_root() / account.claim.folder)
    assert spooled.outcome.status == "completed"
    batches = spooled.outcome.batches
    spooled_steps = [int(s) for b in batches for s in unpack(b)["valid_error"].steps]
    assert spooled_steps == [1, 2], "the end is on the disk while the store is away"
    log_points(accounts[1], [1])
    committed = ledger.commit([account, accounts[1]], 7.0)
    assert committed.written == [account, accounts[1]]
    assert steps_of(store, 0) == [1, 2]
    assert store.results("r").trial(0).status == "completed"
    assert "restarting" in told[0] and "training continues" in told[0]
    assert told[1] == "the store is back after 2 s"
    assert len(told) == 2, "said once, however often it was tried"


def test_points_whose_commit_was_not_acknowledged_stand_once(desk):
    store, unreliable, ledger, accounts, _ = desk
    account = accounts[0]
    log_points(account, [1])
    unreliable.failures = ["after"]
    assert ledger.commit([account], 5.0).written == []
    log_points(account, [2])
    assert ledger.commit([account], 6.0).written == [account]
    assert steps_of(store, 0) == [1, 2]
    log_points(account, [3])
    end(account)
    unreliable.failures = ["after"]
    assert ledger.commit([account], 7.0).written == []
    assert ledger.commit([account], 8.0).written == [account]
    assert steps_of(store, 0) == [1, 2, 3]
    assert store.results("r").trial(0).status == "completed"


def test_patience_ends_after_ten_minutes(desk):
    _, unreliable, ledger, accounts, _ = desk
    log_points(accounts[0], [1])
    unreliable.failures = ["before"] * 3
    ledger.commit(accounts[:1], 5.0)
    ledger.commit(accounts[:1], 5.0 + PATIENCE_S)
    with pytest.raises(StoreError, match=r"10 min.*taken over when the round is run again"):
        ledger.commit(accounts[:1], 6.0 + PATIENCE_S)


def test_a_full_disk_is_waited_for_without_end(desk, monkeypatch):
    _, unreliable, ledger, accounts, told = desk
    full = [True]
    monkeypatch.setattr(flushing, "short_of_space", lambda *place: "full." if full[0] else None)
    log_points(accounts[0], [1])
    unreliable.failures = ["before"] * 3
    for now in (5.0, 10 * PATIENCE_S, 20 * PATIENCE_S):
        assert ledger.commit(accounts[:1], now).written == []
    assert not ledger.has_space()
    assert not ledger.has_space(), "which is said once"
    full[0] = False
    assert ledger.has_space()
    assert told[-2:] == ["paused: full.", "there is space again: continuing"]
    assert ledger.commit(accounts[:1], 20 * PATIENCE_S).written == accounts[:1]


def test_damage_is_final(desk):
    _, unreliable, ledger, accounts, _ = desk

    @contextlib.contextmanager
    def torn():
        raise Damaged("error.text", text="the store is damaged.")
        yield

    unreliable.transaction = torn
    log_points(accounts[0], [1])
    with pytest.raises(Damaged):
        ledger.commit(accounts[:1], 5.0)


def test_one_refused_account_leaves_the_others_whole(desk):
    store, _, ledger, accounts, _ = desk
    mine, taken = accounts[0], accounts[1]
    with store._database.writing() as connection:
        connection.exec_driver_sql("UPDATE trial SET attempt = 2 WHERE number = 1")
    for account in (mine, taken):
        log_points(account, [1])
        claim = account.claim
        account.take(Saved(claim.trial, claim.attempt, 1, "snapshots/a", "0" * 64))
    committed = ledger.commit([taken, mine], 5.0)
    assert committed.written == [mine]
    assert committed.lost == [taken]
    assert steps_of(store, 0) == [1]
    assert steps_of(store, 1) == []


def test_the_spool_has_whole_curves_though_most_were_committed_before(desk):
    store, _, ledger, accounts, _ = desk
    account = accounts[2]
    for step in (1, 2, 3):
        log_points(account, [step])
        ledger.commit([account], float(step))
    log_points(account, [4])
    end(account)
    ledger.commit([account], 4.0)
    (spooled,) = results_in(store.trial_root() / account.claim.folder)
    assert spooled.outcome.first == 0
    steps = [int(s) for b in spooled.outcome.batches for s in unpack(b)["valid_error"].steps]
    assert steps == [1, 2, 3, 4]


def test_a_result_that_only_reached_the_folder_is_taken_over_at_the_next_start(desk):
    store, unreliable, ledger, accounts, _ = desk
    log_points(accounts[0], [1], 0.25)
    end(accounts[0])
    unreliable.failures = ["before"]
    ledger.commit(accounts[:1], 5.0)
    (record,) = store.rounds()
    with store._database.writing() as connection:  # the supervisor is gone
        connection.exec_driver_sql("UPDATE worker SET retired = 1")
    (imported,) = store.import_spool(record.id, store.trial_root())
    assert (imported.number, imported.status) == (0, "completed")
    assert store.results("r").trial(0).value == 0.25
    assert store.import_spool(record.id, store.trial_root()) == []


def test_backups_are_made_when_due(desk, tmp_path):
    _, _, ledger, _, _ = desk
    ledger.back_up()
    ledger.back_up()
    assert len(list((tmp_path / "tuning.db.backups").glob("*.db"))) == 1
    ledger.back_up(at_once=True)
    assert len(list((tmp_path / "tuning.db.backups").glob("*.db"))) == 2


# ---- snapshots that the record does not know of


def again(claim):
    return replace(claim, attempt=claim.attempt + 1)


def saved(ledger, account, *steps):
    """Take snapshots of these steps, and tell the account of them."""
    folder = ledger.open_folder(account.claim)
    for step in steps:
        written = snapshot.save(folder / "snapshots", {"step": step}, step=step, keep=None)
        path = written.path.relative_to(folder).as_posix()
        claim = account.claim
        account.take(Saved(claim.trial, claim.attempt, step, path, written.sha256))
    return folder / "snapshots"


def steps_in(folder):
    return [found.step for found in snapshot.list_snapshots(folder)]


def test_a_snapshot_is_committed_soon_with_the_points_before_it(desk):
    _, _, ledger, accounts, _ = desk
    account = accounts[0]
    account.settle(1000.0)
    log_points(account, [1])
    assert not account.due(1000.2)
    saved(ledger, account, 1)
    assert account.due(1000.2)


def test_unrecorded_snapshots_are_forgotten_so_that_no_curve_gets_a_hole(desk):
    _, _, ledger, accounts, _ = desk
    account = accounts[0]
    folder = saved(ledger, account, 1, 2)
    ledger.commit([account], 1.0)
    saved(ledger, account, 3, 4)
    ledger.open_folder(again(account.claim))
    assert steps_in(folder) == [2, 1]


def test_of_a_young_trial_nothing_recorded_means_a_fresh_start(desk):
    _, _, ledger, accounts, _ = desk
    folder = saved(ledger, accounts[0], 1, 2, 3)  # the best one stays beside the last two
    ledger.open_folder(again(accounts[0].claim))
    assert steps_in(folder) == []


def test_much_training_is_not_thrown_away_for_a_hole(desk):
    """The store was out of reach for long: no snapshot on the disk is recorded."""
    _, _, ledger, accounts, _ = desk
    folder = saved(ledger, accounts[0], 1000, 2000)
    hours_ago = time.time() - 7200
    os.utime(folder.parent / "trial.json", (hours_ago, hours_ago))
    ledger.open_folder(again(accounts[0].claim))
    assert steps_in(folder) == [2000, 1000]
