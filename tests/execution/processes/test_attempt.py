"""One attempt in this process: every exception becomes an outcome, and nothing gets lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.execution.driving import OBJECTIVE, assignment

from tunewright.design.names import Meaning
from tunewright.errors import Infeasible
from tunewright.execution.executors.executor import Event, Logged
from tunewright.execution.handle import Control
from tunewright.execution.processes.attempt import (
    LONGEST_CAUSE,
    LONGEST_DETAIL,
    Task,
    clean,
    judge,
    perform,
)
from tunewright.execution.training_run import Run
from tunewright.messages import Message
from tunewright.store.curves import unpack


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("CUDA out of memory. Tried to allocate 2 GiB", "infeasible"),
        ("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried", "infeasible"),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate", "infeasible"),
        ("mat1 and mat2 shapes cannot be multiplied", "failed"),
    ],
)
def test_libraries_say_out_of_memory_in_words(text: str, outcome: str) -> None:
    assert judge(RuntimeError(text))[0] == outcome
    assert judge(ValueError(text))[0] == "failed"


def test_torch_has_an_exception_for_it() -> None:
    torch = pytest.importorskip("torch")
    outcome, cause, _ = judge(torch.OutOfMemoryError("CUDA out of memory"))
    assert outcome == "infeasible"
    assert cause.code == "memory.exhausted"


@given(st.text(st.characters(), max_size=50))
def test_clean_text_can_be_stored(text: str) -> None:
    found = clean(text)
    found.encode("utf-8")
    assert "\0" not in found
    if "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text):
        assert found == text


def test_texts_have_an_end(tmp_path: Path) -> None:
    def train(run: Run) -> None:
        raise ValueError("x" * 100_000 + "\nsecond line")

    task = Task(train, OBJECTIVE, Meaning())
    end = perform(task, assignment(tmp_path), lambda event: None).outcome
    assert end.reason is not None and len(end.reason.facts["text"]) == LONGEST_CAUSE
    assert len(end.detail) == LONGEST_DETAIL


def test_what_was_logged_before_the_end_is_told(tmp_path: Path) -> None:
    def train(run: Run) -> None:
        run.log(1, valid_error=0.5)
        raise Infeasible("too wide")

    told: list[Event] = []
    perform(Task(train, OBJECTIVE, Meaning()), assignment(tmp_path), told.append)
    (points,) = [unpack(event.points) for event in told if isinstance(event, Logged)]
    assert list(points["valid_error"].values) == [0.5]


def test_a_stop_before_the_beginning(tmp_path: Path) -> None:
    def train(run: Run) -> None:
        raise AssertionError("it was trained")

    task = Task(train, OBJECTIVE, Meaning())
    end = perform(task, assignment(tmp_path), lambda event: None, Control.ask_stop).outcome
    assert (end.status, end.reason) == ("stopped", Message("stopped.before_start"))


def test_ctrl_c_is_not_the_trials(tmp_path: Path) -> None:
    def train(run: Run) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform(Task(train, OBJECTIVE, Meaning()), assignment(tmp_path), lambda event: None)


def test_a_program_that_seeds_nothing_repeats(tmp_path: Path) -> None:
    def train(run: Run) -> None:
        import random

        run.log(1, valid_error=random.random())

    values = []
    for seed in (7, 7, 8):
        told: list[Event] = []
        own = assignment(tmp_path, seed=seed)
        perform(Task(train, OBJECTIVE, Meaning()), own, told.append)
        values += [unpack(e.points)["valid_error"].values[0] for e in told if isinstance(e, Logged)]
    assert values[0] == values[1] != values[2]
