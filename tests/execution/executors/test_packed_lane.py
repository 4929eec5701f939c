"""The baton and the driver: one trial at a time, each with its own random state and settings."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tunewright.execution.executors.packed_lane import TURN, Pack, Unpackable  # noqa: E402


class Counted:
    """A step that draws, and writes down whose it is."""

    def __init__(self, name: str, order: list[str]) -> None:
        self.name, self.order, self.drawn = name, order, []

    def replay(self) -> None:
        self.order.append(self.name)
        self.drawn.append((random.random(), float(np.random.rand()), float(torch.rand(()))))


def trial(pack: Pack, seat: int, step: Counted, count: int, drawn: list) -> threading.Thread:
    def work() -> None:
        lane = pack.lane(seat)
        with lane.holding():
            random.seed(seat)
            np.random.seed(seat)
            torch.manual_seed(seat)
            lane.replay((step, count))
            drawn.append((seat, random.random(), float(torch.rand(()))))

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def drawn_by(seats: list[int]) -> tuple[list[list], list, list[str]]:
    pack, order, after = Pack(torch, 4, on_cpu=True), [], []
    steps = [Counted(str(seat), order) for seat in seats]
    threads = [trial(pack, s, step, 5 * TURN, after) for s, step in zip(seats, steps, strict=True)]
    for thread in threads:
        thread.join()
    return [step.drawn for step in steps], sorted(after), order


def test_each_trial_draws_as_if_it_were_alone() -> None:
    together, after, order = drawn_by([0, 1, 2])
    assert len(order) == 15 * TURN
    for seat in range(3):
        alone, ended, _ = drawn_by([seat])
        assert together[seat] == alone[0]
        assert after[seat] == ended[0]


def test_settings_are_each_trials_own() -> None:
    pack, seen = Pack(torch, 2, on_cpu=True), {}
    first, second = pack.lane(0), pack.lane(1)
    with first.holding():
        torch.set_default_dtype(torch.float64)
        with first.release(), second.holding():
            seen["second"] = torch.get_default_dtype()
        seen["first"] = torch.get_default_dtype()
        torch.set_default_dtype(torch.float32)
    assert seen == {"second": torch.float32, "first": torch.float64}


def test_a_failing_step_fails_its_trial_alone() -> None:
    class Broken:
        def replay(self) -> None:
            raise ValueError("a bug")

    pack = Pack(torch, 2, on_cpu=True)
    lane, other, order = pack.lane(0), pack.lane(1), []
    with lane.holding(), pytest.raises(ValueError, match="a bug"):
        lane.replay((Broken(), 3))
    with other.holding():
        other.replay((Counted("other", order), 3))
    assert order == ["other"] * 3


def test_a_trial_leaves_only_before_it_has_logged() -> None:
    pack = Pack(torch, 1, on_cpu=True)
    lane = pack.lane(0)
    with pytest.raises(Unpackable):
        lane.refuse("it waits")
    assert lane.refused == "it waits"
    late = pack.lane(0)
    late.logged = True
    late.refuse("it waits")
    assert late.refused is None and late.admitted
