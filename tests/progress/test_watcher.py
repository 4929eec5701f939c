"""The public protocol: a watcher handles what it likes, and events are plain data."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from tests.execution.supervised import rounds, train, workloads_in
from tests.execution.watching import Kept
from tests.told import reached

import tunewright as tw
from tunewright.execution.executors.inline import Inline
from tunewright.progress.watcher import Silent, Watcher


def test_the_protocol_is_public_and_silent_fulfils_it() -> None:
    assert tw.progress.Watcher is Watcher
    assert isinstance(Silent(), Watcher) and isinstance(Kept(), Watcher)
    assert not isinstance(object(), Watcher)


def test_events_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        reached(0, 1).step = 2  # type: ignore[misc]


def test_the_rate_is_that_of_this_attempt() -> None:
    assert reached(0, step=150, start_step=50, seconds=10.0).rate == 10.0
    assert reached(0, step=50, start_step=50, seconds=10.0).rate is None


def test_a_watcher_may_handle_some_events_only(tmp_path) -> None:
    class Values(tw.progress.Silent):
        def __init__(self) -> None:
            self.values: list[float | None] = []

        def ended(self, concluded) -> None:
            self.values.append(concluded.value)

    watch = Values()
    results = tw.run(rounds(), workloads_in(tmp_path)(train, Inline()), progress=watch)
    assert watch.values == [trial.value for trial in results.trials]


def test_watching_changes_no_result(tmp_path) -> None:
    watched = tw.run(rounds(), workloads_in(tmp_path / "a")(), progress=Kept())
    alone = tw.run(rounds(), workloads_in(tmp_path / "b")(), progress="off")
    assert [t.value for t in watched.trials] == [t.value for t in alone.trials]
    assert [t.seed for t in watched.trials] == [t.seed for t in alone.trials]
