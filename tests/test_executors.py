"""`tunewright.executors` names executors that satisfy the protocol."""

from __future__ import annotations

import pytest

import tunewright as tw
from tunewright import executors, protocols


@pytest.mark.parametrize("name", executors.__all__)
def test_every_executor_satisfies_the_protocol(name: str) -> None:
    verbs = {name for name in vars(protocols.Executor) if not name.startswith("_")}
    assert verbs == {"slots", "start", "events", "stop", "close"}
    assert verbs <= set(dir(getattr(executors, name)))  # of the class: a Ray would start a cluster


def test_the_usual_one_has_a_short_name() -> None:
    assert tw.Local is executors.Local
