from __future__ import annotations

import threading

import pytest
from tests.execution.cluster_programs import wait_for

from tunewright.errors import TunewrightError
from tunewright.execution.executors.ray import cluster as ray_room
from tunewright.execution.executors.ray.cluster import Room


def test_the_count_is_renewed_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_room, "COUNT_S", 0.0)
    counts = iter([2, 3, 4])
    room = Room(lambda: next(counts, 4))
    assert room.now() in (2, 3)
    wait_for(lambda: room.now() == 4)


def test_a_silent_cluster_is_given_up_and_never_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray_room, "COUNT_S", 0.0)
    answer = threading.Event()
    answers = iter([lambda: 2])
    room = Room(lambda: next(answers, answer.wait)())
    assert room.now() == 2, "what was known last"
    assert room.now() == 2
    monkeypatch.setattr(ray_room, "SILENT_S", 0.0)
    with pytest.raises(TunewrightError, match="has not answered for 0 s"):
        room.now()
    answer.set()


def test_a_count_that_fails_is_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_room, "COUNT_S", 0.0)
    monkeypatch.setattr(ray_room, "SILENT_S", 0.05)
    answers = iter([2])
    room = Room(lambda: next(answers))

    def given_up() -> bool:
        try:
            room.now()
        except TunewrightError:
            return True
        return False

    wait_for(given_up)
