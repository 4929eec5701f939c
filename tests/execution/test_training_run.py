"""`tw.protocols.Run`: every handle has its members, and shows a training function no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.execution.driving import handle

from tunewright.execution.handle import Control, Handle
from tunewright.execution.training_run import Run
from tunewright.probes.throughput.command_worker import StampedHandle, Stamps
from tunewright.probes.throughput.subject import ProbeHandle

MEMBERS = {name for name in vars(Run) if not name.startswith("_")}
FOR_EXECUTORS = {"announce", "ask_stop", "names", "over", "tell_points"} | {
    "given",
    "relay_saved",
    "saves_itself",
}

FOR_THE_PIPELINE = {"log_steps", "next_due"}  # used by `fit` where a handle has them


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_a_training_function_sees_what_the_protocol_promises_and_no_more(tmp_path: Path) -> None:
    run, _ = handle(tmp_path, {"max_train_steps": 3})
    assert public(run) - MEMBERS == FOR_THE_PIPELINE
    assert public(run) >= MEMBERS


@pytest.mark.parametrize("kind", [ProbeHandle, StampedHandle])
def test_the_handles_of_probes_have_every_member(kind: type, tmp_path: Path) -> None:
    last = (Stamps(), 100) if kind is StampedHandle else (lambda: None,)
    assert public(kind({"rate": 0.1}, tmp_path, *last)) >= MEMBERS


def test_what_executors_need_is_on_the_control(tmp_path: Path) -> None:
    assert public(Control) == FOR_EXECUTORS
    assert not FOR_EXECUTORS & (MEMBERS | public(Handle))
    run, told = handle(tmp_path, {"max_train_steps": 3})
    control = Control(run)
    assert control.names == (100, 1)
    assert not run.stop_asked
    control.ask_stop()
    assert run.stop_asked and control.over is None
    assert told.events == []


def test_every_member_has_a_sentence() -> None:
    for name in MEMBERS:
        assert (getattr(Run, name).__doc__ or "").strip(), name
