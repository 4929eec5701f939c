"""What may happen around a store: owners, time, claims, wishes; events of a state machine.

Each changes the store and the model alike, and compares what it was answered. What an owner tells
about its trials is in `store_writes.py`, what must hold in `test_store_machine.py`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.store.hand_clock import World, govern
from tests.store.record_parts import a_round, begin, points
from tests.store.store_model import LEASE_S, Held, KnownTrial, Model, Owner, Watch

from tunewright.errors import Busy, OutOfDate, StoreError
from tunewright.execution.heartbeat import Heartbeat
from tunewright.store.store import Claim, RoundRecord, Store

CONFIGURATION = {"layers": 1, "learning_rate": 0.01}
named = itertools.count()
which = st.integers(0, 9)  # one of those there are, counted round and round
some = st.integers(0, 31)  # several of them, one bit for each
clocks = st.sampled_from([0, 7200, -7200])  # seconds ahead of the true one
T = TypeVar("T")


def pick(among: Sequence[T], index: int) -> T:
    return among[index % len(among)]


def step(**drawn: Any) -> Callable[[Any], Any]:
    """A rule; until the invariants have been seen to hold after it, the machine is not sound."""

    def make(act: Callable[..., None]) -> Any:
        @functools.wraps(act)
        def run(self: StoreEvents, **given: Any) -> None:
            self.sound = False
            act(self, **given)

        return rule(**drawn)(run)

    return make


class StoreEvents(RuleBasedStateMachine):
    """A round on a store that several owners have open, and the model of it."""

    stores: tuple[Store, ...]
    root: Path

    def __init__(self) -> None:
        super().__init__()
        self.sound = False
        self.world = World()
        self.patch = pytest.MonkeyPatch()
        govern(self.patch, self.world)
        self.model = Model(shared_clock=self.stores[0].path is None)
        self.held: list[Held] = []
        self.rows: dict[int, Any] = {}  # of the tables, as last read
        self.batches = 0
        self.attempts: dict[tuple[int, int], Any] = {}
        self.committed: dict[int, Any] = {}  # results as they were first read
        self.readers = itertools.cycle(self.stores)
        self.values = itertools.count(1)

    @initialize(per_study=st.integers(1, 2), adaptive=st.booleans(), count=st.integers(0, 2))
    def begin_round(self, per_study: int, adaptive: bool, count: int) -> None:
        """Two owners, each with some trials, one of them out of sight of the others."""
        self.name, self.per_study, self.adaptive = f"round {next(named)}", per_study, adaptive
        self.record = self.begun(self.stores[0])
        assert len(self.learn()) == 2 * per_study
        for store, near in zip(self.stores, (True, False), strict=False):
            self.claim_for(self.arrive_at(store, near), count)

    def begun(self, store: Store) -> RoundRecord:
        round = a_round(self.name, trials_per_study=self.per_study)
        given = {"search": "bayesian", "suggestions": None} if self.adaptive else {}
        return begin(store, round, **{"suggestions": points, **given})

    def learn(self) -> list[KnownTrial]:
        """Take the trials into the model that were just made; they must be new and pending."""
        results = self.stores[0].results(self.name)
        fresh = [
            KnownTrial(t.identity, t.number, t.parent, bool(t.configuration))
            for t in (*results.recorded, *results.recorded_repeats)
            if t.identity not in self.model.trials
        ]
        self.model.trials |= {trial.key: trial for trial in fresh}
        return fresh

    # who is there

    def arrive_at(
        self, store: Store, near: bool, exclusive: bool = False, ahead: float = 0.0
    ) -> Owner:
        self.world.new_process(near)
        kind = "supervisor" if exclusive else "worker"
        with self.world.reading(ahead):
            worker = store.register(self.record.id, kind, exclusive, LEASE_S)
        watch = Watch(LEASE_S, self.world.monotonic)
        owner = Owner(worker, store, near, exclusive, ahead, self.world.now, watch)
        self.model.owners[worker.id] = owner
        return owner

    def present(self) -> list[Owner]:
        """Whoever can still do something; some of them were taken for dead and do not know it."""
        return [owner for owner in self.model.owners.values() if not owner.killed]

    def somebody(self, who: int) -> Owner:
        return pick(self.present() or [self.arrive_at(self.stores[0], near=True)], who)

    @precondition(lambda self: len(self.present()) < 6)
    @step(where=which, near=st.booleans(), exclusive=st.booleans(), ahead=clocks, beating=some)
    def arrive(self, where: int, near: bool, exclusive: bool, ahead: int, beating: int) -> None:
        """A process joins, or wants to run the round alone; its wall clock may be wrong."""
        if exclusive:
            self.take_charge(pick(self.stores, where), near, ahead, beating)
        else:
            self.arrive_at(pick(self.stores, where), near, ahead=ahead)

    def take_charge(self, store: Store, near: bool, ahead: float, beating: int) -> None:
        """One supervisor at a time; whom only the clock calls dead is watched before."""
        rivals = self.model.rivals()
        awake = self.awake(beating, rivals)
        busy = self.model.busy(self.world.now, ahead, awake)
        waiting = iter(awake)
        self.world.while_asleep = lambda: self.beat_all(waiting)
        if busy:
            with pytest.raises(Busy):
                self.arrive_at(store, near, True, ahead)
            del self.world.alive[self.world.acting.pid]  # it gives up
        else:
            self.arrive_at(store, near, True, ahead)
            for rival in rivals:
                rival.retired = True
            self.model.stops.clear()  # those wishes were meant for whoever ran it then
            self.check_stops(store)
        self.world.while_asleep = lambda: None

    @precondition(lambda self: self.present())
    @step(who=which, ahead=clocks, beating=some)
    def renew(self, who: int, ahead: int, beating: int) -> None:
        """A process that was taken for dead, or is not sure what it holds, registers anew."""
        old = pick(self.present(), who)
        rivals = [o for o in self.model.rivals() if o is not old] if old.exclusive else []
        awake = self.awake(beating, rivals)
        busy = old.exclusive and self.model.busy(self.world.now, ahead, awake, apart=old)
        waiting = iter(awake)
        self.world.while_asleep = lambda: self.beat_all(waiting)
        self.world.acting = old.worker.process
        heartbeat = Heartbeat(old.store, old.worker, 1.0)
        with self.world.reading(ahead):
            if busy:
                with pytest.raises(Busy):
                    heartbeat.renew()
                assert heartbeat.worker is old.worker
            else:
                heartbeat.renew()
        self.world.while_asleep = lambda: None
        if busy:
            return
        watch = Watch(LEASE_S, self.world.monotonic)
        more = old.exclusive, ahead, self.world.now, watch
        self.model.owners[heartbeat.worker.id] = Owner(heartbeat.worker, old.store, old.near, *more)
        for gone in (old, *rivals):
            gone.retired = True
        if old.exclusive:
            self.model.stops.clear()

    def on_duty(self) -> list[Owner]:
        return [owner for owner in self.present() if not owner.retired]

    @precondition(lambda self: self.on_duty())
    @step(who=which, killed=st.booleans())
    def go(self, who: int, killed: bool) -> None:
        """A process is killed; or a worker takes leave, though it may still have trials."""
        owner = pick(self.on_duty(), who)
        if killed:
            self.killed(owner)
        else:
            owner.store.retire(owner.worker)
            owner.retired = True

    def killed(self, owner: Owner) -> None:
        for name in self.model.owners.values():  # under all the names that it has had
            name.killed |= name.worker.process == owner.worker.process
        del self.world.alive[owner.worker.process.pid]

    def beat_of(self, owner: Owner) -> None:
        if owner.retired:
            with pytest.raises(OutOfDate, match="taken for dead"):
                owner.store.beat(owner.worker)
            return
        with self.world.reading(owner.ahead):
            owner.store.beat(owner.worker)
        owner.beat, owner.beaten = owner.beat + 1, self.world.now

    def beat_all(self, owners: Iterable[Owner]) -> None:
        for owner in owners:
            self.beat_of(owner)

    def awake(self, chosen: int, among: Iterable[Owner]) -> list[Owner]:
        """Some of those that can beat, though perhaps too late."""
        live = [owner for owner in among if not owner.killed]
        return [owner for place, owner in enumerate(live) if chosen >> place & 1]

    @step(seconds=st.sampled_from([0, 1, 20, 21, 60, 3600]), beating=some)
    def time_passes(self, seconds: int, beating: int) -> None:
        """Some beat afterwards, perhaps too late."""
        self.world.now += seconds
        self.beat_all(self.awake(beating, self.present()))

    # claims

    def hold(self, claims: Sequence[Claim], keys: Sequence[int], owner: Owner) -> None:
        assert [claim.trial for claim in claims] == list(keys)
        for claim in claims:
            trial = self.model.claim(claim.trial, owner)
            assert (claim.attempt, claim.worker) == (len(trial.attempts), owner.worker.id)
            assert claim.attempts_died == trial.crashes < 3
            assert (claim.configuration is not None) == trial.filled
            self.held.append(Held(claim, owner, trial.filled))

    def claim_for(self, owner: Owner, count: int) -> None:
        claims = owner.store.claim(self.record.id, owner.worker, count)
        self.hold(claims, self.model.claimable()[:count], owner)

    def free_repeats(self, number: int) -> list[int]:
        return [t.key for t in self.model.repeats(number) if t.status == "pending"]

    @step(who=which, count=st.integers(1, 3), parent=st.none() | which)
    def claim(self, who: int, count: int, parent: int | None) -> None:
        owner = self.somebody(who)
        if parent is None:
            self.claim_for(owner, count)
        else:
            number = pick(self.model.numbered(), parent).number
            claims = owner.store.claim_repeats(self.record.id, owner.worker, number, count)
            self.hold(claims, self.free_repeats(number)[:count], owner)

    # more trials

    @precondition(lambda self: len(self.model.trials) < 12)
    @step(where=which, what=st.sampled_from(["more", "own", "repeats", "repeats"]), number=which)
    def add(self, where: int, what: str, number: int) -> None:
        if what == "repeats":
            self.add_repeats(pick(self.stores, where), pick(self.model.numbered(), number))
        elif what == "own":
            owner = self.somebody(where)
            claim = owner.store.add(self.record.id, owner.worker, CONFIGURATION, 0, {})
            (trial,) = self.learn()
            self.hold([claim], [trial.key], owner)
        else:
            self.per_study += 1
            assert self.begun(pick(self.stores, where)).continued
            assert len(self.learn()) == 2
        numbers = [t.number for t in self.model.numbered()]
        assert numbers == list(range(len(numbers))), "without gaps"

    def add_repeats(self, store: Store, parent: KnownTrial) -> None:
        if not parent.filled:
            with pytest.raises(StoreError, match="no configuration yet"):
                store.add_repeats(self.record.id, parent.number, 2)
            return
        lacking = 2 - len(self.model.repeats(parent.number))
        assert store.add_repeats(self.record.id, parent.number, 2) == lacking
        assert [t.parent for t in self.learn()] == [parent.number] * lacking

    # wishes of people

    @step(where=which, what=st.sampled_from(["stop", "go on", "reopen"]), number=st.none() | which)
    def wish(self, where: int, what: str, number: int | None) -> None:
        store, stops = pick(self.stores, where), self.model.stops
        if number is not None:
            number = pick(self.model.numbered(), number).number
        if what == "stop":
            store.ask_stop(self.record.id, number)
            stops.add(number)
        elif what == "go on":
            store.clear_stops(self.record.id, number)
            stops -= stops.copy() if number is None else {number}
        else:
            self.reopen(store)
        self.check_stops(store)

    def reopen(self, store: Store) -> None:
        """The only way in which a result is taken off the record: a failed one, when asked for."""
        numbers = self.model.reopen()
        assert store.reopen(self.record.id) == numbers
        for trial in self.model.numbered():
            if trial.number in numbers:
                del self.committed[trial.key]

    def check_stops(self, store: Store) -> None:
        asked, stops = store.stops(self.record.id), self.model.stops
        assert (asked.numbers, asked.everything) == (stops - {None}, None in stops)
