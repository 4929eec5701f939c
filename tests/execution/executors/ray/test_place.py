from __future__ import annotations

import pytest

from tunewright.execution.executors.ray.host import Arrived
from tunewright.execution.executors.ray.place import Place, first_words

exceptions = pytest.importorskip("ray.exceptions")


def place(**settings: object) -> Place:
    return Place(actor=None, arrived=Arrived("gpu-7", "1", ()), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "settings, preempted, outcome, cause",
    [
        ({}, False, "died", "node gpu-7 was lost: its node has died"),
        ({}, True, "stopped", "node gpu-7 was lost: its node has died"),
        ({"shared": False}, False, "died", "the next attempt starts at step 0"),
        ({"stop_by": 1.0}, False, "stopped", "stopped: gpu-7 was lost meanwhile"),
    ],
)
def test_how_a_trial_ends_whose_node_is_lost(
    settings: dict, preempted: bool, outcome: str, cause: str
) -> None:
    text = "The actor died.\n\tclass_name: Host\n\tip: 10.0.0.7\nits node has died. More words."
    error = exceptions.RayActorError("an id", text, preempted=preempted)
    told = place(**settings).lost(error)
    assert told[0] == outcome and cause in told[1]


def test_a_process_may_be_lost_without_its_node() -> None:
    error = exceptions.RayActorError("an id", "The actor is dead because its process has died.")
    assert place().lost(error) == (
        "died",
        "the process on gpu-7 was lost: The actor is dead because its process has died",
    )


def test_an_error_without_words_has_a_name() -> None:
    assert first_words(ValueError("")) == "ValueError"
    assert len(first_words(ValueError("x" * 5000))) == 300
    assert Place(actor=None).where == "a node"
