"""The log of a trial: head and tail are kept, whatever comes between."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tunewright.execution.processes.output import Output, last_lines

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
