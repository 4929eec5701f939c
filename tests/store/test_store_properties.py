"""Properties of the store: it returns what was put in, and no order of events breaks its promises.

The promises: numbers without gaps, at most one owner of a running trial, attempts that only grow,
writes of a lost owner refused, ended trials never touched again.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.store.record_parts import KILLED, a_round, begin, curve

from tunewright.errors import OutOfDate
from tunewright.messages import Message
from tunewright.store.curves import pack
from tunewright.store.leases import LeaseWatch
from tunewright.store.outcome import Ended, Outcome
from tunewright.store.spool import write_result
from tunewright.store.store import Claim, Store, Worker

counter = itertools.count()
names = st.text(st.characters(codec=None, exclude_categories=()), min_size=1, max_size=10)
plain = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None, exclude_categories=()), max_size=10)
)
batches = st.dictionaries(
    names,
    st.lists(st.floats(), min_size=1, max_size=4),
    max_size=3,
)


@pytest.fixture
def store(store_url: str) -> Any:
    with Store.open(store_url) as opened:
        yield opened


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.dictionaries(names, plain, max_size=4),
    st.lists(batches, max_size=4),
    st.sampled_from(["completed", "infeasible", "failed", "pruned"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30),
    st.floats(0, 1e6),
)
def test_the_store_returns_what_was_put_in(
    store: Store,
    configuration: dict[str, Any],
    told: list[dict[str, list[float]]],
    status: Any,
    reason: str,
    seconds: float,
) -> None:
    name = f"round {next(counter)}"
    record = begin(store, a_round(name, trials_per_study=1), suggestions=None)
    worker = store.register(record.id, "session", exclusive=False)
    claim = store.claim(record.id, worker, 2)[0]
    store.fill(claim, configuration, {"learning_rate": 0.5})
    expected: dict[str, dict[int, float]] = {}
    packed = []
    for place, metrics in enumerate(told):
        steps = range(10 * place, 10 * place + 4)
        packed.append(pack({m: (list(steps[: len(v)]), v) for m, v in metrics.items()}))
        for metric, values in metrics.items():
            expected.setdefault(metric, {}).update(zip(steps, values, strict=False))
    store.log(claim, packed[:-1])
    said = Message("trial.failed", {"text": reason})
    store.end(claim, Outcome(status, said, batches=packed[-1:], seconds=seconds))
    trial = store.results(name).recorded[0]
    assert trial.configuration == configuration
    assert [type(v) for v in trial.configuration.values()] == [
        type(v) for v in configuration.values()
    ]
    assert (trial.status, trial.reason, trial.seconds) == (status, said, seconds)
    assert set(trial.curves) == set(expected)
    for metric, points in expected.items():
        assert trial.curves[metric].steps.tolist() == list(points)
        np.testing.assert_array_equal(trial.curves[metric].values, list(points.values()))


@dataclass
class Known:
    """What must be true of a trial."""

    status: str = "pending"
    attempt: int = 0
    deaths: int = 0
    owner: int | None = None
    values: list[float] = field(default_factory=list)


class Interleavings(RuleBasedStateMachine):
    """Several workers claim, log, finish, release, die and come back, in any order."""

    store: Store
    root: Path

    @initialize(count=st.integers(1, 4))
    def start(self, count: int) -> None:
        self.name = f"interleaved {next(counter)}"
        self.record = begin(self.store, a_round(self.name, trials_per_study=count))
        self.known = {number: Known() for number in range(2 * count)}
        self.workers: list[Worker] = []
        self.claims: list[Claim] = []
        self.ended: dict[tuple[int, int], str] = {}  # attempts that their owner has ended, and how
        self.watch = LeaseWatch()
        for _ in range(2):
            self.arrive()

    @rule()
    def arrive(self) -> None:
        self.workers.append(self.store.register(self.record.id, "session", exclusive=False))

    @precondition(lambda self: self.workers)
    @rule(data=st.data(), count=st.integers(1, 3))
    def claim(self, data: st.DataObject, count: int) -> None:
        worker = data.draw(st.sampled_from(self.workers))
        pending = [n for n, known in self.known.items() if known.status == "pending"]
        claims = self.store.claim(self.record.id, worker, count)
        assert [c.number for c in claims] == pending[:count]
        for claim in claims:
            assert claim.number is not None
            known = self.known[claim.number]
            known.status, known.owner = "running", worker.id
            known.attempt += 1
            assert (claim.attempt, claim.attempts_died) == (known.attempt, known.deaths)
            self.store.began(claim, 0, "here")
            known.values = []
        self.claims += claims

    def owned(self, claim: Claim) -> bool:
        assert claim.number is not None
        known = self.known[claim.number]
        return (known.status, known.owner, known.attempt) == (
            "running",
            claim.worker,
            claim.attempt,
        )

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), what=st.sampled_from(["log", "finish", "release", "stop"]))
    def tell(self, data: st.DataObject, what: str) -> None:
        claim = data.draw(st.sampled_from(self.claims))
        value = float(len(self.claims) + data.draw(st.integers(0, 9)))
        known = self.known[claim.number or 0]
        step = len(known.values) + 1
        points = [curve(value, first=step)]

        def write() -> None:
            if what == "log":
                self.store.log(claim, points)
            elif what == "finish":
                self.store.end(claim, Outcome("completed", batches=points))
            else:
                self.store.end(claim, Outcome("died" if what == "release" else "stopped", KILLED))

        if not self.owned(claim):
            ours = (known.status, known.owner, known.attempt)
            if what == "finish" and ours == ("completed", claim.worker, claim.attempt):
                write()  # told again: it counts once
            elif self.ended.get((claim.trial, claim.attempt)) == what:
                write()  # released again in the same way: nothing changes
            else:
                with pytest.raises(OutOfDate):
                    write()
            return
        write()
        if what != "log":
            self.ended[claim.trial, claim.attempt] = what
        if what in ("log", "finish"):
            known.values.append(value)
        if what == "finish":
            known.status = "completed"
        elif what != "log":
            known.status = "pending"
            known.deaths += what == "release"

    @precondition(lambda self: self.workers)
    @rule(data=st.data(), spooled=st.booleans())
    def die(self, data: st.DataObject, spooled: bool) -> None:
        """A worker goes; perhaps it had left the result of one trial in its folder."""
        worker = data.draw(st.sampled_from(self.workers))
        self.workers.remove(worker)
        self.store.retire(worker)
        left = [c for c in self.claims if c.worker == worker.id and self.owned(c)]
        saved = left[0] if spooled and left else None
        if saved is not None:
            known = self.known[saved.number or 0]
            batch = curve(0.25, first=len(known.values) + 1)
            result = Ended(
                saved.trial,
                saved.attempt,
                Outcome("completed", first=len(self.store.batches(saved)), batches=(batch,)),
            )
            write_result(self.root / saved.folder, result)
        taken = self.store.reclaim(self.record.id, self.watch, self.root)
        assert sorted(one.number for one in taken) == sorted(c.number for c in left)
        for claim in left:
            known = self.known[claim.number or 0]
            if claim is saved:
                known.status = "completed"
                known.values.append(0.25)
            else:
                known.status = "pending"

    @invariant()
    def the_record_agrees(self) -> None:
        if not hasattr(self, "record"):
            return
        trials = self.store.results(self.name).recorded
        assert [t.number for t in trials] == list(range(len(self.known)))
        for trial in trials:
            known = self.known[trial.number or 0]
            assert (trial.status, trial.attempts) == (known.status, known.attempt)
            logged = trial.curves.only("valid_error")
            assert ([] if logged is None else logged.values.tolist()) == known.values


def interleave(store: Store, root: Path, examples: int, steps: int) -> None:
    class OnThisStore(Interleavings):
        pass

    OnThisStore.store, OnThisStore.root = store, root
    run_state_machine_as_test(
        OnThisStore,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            phases=[Phase.generate, Phase.shrink] if store.path else [Phase.generate],
        ),
    )


def test_no_order_of_events_breaks_the_promises(store: Store, tmp_path: Path) -> None:
    interleave(store, tmp_path / "trials", examples=12, steps=15)
    assert store.rounds(), "it ran"


@pytest.mark.slow
def test_no_order_of_many_events_breaks_the_promises(store: Store, tmp_path: Path) -> None:
    interleave(store, tmp_path / "trials", examples=100, steps=40)
    assert store.rounds(), "it ran"
