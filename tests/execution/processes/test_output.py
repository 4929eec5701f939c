"""The log of a trial: head and tail are kept, whatever comes between."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tunewright.execution.processes.output import (
    Output,
    beginning_and_end,
    exception_line,
    last_lines,
)

HEAD, TAIL = 100, 60


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.integers(0, 150), max_size=12))
def test_the_beginning_and_the_end_are_kept(tmp_path: Path, pieces: list[int]) -> None:
    stream = bytes(48 + at % 75 for at in range(sum(pieces)))
    output = Output(tmp_path, 1, HEAD, TAIL)
    at = 0
    for size in pieces:
        output.write(stream[at : at + size])
        at += size
    output.close()
    found = output.path.read_bytes()
    if len(stream) <= HEAD + TAIL:
        assert found == stream
    else:
        left_out = len(stream) - HEAD - TAIL
        middle = f"\n... {left_out} bytes left out ...\n".encode()
        assert found == stream[:HEAD] + middle + stream[-TAIL:]
    assert [path.name for path in tmp_path.iterdir()] == ["log.1.txt"]


def test_it_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    output = Output(tmp_path, 1, HEAD, TAIL)
    output.write(b"a" * HEAD)
    assert output.path.read_bytes() == b"a" * HEAD
    output.write(b"b" * 10)
    assert (tmp_path / "log.1.tail.txt").read_bytes() == b"b" * 10
    output.close()


def test_a_log_that_cannot_be_written_costs_nothing_else(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    (tmp_path / "log.1.txt").symlink_to("/dev/full")
    output = Output(tmp_path, 1)
    output.write(b"something")
    output.write(b"more")
    output.close()
    assert [path.name for path in tmp_path.iterdir()] == ["log.1.txt"]


def test_the_last_lines(tmp_path: Path) -> None:
    file = tmp_path / "log"
    assert last_lines(file) == ""
    file.write_text("".join(f"line {at}\n" for at in range(1000)))
    assert last_lines(file, most=20) == "line 998\nline 999"
    file.write_bytes(b"x" * 100)
    assert last_lines(file, most=20) == "x" * 20


def test_the_beginning_and_the_end_of_a_long_log(tmp_path: Path) -> None:
    path = tmp_path / "log.1.txt"
    path.write_text("".join(f"line {n}\n" for n in range(1000)))
    found = beginning_and_end(path, most=100)
    assert found.startswith("line 0\n") and found.endswith("line 999\n")
    assert len(found) == 200
    assert beginning_and_end(path) == path.read_text(), "a short one comes once"
    assert beginning_and_end(tmp_path / "absent") == ""


CHAINED = """Traceback (most recent call last):
  File "a.py", line 1, in <module>
KeyError: 'lr'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
    raise ValueError("no such thing")
ValueError: no such thing
"""


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (CHAINED, "ValueError: no such thing"),
        (CHAINED + "cleaning up", "ValueError: no such thing"),
        ("usage: a.py\na.py: error: unrecognized --lr", "a.py: error: unrecognized --lr"),
        ("step 1\nstep 2", ""),
        ("", ""),
        ("Traceback (most recent call last):\n  File", ""),
    ],
)
def test_the_line_that_names_the_exception(log: str, line: str) -> None:
    assert exception_line(log) == line


@given(st.text())
def test_any_log_has_a_line_or_none(text: str) -> None:
    assert "\n" not in exception_line(text)
