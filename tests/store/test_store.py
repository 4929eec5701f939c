"""The store's door: what is put in comes out, on SQLite and on PostgreSQL."""

from __future__ import annotations

import math
import threading

import pytest
from tests.store.record_parts import OBJECTIVE, a_round, begin, begun, complete, curve

from tunewright.errors import NotFound, OutOfDate, StoreError
from tunewright.messages import Message
from tunewright.store.judge import not_finite
from tunewright.store.outcome import Outcome
from tunewright.store.provenance import Provenance
from tunewright.store.store import Store


def test_a_round_is_begun_claimed_told_and_read_back(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        assert record.counts == {"pending": 6} and not record.continued
        first, second = store.claim(record.id, worker, 2)
        assert (first.number, first.study, first.index, first.attempt) == (0, 0, 0, 1)
        assert (second.number, second.study, second.index) == (1, 1, 0)
        assert first.configuration is not None and first.configuration["layers"] == 1
        assert first.folder == f"{record.directory}/t000000"
        store.began(first, 0, "host 1", "python train.py")
        store.log(first, [curve(0.5, 0.4), curve(0.3, first=3)])
        store.add_snapshot(first, 3, "snapshots/3", "ab12")
        store.end(
            first,
            Outcome("completed", batches=[curve(0.35, first=4)], seconds=2.5, peak_memory_mb=10.0),
        )
        store.end(second, Outcome("infeasible", not_finite("valid_error", math.nan, 1)))
    with Store.open(store_url, create=False) as store:
        results = store.results("depth")
        assert results.round == a_round() and results.objective == OBJECTIVE
        assert [t.status for t in results.trials[:3]] == ["completed", "infeasible", "pending"]
        best = results.best()
        assert (best.number, best.value, best.best_step) == (0, 0.3, 3)
        assert list(best.curves["valid_error"].steps) == [1, 2, 3, 4]
        assert (best.seconds, best.attempts, best.started) == (2.5, 1, "python train.py")
        assert best.command == "tunewright again depth 0"
        (attempt,) = store.attempts(best.identity)
        assert (attempt.place, attempt.outcome, attempt.seconds) == ("host 1", "completed", 2.5)
        (snapshot,) = store.snapshots(best.identity)
        assert (snapshot.step, snapshot.path, snapshot.sha256) == (3, "snapshots/3", "ab12")


def test_lowest_numbers_are_claimed_first_and_none_twice(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        numbers = [c.number for c in store.claim(record.id, worker, 4)]
        numbers += [c.number for c in store.claim(record.id, worker, 4)]
        assert numbers == [0, 1, 2, 3, 4, 5]
        assert store.claim(record.id, worker, 4) == []


def test_all_studies_share_seeds_at_one_index_and_the_round_shares_its_split(
    store_url: str,
) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        claims = store.claim(record.id, worker, 6)
        assert claims[0].seed == claims[1].seed != claims[2].seed
        assert len({c.split_seed for c in claims}) == 1
        assert all(0 <= c.seed < 2**31 for c in claims)


def test_a_configuration_of_ones_own_gets_the_next_number(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        own = store.add(record.id, worker, {"layers": 2, "learning_rate": 0.5}, 1, {})
        assert (own.number, own.index, own.study, own.attempt) == (6, None, 1, 1)
        complete(store, own, 0.1)
        assert store.results("depth").best().search == "added"


def test_repeats_take_no_number_and_five_twice_is_five(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        complete(store, claim, 0.2)
        assert store.add_repeats(record.id, 0, 5) == 5
        assert store.add_repeats(record.id, 0, 5) == 0
        repeats = store.claim_repeats(record.id, worker, 0, 9)
        assert [r.number for r in repeats] == [None] * 5
        assert repeats[2].folder.endswith("t000000.repeat3")
        assert len({r.seed for r in repeats} | {claim.seed}) == 6
        assert all(r.configuration == claim.configuration for r in repeats)
        complete(store, repeats[0], 0.1)
        results = store.results("depth")
        assert len(results.trials) == 6 and results.best().value == 0.2
        assert [r.value for r in results.repeats(0)][:2] == [0.1, None]
        assert results.repeats(0)[0].parent == 0
        with pytest.raises(NotFound, match="no trial 99"):
            store.add_repeats(record.id, 99, 2)


def test_an_adaptive_search_fills_a_claimed_trial(store_url: str) -> None:
    with Store.open(store_url) as store:
        record = begin(store, suggestions=None, search="bayesian")
        worker = store.register(record.id, "supervisor", exclusive=True)
        (claim,) = store.claim(record.id, worker, 1)
        assert claim.configuration is None
        store.fill(claim, {"layers": 1, "learning_rate": 0.01}, {"learning_rate": 0.7})
        complete(store, claim)
        best = store.results("depth").best()
        assert best.configuration == {"layers": 1, "learning_rate": 0.01}
        assert best.unit == {"learning_rate": 0.7}


def test_many_trials_are_flushed_by_one_commit_and_a_refused_one_leaves_the_others(
    store_url: str,
) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        a, b, c = store.claim(record.id, worker, 3)
        complete(store, b)
        with store.transaction():
            store.log(a, [curve(0.5)])
            with pytest.raises(OutOfDate, match="Nothing was overwritten"):
                store.log(b, [curve(0.9, first=7)])
            store.log(c, [curve(0.6)])
        assert store.batches(a) and store.batches(c)
        assert len(store.batches(b)) == 1


def test_a_failed_transaction_leaves_nothing(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        with pytest.raises(ZeroDivisionError), store.transaction():
            store.log(claim, [curve(0.5)])
            store.note("depth", "never")
            raise ZeroDivisionError
        assert store.batches(claim) == [] and store.notes("depth") == []


def test_failed_trials_are_reopened_when_asked(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        a, b = store.claim(record.id, worker, 2)
        raised = Message("trial.raised", {"type": "ValueError", "text": "no"})
        store.end(a, Outcome("failed", raised, detail="Traceback ..."))
        complete(store, b)
        assert store.reopen(record.id) == [0]
        (again,) = store.claim(record.id, worker, 1)
        assert (again.number, again.attempt, again.attempts_died) == (0, 2, 0)


def test_notes_and_requests_to_stop(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, _ = begun(store)
        store.note("depth", "warm-up was too short")
        store.note(record, "second")
        assert [n.text for n in store.notes("depth")] == ["warm-up was too short", "second"]
        with pytest.raises(StoreError, match="empty"):
            store.note("depth", "  ")
        store.ask_stop(record.id, 3)
        assert store.stops(record.id).numbers == {3} and not store.stops(record.id).everything
        store.ask_stop(record.id)
        assert store.stops(record.id).everything
        store.clear_stops(record.id, 3)
        assert store.stops(record.id).numbers == frozenset()
        store.clear_stops(record.id)
        assert not store.stops(record.id).everything


def test_a_wish_to_stop_ends_with_those_it_was_meant_for(store_url: str) -> None:
    with Store.open(store_url) as store:
        record = begin(store)
        store.ask_stop(record.id)
        store.register(record.id, "supervisor", exclusive=True)
        assert not store.stops(record.id).everything


def test_provenance_is_kept_per_attempt_and_stored_once(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        a, b = store.claim(record.id, worker, 2)
        origin = Provenance("python x.py", "/here", "abc", "+1 line", packages={"numpy": "2.0"})
        store.add_provenance(a, origin)
        store.add_provenance(b, origin)
        assert store.provenance(a.trial) == store.provenance(b.trial) == origin
        (c,) = store.claim(record.id, worker, 1)
        assert store.provenance(c.trial) is None


@pytest.mark.parametrize(
    "name",
    ["'; DROP TABLE trial; --", '" OR 1=1', "%_\\", "../../x", "/etc/passwd", "π ☃ 名", "a" * 200],
)
def test_names_are_inert_and_never_become_paths(store_url: str, name: str) -> None:
    with Store.open(store_url) as store:
        round = a_round(name, nuisance={name: [1, 2], "learning_rate": [0.1]}, trials_per_study=2)
        record = begin(store, round)
        worker = store.register(record.id, "session", exclusive=False)
        (claim,) = store.claim(record.id, worker, 1)
        said = Message("trial.failed", {"text": name})
        store.end(claim, Outcome("failed", said, detail=name, batches=[curve(0.5, metric=name)]))
        store.note(name, name)
        results = store.results(name)
        assert results.round.name == name and results.trials[0].reason == said
        assert name in results.trials[0].configuration
        assert list(results.trials[0].curves) == [name] and results.notes == (name,)
        assert claim.folder.split("/")[0] == record.directory
        assert record.directory.replace("-", "").isalnum()
        with pytest.raises(NotFound):
            store.round(name + "' OR '1'='1")


def test_any_text_of_an_exception_is_kept(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        (claim,) = store.claim(record.id, worker, 1)
        said = Message("trial.raised", {"type": "ValueError", "text": "bad \x00 \ud800"})
        store.end(claim, Outcome("failed", said, detail="x" * 10**6))
        trial = store.results("depth").trials[0]
        assert trial.reason is not None
        assert trial.reason.facts == {"type": "ValueError", "text": "bad \\x00 \\ud800"}
        assert len(trial.detail) < 210_000 and "left out" in trial.detail


def test_a_misspelt_round_is_answered_with_the_nearest(store_url: str) -> None:
    with Store.open(store_url) as store:
        begin(store)
        with pytest.raises(NotFound, match="Did you mean 'depth'"):
            store.results("depht")


def test_threads_share_a_store(store_url: str) -> None:
    round = a_round(trials_per_study=20)
    with Store.open(store_url) as store:
        record, worker = begun(store, round)
        told: list[int | None] = []

        def work() -> None:
            while claims := store.claim(record.id, worker, 1):
                store.beat(worker)
                complete(store, claims[0])
                told.append(claims[0].number)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(n for n in told if n is not None) == list(range(40))
        assert store.round("depth").counts == {"completed": 40}


def test_one_trial_is_read_by_its_key(store_url: str) -> None:
    with Store.open(store_url) as store:
        record, worker = begun(store)
        claims = store.claim(record.id, worker, 2)
        for claim, value in zip(claims, (0.5, 0.25), strict=True):
            complete(store, claim, value)
        store.add_repeats(record.id, 1, 1)
        (again,) = store.claim_repeats(record.id, worker, 1, 1)
        store.log(again, [curve(0.3)])
        results = store.results("depth")
        for whole in (*results.trials, *results.recorded_repeats):
            alone = store.trial(whole.identity)
            assert alone == whole
            assert {n: c.values.tolist() for n, c in alone.curves.items()} == {
                n: c.values.tolist() for n, c in whole.curves.items()
            }
        assert store.trial(claims[1].trial).value == 0.25
        with pytest.raises(NotFound, match="no trial with the key 999"):
            store.trial(999)
