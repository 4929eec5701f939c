"""Several owners on one store, in any order of events, against a model and on a clock of its own.

They register, beat, claim, log, end, give back, crash, are killed, fall silent and come back late;
others reclaim; trials and repeats are added; stops are wished for; clocks jump. After every step:
one holder at most for a trial, no committed result changed or lost, nothing written by an owner
that lost its lease, only crashes counted as deaths, curves and totals as the model has them. At the
end of every sequence all that is pending can be claimed and brought to its end.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings, strategies as st
from hypothesis.stateful import invariant, run_state_machine_as_test
from tests.store.record_parts import rows
from tests.store.store_events import pick, some, step, which
from tests.store.store_model import LEASE_S, Owner, Place
from tests.store.store_writes import METRIC, StoreWrites, packed

from tunewright.store.outcome import decode
from tunewright.store.schema import (
    attempt as attempt_table,
    curve as curve_table,
    trial as trial_table,
)
from tunewright.store.store import Store
from tunewright.store.trial import ENDED

CONNECTIONS = 3
every = st.sampled_from([15, 20, 21])  # a look after more than a third of the lease begins anew
Meanwhile = Callable[[list[Owner]], None]


class StoreMachine(StoreWrites):
    """What others take back from owners that seem dead, and what must hold after every event."""

    def look(self, observer: Owner, rooted: bool, meanwhile: Meanwhile = lambda _: None) -> None:
        """Reclaim; between its look at the beats and the taking back, something may happen."""
        dead: dict[int, int] = {}

        def between() -> None:
            dead.update(self.model.look(observer, self.world.now))
            meanwhile([self.model.owners[key] for key in dead])

        observer.watch.between = between
        root = self.root if rooted else None
        with self.world.reading(observer.ahead):
            taken = observer.store.reclaim(self.record.id, observer.watch, root)
        lost = self.model.take_back(dead)
        found = self.model.import_left({key for key, _ in lost}) if rooted else {}
        assert [(one.trial, one.attempt, one.ended_as) for one in taken] == [
            (*place, found.get(place)) for place in lost
        ]

    @step(who=which, rooted=st.booleans(), claim=which, beating=some, imports=st.booleans())
    def reclaim(self, who: int, rooted: bool, claim: int, beating: int, imports: bool) -> None:
        """Somebody looks; at the last moment one of the dead tells an end, and some beat."""

        def meanwhile(dead: list[Owner]) -> None:
            self.beat_all(self.awake(beating, dead))
            if ready := [held for held in self.hands() if held.filled and held.owner in dead]:
                held = pick(ready, claim)
                held.ending = self.ending(held, "completed")
                self.tell_end(held, held.ending)

        observer = self.somebody(who)
        self.look(observer, rooted, meanwhile)
        if imports:
            self.import_by(observer)

    @step(who=which, rooted=st.booleans(), every=every, beating=some, woken=some)
    def keep_watch(self, who: int, rooted: bool, every: int, beating: int, woken: int) -> None:
        """An observer looks for a lease or longer; some beat all the time, some at the last."""
        observer = self.somebody(who)
        for _ in range(5):
            self.look(observer, rooted, lambda dead: self.beat_all(self.awake(woken, dead)))
            self.world.now += every
            self.beat_all(self.awake(beating, self.on_duty()))

    def import_by(self, owner: Owner) -> None:
        taken = owner.store.import_spool(self.record.id, self.root)
        found: dict[Place, str] = {(one.trial, one.attempt): one.status for one in taken}
        assert found == self.model.import_left()

    # what must hold

    @invariant()
    def the_record_agrees(self) -> None:
        if not hasattr(self, "record"):
            return
        store = next(self.readers)
        if self.follow(store):  # else nothing was written, or the end of the sequence will tell
            self.read_all(store)
        self.sound = True

    def follow(self, store: Store) -> bool:
        """Read what has changed, if anything; all that was told so far must be as the model is."""
        before = self.rows, self.attempts, self.batches
        self.rows = {row["id"]: row for row in rows(store, trial_table)}
        self.attempts = {(row["trial"], row["n"]): row for row in rows(store, attempt_table)}
        self.batches = len(rows(store, curve_table))
        columns = "status", "reason", "attempt", "deaths", "worker", "seconds"
        for key, known in self.model.trials.items():
            row = {**self.rows[key], "reason": decode(self.rows[key]["reason"])}
            assert tuple(row[name] for name in columns) == known.row()
            own_rows = [self.attempts[key, n] for n in range(1, len(known.attempts) + 1)]
            held = sum(row["outcome"] == "" for row in own_rows)
            assert held == (known.status == "running"), "one holder at most"
            for row, attempt in zip(own_rows, known.attempts, strict=True):
                told = row["worker"], row["outcome"], row["start_step"], row["seconds"]
                own = attempt.worker, attempt.outcome, attempt.start_step, attempt.seconds
                assert (*told, row["began"] is not None) == (*own, attempt.began)
        return before != (self.rows, self.attempts, self.batches)

    def read_all(self, store: Store) -> None:
        """Totals, curves and results, as anybody reads them."""
        results = store.results(self.name)
        read = {t.identity: t for t in (*results.recorded, *results.recorded_repeats)}
        assert read.keys() == self.model.trials.keys()
        for key, known in self.model.trials.items():
            trial = read[key]
            curve = trial.curves.only(METRIC)
            points = {} if curve is None else dict(zip(curve.steps, curve.values, strict=True))
            assert points == known.curve()
            if trial.status in ENDED:
                result = trial.status, trial.reason, trial.attempts, trial.seconds, points
                assert self.committed.setdefault(key, result) == result
        assert all(read[key].status in ENDED for key in self.committed), "a result was lost"
        assert store.round(self.name).counts == self.model.counts()

    def teardown(self) -> None:
        try:
            if self.sound:
                self.contend()
                self.finish_everything()
        finally:
            self.patch.undo()

    def contend(self) -> None:
        """A supervisor that beats is alive, also to those whose clocks are hours off."""
        self.take_charge(self.stores[0], near=False, ahead=0, beating=0)
        for store, ahead in zip(self.stores, (7200, -7200), strict=False):
            self.take_charge(store, near=True, ahead=ahead, beating=31)

    def finish_everything(self) -> None:
        """All others fall silent: whoever comes then can bring every trial to its end."""
        for held in self.late():
            if held.filled:
                self.leave_behind(held, held.ending or self.ending(held, "infeasible"))
        last = self.arrive_at(self.stores[-1], near=True)
        self.import_by(last)
        last.store.clear_stops(self.record.id)
        self.model.stops.clear()
        for _ in range(4):
            self.look(last, True)
            self.world.now += LEASE_S / 3
        self.crash(last)
        self.check_details()
        self.reopen(last.store)
        before = len(self.held)
        self.claim_for(last, 99)
        for parent in self.model.numbered():
            repeats = last.store.claim_repeats(self.record.id, last.worker, parent.number, 99)
            self.hold(repeats, self.free_repeats(parent.number), last)
        assert {t.holder for t in self.model.trials.values()} <= {None, last.worker.id}
        assert {t.status for t in self.model.trials.values()} <= {"running", *ENDED}
        fresh = [held for held in self.held[before:] if self.fill(held)]
        assert len(fresh) == len(self.held) - before
        for held in fresh:
            held.ending = self.ending(held, "completed")
            self.leave_behind(held, held.ending)
        self.write_all_late()
        self.import_by(last)
        for held in fresh:
            self.tell_end(held, held.ending)
        self.write_all_late()
        self.check_details()
        assert set(self.model.counts()) <= set(ENDED)

    def crash(self, owner: Owner) -> None:
        """Three crashes of the lowest pending trial make it failed; a stop before is not one."""
        for outcome in ("stopped", "died", "died", "died"):
            if key := next(iter(self.model.claimable()), None):
                self.claim_for(owner, 1)
                held = self.held[-1]
                assert held.claim.trial == key and self.fill(held)
                held.ending = self.ending(held, outcome)
                self.tell_end(held, held.ending)

    def write_all_late(self) -> None:
        for held in self.late():
            self.write_late(held)

    def check_details(self) -> None:
        """All there is to read, with the snapshots, and every batch once."""
        store = self.stores[0]
        self.follow(store)
        self.read_all(store)
        for key, known in self.model.trials.items():
            saved = {(s.attempt, s.step) for s in store.snapshots(key)}
            assert saved == known.snapshots
        for held in self.held:
            told = self.model.attempt(held.claim).batches
            assert store.batches(held.claim) == [packed(told[place]) for place in sorted(told)]


@contextlib.contextmanager
def connected(url: str) -> Iterator[tuple[Store, ...]]:
    with contextlib.ExitStack() as opened:
        yield tuple(opened.enter_context(Store.open(url)) for _ in range(CONNECTIONS))


def check_machine(url: str, root: Path, examples: int, steps: int, **more: Any) -> None:
    with connected(url) as stores:
        machine = type("OnThisStore", (StoreMachine,), {"stores": stores, "root": root})
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                **{"phases": [Phase.generate, Phase.shrink], **more},
            ),
        )
        assert len(stores[0].rounds()) >= examples / 2, "it ran"


def test_no_order_of_events_breaks_the_store(tmp_path: Path) -> None:
    """The same sequences each time: what fails is a change of ours."""
    check_machine(str(tmp_path / "tuning.db"), tmp_path / "trials", 30, 40, derandomize=True)


@pytest.mark.slow
def test_no_order_of_many_events_breaks_the_store(tmp_path: Path) -> None:
    check_machine(str(tmp_path / "tuning.db"), tmp_path / "trials", 250, 60)


@pytest.mark.postgres
def test_no_order_of_events_breaks_the_store_on_a_server(
    new_postgres_url: Callable[[], str], tmp_path: Path
) -> None:
    phases = [Phase.generate]  # a failure is shrunk in seconds on SQLite, and in minutes here
    check_machine(new_postgres_url(), tmp_path / "trials", 10, 25, derandomize=True, phases=phases)
