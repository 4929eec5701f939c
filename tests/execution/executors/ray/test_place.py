from __future__ import annotations

import pytest

from tunewright.execution.executors.ray.crew import Place, first_words
from tunewright.execution.executors.ray.host import Arrived

exceptions = pytest.importorskip("ray.exceptions")


def place(**settings: object) -> Place:
    return Place(actor=None, arrived=Arrived("gpu-7", "1", ()), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings, preempted, outcome, code",
    [
        ({}, False, "died", "host.lost"),
        ({}, True, "stopped", "host.lost"),
        ({"shared": False}, False, "died", "host.lost"),
        ({"stop_by": 1.0}, False, "stopped", "stopped.host_lost"),
    ],
)
def test_how_a_trial_ends_whose_node_is_lost(
    settings: dict, preempted: bool, outcome: str, code: str
) -> None:
    text = "The actor died.\n\tclass_name: Host\n\tip: 10.0.0.7\nits node has died. More words."
    error = exceptions.RayActorError("an id", text, preempted=preempted)
    ended, reason = place(**settings).loss(error)
    assert (ended, reason.code, reason.facts["where"]) == (outcome, code, "gpu-7")
    if code == "host.lost":
        assert (reason.facts["what"], reason.facts["text"]) == ("node", "its node has died")
        assert reason.facts["folder_lost"] is (settings.get("shared") is False)


def test_a_process_may_be_lost_without_its_node() -> None:
    error = exceptions.RayActorError("an id", "The actor is dead because its process has died.")
    ended, reason = place().loss(error)
    assert (ended, reason.code, reason.facts["what"]) == ("died", "host.lost", "process")


def test_an_error_without_words_has_a_name() -> None:
    assert first_words(ValueError("")) == "ValueError"
    assert len(first_words(ValueError("x" * 5000))) == 300
    assert Place(actor=None).where == "a node"
